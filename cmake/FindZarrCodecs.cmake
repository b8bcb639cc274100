# ZarrCodecs::ZarrCodecs: the libraries blosc (version 1) and zstd, which compress Zarr stores.
find_path(BLOSC_INCLUDE_DIR blosc.h)
find_library(BLOSC_LIBRARY blosc)
find_path(ZSTD_INCLUDE_DIR zstd.h)
find_library(ZSTD_LIBRARY zstd)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ZarrCodecs REQUIRED_VARS BLOSC_LIBRARY BLOSC_INCLUDE_DIR ZSTD_LIBRARY ZSTD_INCLUDE_DIR)
if(ZarrCodecs_FOUND AND NOT TARGET ZarrCodecs::ZarrCodecs)
    add_library(ZarrCodecs::ZarrCodecs INTERFACE IMPORTED)
    set_target_properties(ZarrCodecs::ZarrCodecs PROPERTIES INTERFACE_LINK_LIBRARIES "${BLOSC_LIBRARY};${ZSTD_LIBRARY}"
                                                            INTERFACE_INCLUDE_DIRECTORIES "${BLOSC_INCLUDE_DIR};${ZSTD_INCLUDE_DIR}")
endif()
mark_as_advanced(BLOSC_INCLUDE_DIR BLOSC_LIBRARY ZSTD_INCLUDE_DIR ZSTD_LIBRARY)
