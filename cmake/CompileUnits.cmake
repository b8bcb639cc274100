# What makes a build from nothing quick. Most of the time goes into reading Eigen's headers and instantiating the same
# templates in every source, so
# - sources of one folder are compiled some at a time, as one unit (pnmf_compile_units),
# - headers that are not ours are compiled once (pnmf_precompile).
# -DPNMF_FILES_PER_UNIT=1 compiles each source alone; -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON reads headers each time.
set(PNMF_FILES_PER_UNIT 8 CACHE STRING "How many sources of one folder are compiled together; 1: each alone")

# pnmf_compile_units(<target>): after all of its sources are known. A source with options of its own stays alone.
function(pnmf_compile_units target)
    if(PNMF_FILES_PER_UNIT LESS 2)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    get_target_property(directory ${target} SOURCE_DIR)
    foreach(source IN LISTS sources)
        if(source MATCHES "\\.cpp$")
            cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${directory}")
            cmake_path(GET source PARENT_PATH folder)
            string(MD5 key "${folder}")
            math(EXPR unit "${count_${key}} + 0")
            math(EXPR count_${key} "${unit} + 1")
            math(EXPR unit "${unit} / ${PNMF_FILES_PER_UNIT}")
            cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE layer)
            string(REPLACE "/" "_" layer "${layer}")
            set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${layer}_${unit}")
        endif()
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # GCC takes the sources of a unit for headers, where a type of a file's own is suspicious; and a name of one source is
    # seen in the next, where a local one may hide it.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage> -Wno-shadow)
endfunction()

# pnmf_precompile(<target> <headers>…): for a target, and for those that say REUSE_FROM it with the same flags.
# Every library, program and test needs these.
set(PNMF_COMMON_HEADERS
    <Eigen/Core>
    <fmt/format.h>
    <algorithm>
    <array>
    <cmath>
    <cstdint>
    <filesystem>
    <functional>
    <memory>
    <numeric>
    <optional>
    <string>
    <variant>
    <vector>)
function(pnmf_precompile target)
    target_precompile_headers(${target} PRIVATE ${PNMF_COMMON_HEADERS} ${ARGN})
endfunction()
