#pragma once

#include "devices/cuda/device_memory.hpp"

#include <cstdint>

#include <cub/block/block_reduce.cuh>

namespace pnmf::cuda {

inline __host__ __device__ std::int64_t blocks_of(std::int64_t count, std::int64_t size) {
    return (count + size - 1) / size;
}

/// Threads of a block, a multiple of 32 between 32 and `most`, that cover `count` items.
inline int threads_for(std::int64_t count, int most) {
    const std::int64_t whole = blocks_of(count < 1 ? 1 : count, 32) * 32;
    return static_cast<int>(whole < most ? whole : most);
}

/// A kernel gets more than 48 KiB of the memory of a block only where it asks.
template <class Kernel>
void allow_memory_of_block(Kernel kernel, int bytes) {
    if (bytes > 48 << 10) {
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
              "asking for memory of a block");
    }
}

/// The sum over a block of `threads`, known to every thread of it; the order of the additions is fixed.
/// May be called again at once.
template <int threads>
__device__ double sum_over_block(double value) {
    using Reduce = cub::BlockReduce<double, threads>;
    __shared__ typename Reduce::TempStorage buffer;
    __shared__ double total;
    __syncthreads();
    const double sum = Reduce(buffer).Sum(value);
    if (threadIdx.x == 0) {
        total = sum;
    }
    __syncthreads();
    return total;
}

} // namespace pnmf::cuda
