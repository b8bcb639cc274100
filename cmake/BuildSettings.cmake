# Compiler flags every target of the project is built with: pnmf_build_settings(<target>).

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
# Optimised, but with assertions: what the tests run. project() has put an empty value in the cache by now.
foreach(language IN ITEMS C CXX)
    if(NOT CMAKE_${language}_FLAGS_DEV)
        set(CMAKE_${language}_FLAGS_DEV "-O2 -g1" CACHE STRING "Flags of the Dev build type" FORCE)
    endif()
endforeach()

# A compiler cache, when the machine has one, makes rebuilds in a new folder quick. It takes precompiled headers into
# account only when told that macros defined before them and the time in them do not matter.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE_PROGRAM}")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(pnmf_cache_flags -fpch-preprocess)
    endif()
endif()

function(pnmf_build_settings target)
    target_compile_options(
        ${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-align
                          # Eigen's vectorised loops, and std::string where much is inlined, set these off inside GCC 12's own
                          # headers.
                          -Wno-maybe-uninitialized -Wno-use-after-free -Wno-stringop-overflow -Wno-array-bounds)
    if(PNMF_WARNINGS_AS_ERRORS)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(PNMF_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${PNMF_SANITIZE} -fno-omit-frame-pointer)
        if(PNMF_SANITIZE_WITHOUT)
            target_compile_options(${target} PRIVATE -fno-sanitize=${PNMF_SANITIZE_WITHOUT})
        endif()
        target_link_options(${target} PUBLIC -fsanitize=${PNMF_SANITIZE})
        target_compile_definitions(${target} PRIVATE PNMF_SANITIZED) # src/io/trial_read.cpp
        # Eigen takes memory in another way under a sanitiser. Objects built with and without one are linked
        # together here (scripts/sanitised), and one frees what the other took: both must take it the plain way.
        target_compile_definitions(${target} PRIVATE EIGEN_MALLOC_ALREADY_ALIGNED=1)
    endif()
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${pnmf_cache_flags}>)
    # GCC collects its garbage less often: 6 % less time, some hundred MB more memory for each compiler.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
    endif()
    # a·b + c is one rounding or two depending on the compiler's mood otherwise: results must not depend on it.
    target_compile_options(${target} PRIVATE -ffp-contract=off)
endfunction()
