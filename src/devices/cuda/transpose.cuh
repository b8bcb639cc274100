#pragma once

#include "devices/cuda/reduce.cuh"

#include <cstdint>

namespace pnmf::cuda {

constexpr int tile = 32;

/// out[c·out_stride + r] = map(r, in[r·in_stride + c]), by tiles, so that both sides are long runs of memory.
template <class From, class To, class Map>
__global__ void transpose_tiles(const From* in, std::int64_t in_stride, std::int64_t rows,
                                std::int64_t columns, To* out, std::int64_t out_stride, Map map) {
    __shared__ To held[tile][tile + 1];
    const std::int64_t c = blockIdx.x * static_cast<std::int64_t>(tile) + threadIdx.x;
    const std::int64_t first_row = blockIdx.y * static_cast<std::int64_t>(tile);
    for (int y = threadIdx.y; y < tile; y += blockDim.y) {
        if (c < columns && first_row + y < rows) {
            held[y][threadIdx.x] = map(first_row + y, in[(first_row + y) * in_stride + c]);
        }
    }
    __syncthreads();
    const std::int64_t r = first_row + threadIdx.x;
    for (int y = threadIdx.y; y < tile; y += blockDim.y) {
        const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(tile) + y;
        if (at < columns && r < rows) {
            out[at * out_stride + r] = held[threadIdx.x][y];
        }
    }
}

template <class From, class To, class Map>
void transpose(const From* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns, To* out,
               std::int64_t out_stride, Map map) {
    const dim3 grid(static_cast<unsigned>(blocks_of(columns, tile)),
                    static_cast<unsigned>(blocks_of(rows, tile)));
    transpose_tiles<<<grid, dim3(tile, 8)>>>(in, in_stride, rows, columns, out, out_stride, map);
    check_launch("transposing");
}

} // namespace pnmf::cuda
