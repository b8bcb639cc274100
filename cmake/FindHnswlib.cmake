# Hnswlib::hnswlib: approximate nearest neighbours. Headers only.
find_path(Hnswlib_INCLUDE_DIR hnswlib/hnswlib.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hnswlib REQUIRED_VARS Hnswlib_INCLUDE_DIR)
if(Hnswlib_FOUND AND NOT TARGET Hnswlib::hnswlib)
    add_library(Hnswlib::hnswlib INTERFACE IMPORTED)
    set_target_properties(Hnswlib::hnswlib PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Hnswlib_INCLUDE_DIR}")
endif()
mark_as_advanced(Hnswlib_INCLUDE_DIR)
