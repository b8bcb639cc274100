# FastFloat::fast_float: text to floating point, exactly and quickly. Headers only.
find_path(FastFloat_INCLUDE_DIR fast_float/fast_float.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FastFloat REQUIRED_VARS FastFloat_INCLUDE_DIR)
if(FastFloat_FOUND AND NOT TARGET FastFloat::fast_float)
    add_library(FastFloat::fast_float INTERFACE IMPORTED)
    set_target_properties(FastFloat::fast_float PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${FastFloat_INCLUDE_DIR}")
endif()
mark_as_advanced(FastFloat_INCLUDE_DIR)
