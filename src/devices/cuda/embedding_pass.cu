#include "devices/cuda/embedding_pass.hpp"
#include "devices/cuda/reduce.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr int rows_at_once = 8; // of w(WᵀX + λ₁·HA), brought together: a fetch from memory is as long
constexpr int most_threads = 1024;

/// What a block works on: some cells at all scales. Numbers of neighbouring cells stand beside each other,
/// one more place than there are cells from row to row, so that threads neither along cells nor along rows
/// meet in one bank of memory.
template <class Real>
struct Tile {
    int scales;
    int rank;
    int lanes;
    Real* h;        ///< scales·rank rows
    Real* pull;     ///< scales·rows_at_once rows: w(WᵀX + λ₁·HA)
    Real* weight;   ///< scales rows: wλ₁·deg
    Real* diagonal; ///< of the chain, and what follows
    Real* right;
    Real* x;
    Real* factor;
    unsigned* held; ///< a bit for each scale of a cell, 32 to a word: variables held at zero

    static __host__ __device__ std::int64_t words(std::int64_t scales) { return (scales + 31) / 32; }
    static __host__ __device__ std::int64_t bytes(std::int64_t scales, std::int64_t rank,
                                                  std::int64_t lanes) {
        const std::int64_t numbers = scales * (rank + rows_at_once + 5) * (lanes + 1);
        const std::int64_t all = numbers * static_cast<std::int64_t>(sizeof(Real)) +
                                 words(scales) * lanes * static_cast<std::int64_t>(sizeof(unsigned));
        return (all + 15) / 16 * 16;
    }

    __device__ Tile(int scale_count, int row_count, int lane_count, char* memory)
        : scales(scale_count), rank(row_count), lanes(lane_count) {
        const std::int64_t pitch = lanes + 1;
        h = reinterpret_cast<Real*>(memory);
        pull = h + scales * rank * pitch;
        weight = pull + scales * rows_at_once * pitch;
        diagonal = weight + scales * pitch;
        right = diagonal + scales * pitch;
        x = right + scales * pitch;
        factor = x + scales * pitch;
        held = reinterpret_cast<unsigned*>(factor + scales * pitch);
    }
    __device__ std::int64_t at(std::int64_t row, int lane) const { return row * (lanes + 1) + lane; }
};

__device__ float reciprocal(float x) {
    return __frcp_rn(x);
}
__device__ double reciprocal(double x) {
    return __drcp_rn(x);
}

/// The chain of one cell and row: minimise ½hᵀMh − bᵀh over h ≥ 0, M tridiagonal, by the primal–dual
/// active-set iteration (devices/cpu/embedding_pass.cpp says why it ends). One thread does it, step after
/// step, so what counts is how long a step waits: numbers of the next step are on their way while one is
/// made.
template <class Real>
class Chain {
  public:
    __device__ Chain(const Tile<Real>& tile, int lane, const Real* coupling)
        : T_(tile.scales), pitch_(tile.lanes + 1), lanes_(tile.lanes), coupling_(coupling),
          diagonal_(tile.diagonal + lane), right_(tile.right + lane), x_(tile.x + lane),
          factor_(tile.factor + lane), held_(tile.held + lane) {}

    /// False when the iteration has not ended.
    __device__ bool solve() {
        hold_first();
        constexpr int most_rounds = 40;
        for (int round = 0; round < most_rounds; ++round) {
            if (!substitute(eliminate())) {
                return true;
            }
        }
        return false;
    }

  private:
    /// Held at first: what is zero and not pulled up.
    __device__ void hold_first() {
        unsigned word = 0;
        for (int t = 0; t < T_; ++t) {
            const bool hold = x_[t * pitch_] <= Real{0} && right_[t * pitch_] <= Real{0};
            word |= (hold ? 1U : 0U) << (t % 32);
            if (t % 32 == 31 || t + 1 == T_) {
                held_[t / 32 * lanes_] = word;
                word = 0;
            }
        }
    }

    /// Thomas' algorithm, forward, on the variables that are not held. Returns the last value.
    __device__ Real eliminate() {
        Real ratio = 0;
        Real value = 0;
        Real diagonal = diagonal_[0];
        Real right = right_[0];
        Real before = coupling_[0];
        unsigned word = 0;
        for (int t = 0; t < T_; ++t) {
            if (t % 32 == 0) {
                word = held_[t / 32 * lanes_];
            }
            const int next = min(t + 1, T_ - 1) * pitch_;
            const Real next_diagonal = diagonal_[next];
            const Real next_right = right_[next];
            const Real after = coupling_[t + 1];
            const Real inverse = reciprocal(diagonal - before * ratio);
            const bool held = (word >> (t % 32) & 1U) != 0;
            value = held ? Real{0} : (right + before * value) * inverse;
            ratio = held ? Real{0} : after * inverse;
            x_[t * pitch_] = value;
            factor_[t * pitch_] = ratio;
            diagonal = next_diagonal;
            right = next_right;
            before = after;
        }
        return value;
    }

    /// Back, and which variables are held next: release those the others pull up, hold those that fell below.
    /// Whether any changed.
    __device__ bool substitute(Real here) {
        bool changed = false;
        Real after = 0;
        Real coupling_after = coupling_[T_];
        Real coupling = coupling_[T_ - 1];
        Real right = right_[(T_ - 1) * pitch_];
        Real value = x_[max(T_ - 2, 0) * pitch_];
        Real factor = factor_[max(T_ - 2, 0) * pitch_];
        unsigned word = 0;
        unsigned next = 0;
        for (int t = T_ - 1; t >= 0; --t) {
            if (t % 32 == 31 || t == T_ - 1) {
                word = held_[t / 32 * lanes_];
                next = 0;
            }
            const Real next_value = x_[max(t - 2, 0) * pitch_];
            const Real next_factor = factor_[max(t - 2, 0) * pitch_];
            const Real next_right = right_[max(t - 1, 0) * pitch_];
            const Real next_coupling = coupling_[max(t - 1, 0)];
            const Real before = t > 0 ? value + factor * here : Real{0};
            const Real pull = right + coupling * max(before, Real{0}) + coupling_after * max(after, Real{0});
            const bool held = (word >> (t % 32) & 1U) != 0;
            const bool hold = held ? pull <= Real{0} : here < Real{0};
            next |= (hold ? 1U : 0U) << (t % 32);
            if (t > 0) {
                x_[(t - 1) * pitch_] = before;
            }
            if (t % 32 == 0) {
                changed = changed || next != word;
                held_[t / 32 * lanes_] = next;
            }
            after = here;
            here = before;
            value = next_value;
            factor = next_factor;
            right = next_right;
            coupling_after = coupling;
            coupling = next_coupling;
        }
        return changed;
    }

    int T_;
    int pitch_;
    int lanes_;
    const Real* coupling_;
    const Real* diagonal_;
    const Real* right_;
    Real* x_;
    Real* factor_;
    unsigned* held_;
};

template <class Real>
struct PassArguments {
    int scales;
    int rank;
    int lanes;
    std::int64_t cells;
    std::int64_t stride;
    Penalties<Real> penalties;
    ProductsView<Real> products;
    Real* H;
    char* buffer; ///< null: tiles stand in the memory of the block
    std::int64_t tile_bytes;
};

/// Rows [first, first + rows) of the products of a tile's cells: w(WᵀX + λ₁·HA).
template <class Real>
__device__ void bring_pull(const PassArguments<Real>& of, const Tile<Real>& tile, std::int64_t cell,
                           int count, int first) {
    const int rows = min(rows_at_once, of.rank - first);
    const int all = of.scales * rows;
    for (int i = threadIdx.x; i < all * count; i += blockDim.x) {
        const int lane = i / all;
        const int t = i % all / rows;
        const int k = i % rows;
        const std::int64_t from =
            (cell + lane) * of.stride + static_cast<std::int64_t>(t) * of.rank + first + k;
        tile.pull[tile.at(static_cast<std::int64_t>(t) * rows_at_once + k, lane)] =
            of.products.WtX[from] + of.penalties.graph[t] * of.products.HA[from];
    }
}

template <class Real>
__device__ void bring_tile(const PassArguments<Real>& of, const Tile<Real>& tile, std::int64_t cell,
                           int count) {
    const int rows = of.scales * of.rank;
    for (std::int64_t i = threadIdx.x; i < static_cast<std::int64_t>(rows) * count; i += blockDim.x) {
        const int lane = static_cast<int>(i / rows);
        const int r = static_cast<int>(i % rows);
        tile.h[tile.at(r, lane)] = of.H[(cell + lane) * of.stride + r];
    }
    for (int i = threadIdx.x; i < of.scales * count; i += blockDim.x) {
        const int lane = i / of.scales;
        const int t = i % of.scales;
        tile.weight[tile.at(t, lane)] =
            of.penalties.graph[t] * of.products.degree[(cell + lane) * of.scales + t];
    }
}

/// The chain's matrix and right-hand side for row k, at every scale of every cell of the tile.
template <class Real>
__device__ void set_chain(const PassArguments<Real>& of, const Tile<Real>& tile, int count, int k) {
    const int lane = threadIdx.x % of.lanes;
    const int groups = blockDim.x / of.lanes;
    if (lane >= count) {
        return;
    }
    for (int t = threadIdx.x / of.lanes; t < of.scales; t += groups) {
        const Real* const column = of.products.WtW + (static_cast<std::int64_t>(t) * of.rank + k) * of.rank;
        const std::int64_t first = static_cast<std::int64_t>(t) * of.rank;
        const Real now = tile.h[tile.at(first + k, lane)];
        const Real weight = tile.weight[tile.at(t, lane)];
        const Real anchor = of.penalties.anchor[t];
        Real gradient =
            (weight + anchor) * now -
            tile.pull[tile.at(static_cast<std::int64_t>(t) * rows_at_once + k % rows_at_once, lane)];
#pragma unroll 6
        for (int l = 0; l < of.rank; ++l) {
            gradient += column[l] * tile.h[tile.at(first + l, lane)];
        }
        const Real curvature = column[k] + Real{2} * weight + anchor;
        const std::int64_t at = tile.at(t, lane);
        tile.diagonal[at] = curvature + (of.penalties.before[t] + of.penalties.before[t + 1]);
        tile.right[at] = curvature * now - gradient;
        tile.x[at] = now;
    }
}

template <class Real>
__global__ void __launch_bounds__(most_threads) pass_tiles(PassArguments<Real> of) {
    extern __shared__ __align__(16) char memory[];
    const Tile<Real> tile(of.scales, of.rank, of.lanes,
                          of.buffer == nullptr ? memory : of.buffer + blockIdx.x * of.tile_bytes);
    const std::int64_t tiles = blocks_of(of.cells, of.lanes);
    for (std::int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
        const std::int64_t cell = number * of.lanes;
        const int count = static_cast<int>(min(static_cast<std::int64_t>(of.lanes), of.cells - cell));
        __syncthreads();
        bring_tile(of, tile, cell, count);
        for (int k = 0; k < of.rank; ++k) {
            if (k % rows_at_once == 0) {
                bring_pull(of, tile, cell, count, k);
            }
            __syncthreads();
            set_chain(of, tile, count, k);
            __syncthreads();
            const int lane = threadIdx.x;
            if (lane < count && Chain<Real>(tile, lane, of.penalties.before).solve()) {
                for (int t = 0; t < of.scales; ++t) {
                    tile.h[tile.at(static_cast<std::int64_t>(t) * of.rank + k, lane)] =
                        max(tile.x[tile.at(t, lane)], Real{0});
                }
            }
        }
        __syncthreads();
        const int rows = of.scales * of.rank;
        for (std::int64_t i = threadIdx.x; i < static_cast<std::int64_t>(rows) * count; i += blockDim.x) {
            const int lane = static_cast<int>(i / rows);
            const int r = static_cast<int>(i % rows);
            of.H[(cell + lane) * of.stride + r] = tile.h[tile.at(r, lane)];
        }
    }
}

/// Cells of a tile that stands in the memory of a block; 0 where not even a few do.
template <class Real>
int lanes_that_fit(const Shape& shape, std::int64_t shared_bytes) {
    for (const int lanes : {32, 16, 8}) {
        if (Tile<Real>::bytes(shape.scales, shape.rank, lanes) <= shared_bytes) {
            return lanes;
        }
    }
    return 0;
}

} // namespace

template <class Real>
double EmbeddingPass<Real>::bytes_of_work(const Shape& shape, int processors, std::int64_t shared_bytes) {
    return LanePass<Real>::fits(shape, shared_bytes) || lanes_that_fit<Real>(shape, shared_bytes) > 0
               ? 0.0
               : static_cast<double>(Tile<Real>::bytes(shape.scales, shape.rank, 32)) *
                     std::min(2.0 * processors, static_cast<double>(blocks_of(shape.cells, 32)));
}

template <class Real>
void EmbeddingPass<Real>::prepare(const Shape& shape) {
    shape_ = shape;
    int device = 0;
    int processors = 0;
    int shared_bytes = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "asking for its size");
    check(cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "asking for its memory of a block");
    by_lanes_ = LanePass<Real>::fits(shape, shared_bytes);
    if (by_lanes_) {
        buffer_.allocate(0);
        lane_pass_.prepare(shape, processors, shared_bytes);
        return;
    }
    const int fitting = lanes_that_fit<Real>(shape, shared_bytes);
    shared_ = fitting > 0;
    lanes_ = shared_ ? fitting : 32;
    bytes_ = Tile<Real>::bytes(shape.scales, shape.rank, lanes_);
    threads_ =
        static_cast<unsigned>(threads_for(static_cast<std::int64_t>(lanes_) * shape.scales, most_threads));
    int at_once = 2;
    if (shared_) {
        check(cudaFuncSetAttribute(pass_tiles<Real>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(bytes_)),
              "asking for memory of a block");
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                  &at_once, pass_tiles<Real>, static_cast<int>(threads_), static_cast<std::size_t>(bytes_)),
              "asking how many blocks fit");
    }
    blocks_ = static_cast<unsigned>(std::min<std::int64_t>(
        static_cast<std::int64_t>(std::max(1, at_once)) * processors, blocks_of(shape.cells, lanes_)));
    buffer_.allocate(shared_ ? 0 : bytes_ * blocks_);
}

template <class Real>
void EmbeddingPass<Real>::run(const Penalties<Real>& penalties, const ProductsView<Real>& products, Real* H) {
    if (by_lanes_) {
        lane_pass_.run(penalties, products, H);
        return;
    }
    const PassArguments<Real> of{shape_.scales,
                                 shape_.rank,
                                 lanes_,
                                 shape_.cells,
                                 shape_.stride(),
                                 penalties,
                                 products,
                                 H,
                                 shared_ ? nullptr : buffer_.get(),
                                 bytes_};
    pass_tiles<<<blocks_, threads_, shared_ ? static_cast<std::size_t>(bytes_) : 0>>>(of);
    check_launch("a pass over H");
}

template class EmbeddingPass<float>;
template class EmbeddingPass<double>;

} // namespace pnmf::cuda
