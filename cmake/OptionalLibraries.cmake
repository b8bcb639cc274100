# Libraries that a build may be without: reading one kind of file needs each. pnmf_optional_library(<name> <package> <target>
# <what for>) adds the option -DPNMF_<name>=AUTO|ON|OFF: AUTO takes the library where it is found; without it such a file is
# refused with a message that says why. Sets PNMF_HAS_<name> and PNMF_<name>_LIBRARY.
function(pnmf_optional_library name package target purpose)
    set(PNMF_${name} AUTO CACHE STRING "Read ${purpose}, which needs ${package}: AUTO, ON or OFF")
    set_property(CACHE PNMF_${name} PROPERTY STRINGS AUTO ON OFF)
    set(has OFF)
    set(library "")
    if(PNMF_${name} STREQUAL "AUTO")
        find_package(${package} QUIET)
        if(NOT ${package}_FOUND)
            message(STATUS "${package} was not found: this build will not read ${purpose}")
        endif()
    elseif(PNMF_${name})
        find_package(${package} REQUIRED)
    endif()
    if(PNMF_${name} AND ${package}_FOUND)
        set(has ON)
        set(library ${target})
    endif()
    set(PNMF_HAS_${name} ${has} PARENT_SCOPE)
    set(PNMF_${name}_LIBRARY "${library}" PARENT_SCOPE)
endfunction()

pnmf_optional_library(MATIO Matio Matio::matio "MATLAB files of versions 5 and 7")
# Its libraries are blosc and zstd; both are needed.
pnmf_optional_library(ZARR_CODECS ZarrCodecs ZarrCodecs::ZarrCodecs "Zarr stores compressed by blosc or zstd")
