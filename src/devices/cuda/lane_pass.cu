#include "devices/cuda/embedding_pass.hpp"
#include "devices/cuda/lane_pass.hpp"
#include "devices/cuda/reduce.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr int lanes = 32;
constexpr int most_rank = 32;
/// Of a block: as many as have registers for a column of H each.
template <class Real>
constexpr int most_warps = sizeof(Real) == sizeof(float) ? 24 : 12;
constexpr unsigned everyone = 0xffffffffU;
/// A coupling, beside the diagonal, that changes no digit.
template <class Real>
constexpr Real negligible = sizeof(Real) == sizeof(float) ? Real{0x1p-27} : Real{0x1p-56};

/// Numbers that are read from the memory of a block at once.
template <class Real>
struct alignas(16) Pack {
    static constexpr int count = 16 / sizeof(Real);
    Real at[count];
};

template <class Real>
struct LaneArguments {
    int scales;
    int rank;
    std::int64_t cells;
    std::int64_t stride;
    Penalties<Real> penalties;
    ProductsView<Real> products;
    Real* H;
};

/// Packs of a row of WᵀW.
template <class Real>
__host__ __device__ int packs_of(int rank) {
    return (rank + Pack<Real>::count - 1) / Pack<Real>::count;
}
/// From one scale to the next in a warp's memory: odd, so that scales are in different banks.
__host__ __device__ int pitch_of(int rank) {
    return rank | 1;
}

__device__ float inverse(float x) {
    return __frcp_rn(x);
}
__device__ double inverse(double x) {
    return __drcp_rn(x);
}

/// WᵀW of all scales into the memory of the block, filled up with zeros: pack g of row k of scale t at
/// [(k·packs + g)·width + t].
template <class Real, int width>
__device__ void bring_grams(const LaneArguments<Real>& of, Pack<Real>* gram) {
    const int packs = packs_of<Real>(of.rank);
    for (int i = threadIdx.x; i < of.rank * packs * width; i += blockDim.x) {
        const int t = i % width;
        const int g = i / width % packs;
        const int k = i / width / packs;
        Pack<Real> pack;
        for (int e = 0; e < Pack<Real>::count; ++e) {
            const int l = g * Pack<Real>::count + e;
            pack.at[e] = t < of.scales && l < of.rank
                             ? of.products.WtW[(static_cast<std::int64_t>(t) * of.rank + k) * of.rank + l]
                             : Real{0};
        }
        gram[i] = pack;
    }
}

/// Goes through the numbers of one cell, as they stand in memory: `use(r, t, k)` for entry k of scale t.
template <class Use>
__device__ void for_each_entry(int scales, int rank, int lane, const Use& use) {
    const int scales_on = lanes / rank;
    const int rows_on = lanes % rank;
    int t = lane / rank;
    int k = lane % rank;
    for (int r = lane; r < scales * rank; r += lanes) {
        use(r, t, k);
        t += scales_on;
        k += rows_on;
        if (k >= rank) {
            k -= rank;
            ++t;
        }
    }
}

/// The chain of a cell and row, a variable in each lane: minimise ½hᵀMh − bᵀh over h ≥ 0 by the primal–dual
/// active-set iteration (devices/cpu/embedding_pass.cpp says why it ends).
template <class Real, int width>
struct LaneChain {
    Real before; ///< couplings to the scales around; 0 where there is none
    Real after;
    Real diagonal;
    Real right;
    bool there; ///< the lane has a scale

    /// Cyclic reduction in all lanes: after a step of s each variable depends on those 2s away. M is
    /// symmetric, and what is handed on stays so. It ends early where the dependence is below rounding, which
    /// a strong diagonal brings about soon: each step squares its size.
    __device__ Real solve(bool held, unsigned all_held, int lane) const {
        const bool held_before = (all_held >> ((lane + lanes - 1) % lanes) & 1U) != 0;
        const bool held_after = (all_held >> ((lane + 1) % lanes) & 1U) != 0;
        Real a = held || held_before ? Real{0} : before;
        Real c = held || held_after ? Real{0} : after;
        Real b = held ? Real{1} : diagonal;
        Real d = held ? Real{0} : right;
#pragma unroll
        for (int step = 1; step < width; step *= 2) {
            const Real inverted = inverse(b);
            const Real from_before = a * __shfl_up_sync(everyone, inverted, step, width);
            const Real from_after = c * __shfl_down_sync(everyone, inverted, step, width);
            const Real d_before = __shfl_up_sync(everyone, d, step, width);
            const Real d_after = __shfl_down_sync(everyone, d, step, width);
            const Real a_before = __shfl_up_sync(everyone, a, step, width);
            const Real c_after = __shfl_down_sync(everyone, c, step, width);
            b -= from_before * a + from_after * c;
            d += from_before * d_before + from_after * d_after;
            a = from_before * a_before;
            c = from_after * c_after;
            if (__all_sync(everyone, max(a, c) <= negligible<Real> * b)) {
                break;
            }
        }
        return d * inverse(b);
    }

    /// The new value; `now` where the iteration has not ended.
    __device__ Real minimise(Real now, int lane) const {
        constexpr int most_rounds = 40;
        const unsigned own_cell = (width == lanes ? everyone : (1U << width) - 1U)
                                  << (lane / width * width % lanes);
        bool held = !there || (now <= Real{0} && right <= Real{0});
        Real x = 0;
        unsigned changed = everyone;
        for (int round = 0; round < most_rounds && changed != 0; ++round) {
            x = solve(held, __ballot_sync(everyone, held), lane);
            const Real x_before = __shfl_up_sync(everyone, x, 1, width);
            const Real x_after = __shfl_down_sync(everyone, x, 1, width);
            const Real pull = right + before * max(x_before, Real{0}) + after * max(x_after, Real{0});
            const bool hold = !there || (held ? pull <= Real{0} : x < Real{0});
            changed = __ballot_sync(everyone, hold != held);
            held = hold;
        }
        return (changed & own_cell) != 0 ? now : max(x, Real{0});
    }
};

/// A warp has one cell or more at a time, a lane one scale of a cell, with its column of H in registers.
template <class Real, int width>
__global__ void __launch_bounds__(most_warps<Real>* lanes, 1) pass_lanes(LaneArguments<Real> of) {
    extern __shared__ __align__(16) char memory[];
    constexpr int cells_of_warp = lanes / width;
    constexpr int in_pack = Pack<Real>::count;
    const int packs = packs_of<Real>(of.rank);
    const int pitch = pitch_of(of.rank);
    const int lane = threadIdx.x % lanes;
    const int warp = threadIdx.x / lanes;
    const int t = lane % width;
    Pack<Real>* const gram = reinterpret_cast<Pack<Real>*>(memory);
    Real* const buffer = reinterpret_cast<Real*>(gram + of.rank * packs * width) + warp * lanes * pitch;
    bring_grams<Real, width>(of, gram);
    __syncthreads();
    const bool has_scale = t < of.scales;
    const Real graph = has_scale ? of.penalties.graph[t] : Real{0};
    const Real anchor = has_scale ? of.penalties.anchor[t] : Real{0};
    LaneChain<Real, width> chain{};
    chain.before = has_scale ? of.penalties.before[t] : Real{0};
    chain.after = has_scale ? of.penalties.before[t + 1] : Real{0};
    const int warps = blockDim.x / lanes;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps * cells_of_warp;
    for (std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * warps + warp) * cells_of_warp;
         first < of.cells; first += step) {
        const int count = static_cast<int>(min(static_cast<std::int64_t>(cells_of_warp), of.cells - first));
        const std::int64_t cell = first + lane / width;
        chain.there = has_scale && lane / width < count;
        const Real weight = chain.there ? graph * of.products.degree[cell * of.scales + t] : Real{0};
        __syncwarp();
        for (int c = 0; c < count; ++c) {
            const Real* const from = of.H + (first + c) * of.stride;
            for_each_entry(of.scales, of.rank, lane,
                           [&](int r, int at, int k) { buffer[(c * width + at) * pitch + k] = from[r]; });
        }
        __syncwarp();
        Real h[most_rank];
#pragma unroll
        for (int l = 0; l < most_rank; ++l) {
            h[l] = chain.there && l < of.rank ? buffer[lane * pitch + l] : Real{0};
        }
        __syncwarp();
        for (int c = 0; c < count; ++c) { // w(WᵀX + λ₁·HA) in the place of H
            const std::int64_t from = (first + c) * of.stride;
            for_each_entry(of.scales, of.rank, lane, [&](int r, int at, int k) {
                buffer[(c * width + at) * pitch + k] =
                    of.products.WtX[from + r] + of.penalties.graph[at] * of.products.HA[from + r];
            });
        }
        __syncwarp();
        for (int k = 0; k < of.rank; ++k) {
            const Pack<Real>* const row = gram + static_cast<std::int64_t>(k) * packs * width + t;
            Real product = 0;
            Real now = 0;
            Real own = 0;
#pragma unroll
            for (int g = 0; g < most_rank / in_pack; ++g) {
                if (g < packs) {
                    const Pack<Real> pack = row[g * width];
#pragma unroll
                    for (int e = 0; e < in_pack; ++e) {
                        const int l = g * in_pack + e;
                        product += pack.at[e] * h[l];
                        now = l == k ? h[l] : now;
                        own = l == k ? pack.at[e] : own;
                    }
                }
            }
            const Real pull = chain.there ? buffer[lane * pitch + k] : Real{0};
            const Real gradient = (weight + anchor) * now - pull + product;
            const Real curvature = own + Real{2} * weight + anchor;
            chain.diagonal = curvature + (chain.before + chain.after);
            chain.right = curvature * now - gradient;
            const Real next = chain.minimise(now, lane);
#pragma unroll
            for (int l = 0; l < most_rank; ++l) {
                h[l] = l == k ? next : h[l];
            }
        }
        __syncwarp();
#pragma unroll
        for (int l = 0; l < most_rank; ++l) {
            if (chain.there && l < of.rank) {
                buffer[lane * pitch + l] = h[l];
            }
        }
        __syncwarp();
        for (int c = 0; c < count; ++c) {
            Real* const to = of.H + (first + c) * of.stride;
            for_each_entry(of.scales, of.rank, lane,
                           [&](int r, int at, int k) { to[r] = buffer[(c * width + at) * pitch + k]; });
        }
    }
}

int width_of(int scales) {
    return scales <= 8 ? 8 : scales <= 16 ? 16 : lanes;
}

template <class Real>
std::int64_t bytes_of_grams(const Shape& shape) {
    return static_cast<std::int64_t>(shape.rank) * packs_of<Real>(shape.rank) * width_of(shape.scales) * 16;
}

template <class Real>
std::int64_t bytes_of_warp(const Shape& shape) {
    return static_cast<std::int64_t>(lanes) * pitch_of(shape.rank) * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
auto kernel_of(int width) {
    return width == 8 ? pass_lanes<Real, 8> : width == 16 ? pass_lanes<Real, 16> : pass_lanes<Real, lanes>;
}

} // namespace

template <class Real>
bool LanePass<Real>::fits(const Shape& shape, std::int64_t shared_bytes) {
    constexpr int least_warps = 8; // fewer do not hide how long each waits
    return shape.scales <= lanes && shape.rank <= most_rank &&
           bytes_of_grams<Real>(shape) + least_warps * bytes_of_warp<Real>(shape) <= shared_bytes;
}

template <class Real>
void LanePass<Real>::prepare(const Shape& shape, int processors, std::int64_t shared_bytes) {
    shape_ = shape;
    width_ = width_of(shape.scales);
    const std::int64_t buffer = shared_bytes - bytes_of_grams<Real>(shape);
    warps_ = static_cast<int>(std::min<std::int64_t>(most_warps<Real>, buffer / bytes_of_warp<Real>(shape)));
    bytes_ = static_cast<int>(bytes_of_grams<Real>(shape) + warps_ * bytes_of_warp<Real>(shape));
    allow_memory_of_block(kernel_of<Real>(width_), bytes_);
    blocks_ = static_cast<unsigned>(
        std::min<std::int64_t>(processors, blocks_of(shape.cells, warps_ * (lanes / width_))));
}

template <class Real>
void LanePass<Real>::run(const Penalties<Real>& penalties, const ProductsView<Real>& products, Real* H) {
    const LaneArguments<Real> of{
        shape_.scales, shape_.rank, shape_.cells, shape_.stride(), penalties, products, H};
    kernel_of<Real>(
        width_)<<<blocks_, static_cast<unsigned>(warps_ * lanes), static_cast<std::size_t>(bytes_)>>>(of);
    check_launch("a pass over H");
}

template class LanePass<float>;
template class LanePass<double>;

} // namespace pnmf::cuda
