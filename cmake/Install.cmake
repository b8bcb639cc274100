# Installs the library, its headers, the program and the CMake package pnmf (find_package(pnmf) → pnmf::pnmf,
# find_package(pnmf COMPONENTS core) → pnmf::core).
include(CMakePackageConfigHelpers)

set(pnmf_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/pnmf")

# A set of targets for each library, so that who wants pnmf::core alone need not have what the others link.
set(pnmf_soversion "${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}")
foreach(name IN ITEMS core io report)
    # A shared library finds the others beside itself.
    set_target_properties(pnmf_${name} PROPERTIES VERSION "${PROJECT_VERSION}" SOVERSION "${pnmf_soversion}" INSTALL_RPATH "$ORIGIN")
    install(
        TARGETS pnmf_${name}
        EXPORT pnmf-${name}-targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT pnmf-${name}-targets NAMESPACE pnmf:: DESTINATION "${pnmf_package_dir}")
endforeach()
install(TARGETS pnmf EXPORT pnmf-all-targets FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT pnmf-all-targets NAMESPACE pnmf:: DESTINATION "${pnmf_package_dir}")

configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/pnmf-config.cmake.in" "${PROJECT_BINARY_DIR}/pnmf-config.cmake"
                              INSTALL_DESTINATION "${pnmf_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/pnmf-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/pnmf-config.cmake" "${PROJECT_BINARY_DIR}/pnmf-config-version.cmake"
              # A static library needs them again where it is linked, and they bring no package of their own.
              "${CMAKE_CURRENT_LIST_DIR}/FindMatio.cmake" "${CMAKE_CURRENT_LIST_DIR}/FindZarrCodecs.cmake"
        DESTINATION "${pnmf_package_dir}")

# For builds that ask pkg-config, such as R's. Names of HDF5, matio, blosc and zstd are those of static linking.
file(RELATIVE_PATH pnmf_pc_to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
set(pnmf_pc_private "")
foreach(library IN LISTS HDF5_C_LIBRARIES MATIO_LIBRARY BLOSC_LIBRARY ZSTD_LIBRARY)
    if(library MATCHES "(hdf5|matio|blosc|zstd)[^/]*\\.(so|a)$")
        string(APPEND pnmf_pc_private " ${library}")
    endif()
endforeach()
configure_file("${CMAKE_CURRENT_LIST_DIR}/pnmf.pc.in" "${PROJECT_BINARY_DIR}/pnmf.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/pnmf.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(TARGET pnmf_program)
    # The installed program finds a shared libpnmf beside itself, wherever the prefix is moved to.
    file(RELATIVE_PATH pnmf_bin_to_lib "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(pnmf_program PROPERTIES INSTALL_RPATH "$ORIGIN/${pnmf_bin_to_lib}")
    install(TARGETS pnmf_program RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
    # Made when the program is linked (apps/pnmf/CMakeLists.txt).
    install(DIRECTORY "${PROJECT_BINARY_DIR}/shell/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
    install(FILES "${PROJECT_BINARY_DIR}/shell/pnmf" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
    install(FILES "${PROJECT_BINARY_DIR}/shell/_pnmf" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
    # For `pnmf reproduce`.
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/experiments/" DESTINATION "${CMAKE_INSTALL_DATADIR}/pnmf/experiments"
            FILES_MATCHING PATTERN "*.py" PATTERN "README.md" PATTERN "out" EXCLUDE PATTERN "__pycache__" EXCLUDE)
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/CITATION.cff" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
