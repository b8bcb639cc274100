#pragma once

#include "devices/cuda/row_shifts.cuh"

/// Components that reach over several pieces of the merge tree, and sums over children that narrow ones need
/// too.
namespace pnmf::cuda {

constexpr int threads = 256;
constexpr int lanes = 32;
constexpr int warps = threads / lanes;
constexpr unsigned everyone = 0xffffffffU;
constexpr int many = 32; // children that a thread no longer adds up alone

inline __device__ void add(Eliminated& sum, const Eliminated& more) {
    sum.pivot += more.pivot;
    sum.right += more.right;
}

/// The sum over a warp, known to each of its threads; the order of the additions is fixed.
inline __device__ Eliminated sum_over_warp(Eliminated value) {
    for (int step = lanes / 2; step > 0; step /= 2) {
        value.pivot += __shfl_xor_sync(everyone, value.pivot, step);
        value.right += __shfl_xor_sync(everyone, value.right, step);
    }
    return value;
}

/// What a component with this coupling to its parent hands on, its shift eliminated.
inline __device__ Eliminated hand_on(const Eliminated& child, double coupling) {
    const double ratio = child.pivot > 0.0 ? coupling / child.pivot : 0.0;
    return {coupling - coupling * ratio, child.right * ratio};
}

/// Σ handed(e) for begin ≤ e < end, each thread of a warp with a range of its own: a few it adds by itself,
/// many are added by the whole warp. All threads of the warp must call it.
template <class Handed>
__device__ Eliminated sum_children(std::int32_t begin, std::int32_t end, const Handed& handed) {
    Eliminated sum{0.0, 0.0};
    const bool alone = end - begin <= many;
    for (std::int32_t e = begin; alone && e < end; ++e) {
        add(sum, handed(e));
    }
    const int lane = threadIdx.x % lanes;
    for (unsigned left = __ballot_sync(everyone, !alone); left != 0; left &= left - 1) {
        const int whose = __ffs(static_cast<int>(left)) - 1;
        const std::int32_t first = __shfl_sync(everyone, begin, whose);
        const std::int32_t past = __shfl_sync(everyone, end, whose);
        Eliminated part{0.0, 0.0};
        for (std::int32_t e = first + lane; e < past; e += lanes) {
            add(part, handed(e));
        }
        part = sum_over_warp(part);
        if (lane == whose) {
            sum = part;
        }
    }
    return sum;
}

/// Where the wide components are solved: in the memory of the block where they fit into it.
struct WideBuffer {
    static constexpr int few = 512;
    static constexpr int few_scales = 256;

    Eliminated solved[few];
    double least[few];
    double shift[few];
    double before[few_scales + 1];
    std::int32_t size[few];
    std::int32_t parent[few];
    std::int32_t inside[few + 1];
    std::int32_t level[few_scales + 1];
};

/// The wide components of all scales, by one block of threads: up along the merge tree and down again.
template <class Real>
class WideShift {
  public:
    __device__ WideShift(const ShiftArguments<Real>& of, WideBuffer& buffer)
        : of_(of), at_hand_(of.pieces.wides <= WideBuffer::few && of.scales <= WideBuffer::few_scales),
          solved_(at_hand_ ? buffer.solved : of.wide), least_(at_hand_ ? buffer.least : of.wide_least),
          shift_(at_hand_ ? buffer.shift : of.wide_shift),
          size_(at_hand_ ? buffer.size : of.pieces.wide_size),
          parent_(at_hand_ ? buffer.parent : of.pieces.wide_parent),
          inside_(at_hand_ ? buffer.inside : of.pieces.wide_inside),
          level_(at_hand_ ? buffer.level : of.pieces.wide_level),
          before_(at_hand_ ? buffer.before : of.penalties.before) {
        if (at_hand_) {
            bring(buffer);
        }
    }

    /// Begins with what each has of its own and from narrow components; leaves the shifts of row k.
    __device__ void solve(WideBuffer& buffer, int k) {
        if (at_hand_) {
            for (int w = threadIdx.x; w < of_.pieces.wides; w += threads) {
                buffer.solved[w] = of_.wide[w];
                buffer.least[w] = of_.wide_least[w];
            }
            __syncthreads();
        }
        for (int t = 1; t < of_.scales; ++t) {
            eliminate(t);
            __syncthreads();
        }
        for (int t = of_.scales - 1; t >= 0; --t) {
            substitute(t);
            __syncthreads();
        }
        for (int w = threadIdx.x; w < of_.pieces.wides; w += threads) {
            of_.shift[of_.forest.at(of_.pieces.wide_scale[w], of_.pieces.wide[w], k)] = shift_[w];
        }
    }

  private:
    __device__ void bring(WideBuffer& buffer) {
        for (int w = threadIdx.x; w < of_.pieces.wides; w += threads) {
            buffer.size[w] = of_.pieces.wide_size[w];
            buffer.parent[w] = of_.pieces.wide_parent[w];
        }
        for (int w = threadIdx.x; w <= of_.pieces.wides; w += threads) {
            buffer.inside[w] = of_.pieces.wide_inside[w];
        }
        for (int t = threadIdx.x; t <= of_.scales; t += threads) {
            buffer.level[t] = of_.pieces.wide_level[t];
            buffer.before[t] = of_.penalties.before[t];
        }
    }

    __device__ void eliminate(int t) {
        const std::int32_t end = level_[t + 1];
        const double before = before_[t];
        const auto handed = [&](std::int32_t e) {
            return hand_on(solved_[e], before * static_cast<double>(size_[e]));
        };
        for (std::int32_t first = level_[t]; first < end; first += threads) {
            const std::int32_t w = first + static_cast<std::int32_t>(threadIdx.x);
            const bool there = w < end;
            const Eliminated sum = sum_children(there ? inside_[w] : 0, there ? inside_[w + 1] : 0, handed);
            if (there) {
                add(solved_[w], sum);
            }
        }
    }

    __device__ void substitute(int t) {
        const bool has_parent = t + 1 < of_.scales;
        const double after = before_[t + 1];
        const std::int32_t end = level_[t + 1];
        for (std::int32_t w = level_[t] + static_cast<std::int32_t>(threadIdx.x); w < end; w += threads) {
            const double above = has_parent ? shift_[parent_[w]] : 0.0;
            const Eliminated solved = solved_[w];
            const double pull = solved.right + after * static_cast<double>(size_[w]) * above;
            shift_[w] = fmax(solved.pivot > 0.0 ? pull / solved.pivot : 0.0, -least_[w]);
        }
    }

    const ShiftArguments<Real>& of_;
    bool at_hand_;
    Eliminated* solved_;
    const double* least_;
    double* shift_;
    const std::int32_t* size_;
    const std::int32_t* parent_;
    const std::int32_t* inside_;
    const std::int32_t* level_;
    const double* before_;
};

} // namespace pnmf::cuda
