# -DPNMF_CUDA=ON: sweeps of `stationary` on a CUDA device. Needs nvcc and cuBLAS, not a GPU: whether there is one is found
# out when the program runs. OFF (default) costs nothing. pnmf_add_cuda(<target>) adds the backend to a library.
option(PNMF_CUDA "Build the backend for CUDA devices" OFF)
if(NOT PNMF_CUDA)
    return()
endif()

# Code for Ampere and Hopper; devices in between and after compile the newest of it when the program starts.
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90)
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
# CMake 3.25 does not know that nvcc takes this standard.
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
endif()

# Device code is compiled apart: the flags of the host's compiler are not nvcc's.
function(pnmf_add_cuda target)
    add_library(${target}_cuda OBJECT ${ARGN})
    set_target_properties(${target}_cuda PROPERTIES CUDA_STANDARD 20 POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
    target_include_directories(${target}_cuda PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/include")
    target_compile_options(${target}_cuda PRIVATE -lineinfo)
    target_link_libraries(${target}_cuda PRIVATE CUDA::cudart_static CUDA::cublas)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cuda>)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static CUDA::cublas)
endfunction()
