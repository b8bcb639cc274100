# Installs the library, its headers, the program and the CMake package pnmf.
