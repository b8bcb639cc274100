#pragma once

#include "devices/cuda/reduce.cuh"

#include <cstdint>

namespace pnmf::cuda {

constexpr int lanes_of_warp = 32;

/// Kernels in which a warp has one scale and some cells or places, and a thread row k of it: the warps of a
/// block have scales beside each other, which read the same columns. x of the grid counts runs of cells.
struct WarpOfScale {
    int warp = static_cast<int>(threadIdx.x) / lanes_of_warp;
    int lane = static_cast<int>(threadIdx.x) % lanes_of_warp;
    int t = static_cast<int>(blockIdx.y * (blockDim.x / lanes_of_warp)) + warp; ///< may be past the last
};

/// How such a kernel is started for so many runs of cells.
struct WarpsOfScales {
    static constexpr int most_warps = 8;

    int warps;
    dim3 grid;

    WarpsOfScales(int scales, std::int64_t runs)
        : warps(scales < most_warps ? scales : most_warps),
          grid(static_cast<unsigned>(runs), static_cast<unsigned>(blocks_of(scales, warps))) {}
    int threads() const { return warps * lanes_of_warp; }
};

/// WᵀW·h of one scale, by a warp: a thread has row k of it, k = lane, lane + 32, … The column h is brought
/// into the memory of the block by `bring`, then `times` gives row k.
///
/// Processes up to that of a warp: the thread's column of WᵀW stays in registers, and h, filled up with
/// zeros, is read four numbers at a time. Other processes read both as they are needed.
template <class Real, bool small>
class GramTimesColumn {
  public:
    /// Numbers that a warp needs in the memory of its block.
    static __host__ __device__ int buffer(int rank) { return small ? lanes_of_warp : rank; }

    __device__ GramTimesColumn(const Real* gram, int rank, int lane, Real* column)
        : gram_(gram), rank_(rank), lane_(lane), column_(column) {
        if constexpr (small) {
#pragma unroll
            for (int l = 0; l < lanes_of_warp; ++l) {
                own_[l] = l < rank && lane < rank ? gram[l * rank + lane] : Real{0};
            }
        }
    }

    __device__ void bring(const Real* h) {
        __syncwarp();
        if constexpr (small) {
            column_[lane_] = lane_ < rank_ ? h[lane_] : Real{0};
        } else {
            for (int k = lane_; k < rank_; k += lanes_of_warp) {
                column_[k] = h[k];
            }
        }
        __syncwarp();
    }

    /// The same for ranks up to that of a warp: each thread already has its entry of h, 0 past the rank.
    __device__ void hold(Real entry) {
        static_assert(small);
        __syncwarp();
        column_[lane_] = entry;
        __syncwarp();
    }

    __device__ Real at(int k) const {
        return column_[k];
    }
    __device__ Real diagonal(int k) const {
        return gram_[k * rank_ + k];
    }

    __device__ Real times(int k) const {
        Real sum = 0;
        if constexpr (small) {
            constexpr int together = 16 / sizeof(Real);
            struct alignas(16) Pack {
                Real value[together];
            };
            const Pack* const packs = reinterpret_cast<const Pack*>(column_);
#pragma unroll
            for (int l = 0; l < lanes_of_warp; l += together) {
                const Pack pack = packs[l / together];
#pragma unroll
                for (int i = 0; i < together; ++i) {
                    sum += own_[l + i] * pack.value[i];
                }
            }
        } else {
#pragma unroll 6
            for (int l = 0; l < rank_; ++l) {
                sum += gram_[l * rank_ + k] * column_[l];
            }
        }
        return sum;
    }

  private:
    const Real* gram_;
    int rank_;
    int lane_;
    Real* column_;
    Real own_[small ? lanes_of_warp : 1];
};

/// Bytes of the memory of a block that its warps need for `GramTimesColumn`; the kernel is allowed them.
template <class Real, bool small, class Kernel>
int buffer_of_columns(Kernel kernel, const WarpsOfScales& start, int rank) {
    const int bytes =
        start.warps * GramTimesColumn<Real, small>::buffer(rank) * static_cast<int>(sizeof(Real));
    allow_memory_of_block(kernel, bytes);
    return bytes;
}

} // namespace pnmf::cuda
