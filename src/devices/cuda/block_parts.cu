#include "devices/cuda/block_parts.hpp"
#include "devices/cuda/reduce.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr int threads = 256;
constexpr int lanes = 32;
constexpr int entries_of_thread = 4;
constexpr std::int64_t bytes_at_hand = 32 << 10; // of H, in the memory of a block of threads

/// Some entries of HHᵀ of one block of cells and one scale: some cells at a time are brought to hand, and
/// what they add is added in double.
template <class Real>
__global__ void __launch_bounds__(threads)
    gram_entries(Shape shape, std::int64_t cells_in_block, std::int64_t first, int cells_at_hand,
                 const Real* H, Real* parts) {
    extern __shared__ __align__(16) char memory[];
    Real* const held = reinterpret_cast<Real*>(memory);
    const int rank = shape.rank;
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * rank;
    const std::int64_t begin = (first + blockIdx.x) * cells_in_block;
    const std::int64_t end = min(shape.cells, begin + cells_in_block);
    const std::int64_t size = static_cast<std::int64_t>(rank) * rank;
    const std::int64_t entry =
        static_cast<std::int64_t>(blockIdx.z) * threads * entries_of_thread + threadIdx.x;
    double sum[entries_of_thread] = {};
    for (std::int64_t cell = begin; cell < end; cell += cells_at_hand) {
        const int count = static_cast<int>(min(static_cast<std::int64_t>(cells_at_hand), end - cell));
        __syncthreads();
        for (int i = threadIdx.x; i < count * rank; i += threads) {
            held[i] = H[(cell + i / rank) * shape.stride() + row + i % rank];
        }
        __syncthreads();
        for (int c = 0; c < entries_of_thread; ++c) {
            const std::int64_t e = entry + c * threads;
            if (e < size) {
                const Real* const a = held + e / rank;
                const Real* const b = held + e % rank;
                Real part = 0;
                for (int j = 0; j < count; ++j) {
                    part += a[j * rank] * b[j * rank];
                }
                sum[c] += static_cast<double>(part);
            }
        }
    }
    Real* const out = parts + static_cast<std::int64_t>(blockIdx.x) * shape.grams() + blockIdx.y * size;
    for (int c = 0; c < entries_of_thread; ++c) {
        if (entry + c * threads < size) {
            out[entry + c * threads] = static_cast<Real>(sum[c]);
        }
    }
}

/// An entry of WᵀW by a warp.
template <class Real>
__global__ void basis_entries(Shape shape, const Real* W, const Real* weight, Real* WtW) {
    const std::int64_t at =
        blockIdx.x * static_cast<std::int64_t>(threads / lanes) + static_cast<int>(threadIdx.x) / lanes;
    if (at >= shape.grams()) {
        return;
    }
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const std::int64_t size = static_cast<std::int64_t>(shape.rank) * shape.rank;
    const std::int64_t t = at / size;
    const Real* const a = W + (t * shape.rank + at % size / shape.rank) * shape.features;
    const Real* const b = W + (t * shape.rank + at % shape.rank) * shape.features;
    double sum = 0.0;
    for (std::int64_t i = lane; i < shape.features; i += lanes) {
        sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    }
    for (int step = lanes / 2; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, step);
    }
    if (lane == 0) {
        WtW[at] = weight[t] * static_cast<Real>(sum);
    }
}

/// Part 2·step·y takes part 2·step·y + step in.
template <class Real>
__global__ void join_pairs(Real* parts, std::int64_t size, std::int64_t step) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (at < size) {
        Real* const to = parts + 2 * step * blockIdx.y * size + at;
        *to += to[step * size];
    }
}

template <class Real>
__global__ void add_numbers(Real* to, const Real* from, std::int64_t size) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (at < size) {
        to[at] += from[at];
    }
}

} // namespace

template <class Real>
void gram_of_blocks(const Shape& shape, std::int64_t cells_in_block, std::int64_t first, std::int64_t count,
                    const Real* H, Real* parts) {
    const std::int64_t column = shape.rank * static_cast<std::int64_t>(sizeof(Real));
    const auto at_hand = static_cast<int>(std::clamp<std::int64_t>(bytes_at_hand / column, 1, 32));
    const auto bytes = static_cast<int>(at_hand * column);
    allow_memory_of_block(gram_entries<Real>, bytes);
    const std::int64_t size = static_cast<std::int64_t>(shape.rank) * shape.rank;
    const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(shape.scales),
                    static_cast<unsigned>(blocks_of(size, threads * entries_of_thread)));
    gram_entries<<<grid, threads, static_cast<std::size_t>(bytes)>>>(shape, cells_in_block, first, at_hand, H,
                                                                     parts);
    check_launch("products of blocks of H");
}

template <class Real>
void gram_of_bases(const Shape& shape, const Real* W, const Real* weight, Real* WtW) {
    basis_entries<<<static_cast<unsigned>(blocks_of(shape.grams(), threads / lanes)), threads>>>(shape, W,
                                                                                                 weight, WtW);
    check_launch("W transposed times W");
}

template <class Real>
void join_parts(Real* parts, std::int64_t size, std::int64_t count) {
    for (std::int64_t step = 1; step < count; step *= 2) {
        const dim3 grid(static_cast<unsigned>(blocks_of(size, threads)),
                        static_cast<unsigned>(blocks_of(count - step, 2 * step)));
        join_pairs<<<grid, threads>>>(parts, size, step);
        check_launch("adding blocks of cells");
    }
}

template <class Real>
void add_part(Real* to, const Real* from, std::int64_t size) {
    add_numbers<<<static_cast<unsigned>(blocks_of(size, threads)), threads>>>(to, from, size);
    check_launch("adding blocks of cells");
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void gram_of_blocks(const Shape&, std::int64_t, std::int64_t, std::int64_t, const Real*,        \
                                 Real*);                                                                     \
    template void gram_of_bases(const Shape&, const Real*, const Real*, Real*);                              \
    template void join_parts(Real*, std::int64_t, std::int64_t);                                             \
    template void add_part(Real*, const Real*, std::int64_t);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
