# OpenBLAS::headers: what the library is called by. The library itself is loaded when the program runs
# (src/linalg/blas_library.hpp), but must be there now too.
find_path(OpenBLAS_INCLUDE_DIR openblas_config.h PATH_SUFFIXES openblas openblas-pthread "${CMAKE_LIBRARY_ARCHITECTURE}"
                                                                "${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread")
find_library(OpenBLAS_LIBRARY openblas)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenBLAS REQUIRED_VARS OpenBLAS_LIBRARY OpenBLAS_INCLUDE_DIR)
if(OpenBLAS_FOUND AND NOT TARGET OpenBLAS::headers)
    add_library(OpenBLAS::headers INTERFACE IMPORTED)
    set_target_properties(OpenBLAS::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${OpenBLAS_INCLUDE_DIR}")
endif()
mark_as_advanced(OpenBLAS_INCLUDE_DIR OpenBLAS_LIBRARY)
