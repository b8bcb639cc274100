# -DPNMF_MATIO=AUTO|ON|OFF: read MATLAB files of versions 5 and 7 by the library matio. AUTO does so where matio is found;
# without it such a file is refused with a message that says why. Sets PNMF_HAS_MATIO and PNMF_MATIO_LIBRARY.
set(PNMF_MATIO AUTO CACHE STRING "Read MATLAB files of versions 5 and 7, which needs matio: AUTO, ON or OFF")
set_property(CACHE PNMF_MATIO PROPERTY STRINGS AUTO ON OFF)

set(PNMF_HAS_MATIO OFF)
set(PNMF_MATIO_LIBRARY "")
if(PNMF_MATIO STREQUAL "AUTO")
    find_package(Matio QUIET)
    if(NOT Matio_FOUND)
        message(STATUS "matio was not found: this build will not read MATLAB files of versions 5 and 7")
    endif()
elseif(PNMF_MATIO)
    find_package(Matio REQUIRED)
endif()
if(PNMF_MATIO AND Matio_FOUND)
    set(PNMF_HAS_MATIO ON)
    set(PNMF_MATIO_LIBRARY Matio::matio)
endif()
