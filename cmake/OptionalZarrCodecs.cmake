# -DPNMF_ZARR_CODECS=AUTO|ON|OFF: read Zarr stores that blosc or zstd has compressed, by these two libraries. AUTO does so where
# both are found; without them such a store is refused with a message that names them. Sets PNMF_HAS_ZARR_CODECS and
# PNMF_ZARR_LIBRARY.
set(PNMF_ZARR_CODECS AUTO CACHE STRING "Read Zarr stores compressed by blosc or zstd, which needs both: AUTO, ON or OFF")
set_property(CACHE PNMF_ZARR_CODECS PROPERTY STRINGS AUTO ON OFF)

set(PNMF_HAS_ZARR_CODECS OFF)
set(PNMF_ZARR_LIBRARY "")
if(PNMF_ZARR_CODECS STREQUAL "AUTO")
    find_package(ZarrCodecs QUIET)
    if(NOT ZarrCodecs_FOUND)
        message(STATUS "blosc and zstd were not found: this build will not read Zarr stores that they compressed")
    endif()
elseif(PNMF_ZARR_CODECS)
    find_package(ZarrCodecs REQUIRED)
endif()
if(PNMF_ZARR_CODECS AND ZarrCodecs_FOUND)
    set(PNMF_HAS_ZARR_CODECS ON)
    set(PNMF_ZARR_LIBRARY ZarrCodecs::ZarrCodecs)
endif()
