#include "devices/cuda/reduce.cuh"
#include "devices/cuda/row_shifts.cuh"
#include "devices/cuda/wide_shift.cuh"

#include <cooperative_groups.h>

#include <algorithm>

namespace pnmf::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int blocks_of_processor = 3; // what the registers of a thread leave memory for
constexpr int rows_of_group = 6;
constexpr int at_once = 2; // components of a thread whose numbers are fetched together

/// The forest's quadratic for one row of H after another, and its minimiser (`RowShift` of the CPU). Each
/// block of threads solves the narrow components of its piece; wide ones are solved by the first block. So
/// all blocks wait for each other only four times a row, however many scales there are.
///
/// Row k needs S + |C| Σ_{l<k} (WᵀW)_kl a_l, the sums S after the rows before it have moved. What rows of
/// earlier groups add is put into S for all rows of a group at once, so that their shifts are read once a
/// group; what rows of the same group add, row by row.
template <class Real>
class RowShift {
  public:
    __device__ RowShift(const ShiftArguments<Real>& of, cg::grid_group grid, WideBuffer& buffer,
                        double* length)
        : of_(of), grid_(grid), buffer_(buffer), wide_(of, buffer), length_(length) {}

    __device__ void solve_group(int begin, int end) {
        begin_ = begin;
        if (begin > 0) {
            grid_.sync();
            move_gradients(end);
            grid_.sync();
        }
        for (int k = begin; k < end; ++k) {
            solve(k);
        }
    }

  private:
    /// What the components of a piece share at one scale. Fetched a scale ahead.
    struct Step {
        std::int64_t level;
        std::int32_t begin;
        std::int32_t end;
        double own; ///< curvature of a cell
        double before;
        double after;
    };

    __device__ Step step_of(int t, int k) const {
        const std::int32_t* const narrow = narrow_of(t);
        return {
            of_.forest.level[t],        narrow[0], narrow[1], own_curvature(t, k), of_.penalties.before[t],
            of_.penalties.before[t + 1]};
    }
    __device__ const std::int32_t* narrow_of(int t) const {
        return of_.pieces.narrow + 2 * (static_cast<std::int64_t>(blockIdx.x) * of_.scales + t);
    }
    __device__ const Real* gram(int t, int k) const {
        return of_.WtW + (static_cast<std::int64_t>(t) * of_.rank + k) * of_.rank;
    }
    __device__ double own_curvature(int t, int k) const {
        return static_cast<double>(gram(t, k)[k]) + of_.penalties.anchor[t];
    }
    /// Of narrow components to the wide component that begins before the piece (side 0), or in it (side 1).
    __device__ std::int64_t place_of_handed(int t, int side, std::int64_t piece) const {
        return (2 * static_cast<std::int64_t>(t) + side) * gridDim.x + piece;
    }

    __device__ void solve(int k) {
        eliminate(k);
        if (of_.pieces.wides > 0) {
            hand_to_wide();
            grid_.sync();
            collect_wide(k);
            grid_.sync();
            if (blockIdx.x == 0) {
                wide_.solve(buffer_, k);
            }
            grid_.sync();
        }
        double linear = 0.0;
        double curvature = 0.0;
        substitute(k, linear, curvature);
        along_wide(k, linear, curvature);
        const double length = best_length(k, linear, curvature);
        if (threadIdx.x == 0) {
            length_[k - begin_] = length;
            if (blockIdx.x == 0) {
                of_.length[k] = length;
            }
        }
        __syncthreads();
    }

    /// S of the rows of this group, up to `end`, after all rows before the group have moved.
    __device__ void move_gradients(int end) {
        for (int t = 0; t < of_.scales; ++t) {
            const std::int64_t count = of_.forest.count(t);
            for (std::int64_t c = grid_.thread_rank(); c < count; c += grid_.size()) {
                double moved[rows_of_group] = {};
#pragma unroll 2
                for (int l = 0; l < begin_; ++l) {
                    const double a = of_.length[l] * of_.shift[of_.forest.at(t, c, l)];
#pragma unroll
                    for (int i = 0; i < rows_of_group; ++i) {
                        if (begin_ + i < end) {
                            moved[i] += static_cast<double>(gram(t, begin_ + i)[l]) * a;
                        }
                    }
                }
                const double size = of_.forest.size(t, c);
#pragma unroll
                for (int i = 0; i < rows_of_group; ++i) {
                    if (begin_ + i < end) {
                        of_.gradient[of_.forest.at(t, c, begin_ + i)] += size * moved[i];
                    }
                }
            }
        }
    }

    /// Finest scale first: each narrow component is left with its own curvature and pull and what its
    /// children hand on.
    __device__ void eliminate(int k) {
        const int scales = of_.pieces.narrow_scales[blockIdx.x];
        std::int64_t below = 0;
        Step step = step_of(0, k);
        for (int t = 0; t < scales; ++t) {
            const Step next = step_of(min(t + 1, of_.scales - 1), k);
            for (std::int32_t first = step.begin; first < step.end; first += threads * at_once) {
                eliminate_some(t, k, step, below, first + static_cast<std::int32_t>(threadIdx.x));
            }
            __syncthreads();
            below = step.level;
            step = next;
        }
    }

    /// Components `first` and on, `threads` apart. All threads of a block call it.
    __device__ void eliminate_some(int t, int k, const Step& step, std::int64_t below, std::int32_t first) {
        const std::int32_t* const first_cell = of_.forest.first_cell + step.level + t;
        const std::int32_t* const first_child = of_.forest.first_child + step.level + t;
        double* const gradients = of_.gradient + k * of_.forest.components + step.level;
        bool there[at_once];
        std::int32_t child[at_once];
        std::int32_t past[at_once];
        double size[at_once];
        double gradient[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const std::int32_t c = first + i * threads;
            there[i] = c < step.end;
            child[i] = there[i] ? first_child[c] : 0;
            past[i] = there[i] ? first_child[c + 1] : 0;
            size[i] = there[i] ? static_cast<double>(first_cell[c + 1] - first_cell[c]) : 0.0;
            gradient[i] = there[i] ? gradients[c] : 0.0;
        }
        if (k > begin_) { // the rows of the group before this one have moved
            double moved[at_once] = {};
            for (int l = begin_; l < k; ++l) {
                const double factor = static_cast<double>(gram(t, k)[l]) * length_[l - begin_];
                const double* const shift = of_.shift + l * of_.forest.components + step.level;
#pragma unroll
                for (int i = 0; i < at_once; ++i) {
                    moved[i] += there[i] ? factor * shift[first + i * threads] : 0.0;
                }
            }
#pragma unroll
            for (int i = 0; i < at_once; ++i) {
                if (there[i]) {
                    gradient[i] += size[i] * moved[i];
                    gradients[first + i * threads] = gradient[i];
                }
            }
        }
        const auto handed = [&](std::int32_t e) { return handed_on(t, step.before, below, e); };
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const Eliminated sum = sum_children(child[i], past[i], handed);
            if (there[i]) {
                of_.eliminated[step.level + first + i * threads] = {
                    sum.pivot + (step.own + step.after) * size[i], sum.right - gradient[i]};
            }
        }
    }

    /// What component e of scale t − 1, whose components begin at `below`, hands on.
    __device__ Eliminated handed_on(int t, double before, std::int64_t below, std::int32_t e) const {
        const std::int32_t* const cells = of_.forest.first_cell + below + (t - 1) + e;
        return hand_on(of_.eliminated[below + e], before * static_cast<double>(cells[1] - cells[0]));
    }

    /// Sums of what narrow components hand on to the wide ones that the piece begins and ends in, a warp for
    /// each. At coarser scales than these nothing is narrow and the sums stay zero.
    __device__ void hand_to_wide() {
        const int scales = min(of_.pieces.narrow_scales[blockIdx.x], of_.scales - 1);
        const int lane = threadIdx.x % lanes;
        for (int i = threadIdx.x / lanes; i < 2 * scales; i += warps) {
            const int t = i / 2 + 1;
            const int side = i % 2;
            const std::int32_t* const inside = narrow_of(t - 1);
            const std::int32_t* const narrow = narrow_of(t);
            const std::int32_t* const first_child = of_.forest.first_child + of_.forest.level[t] + t;
            const std::int32_t begin = side == 0 ? inside[0] : max(inside[0], first_child[narrow[1]]);
            const std::int32_t end = side == 0 ? min(inside[1], first_child[narrow[0]]) : inside[1];
            const double before = of_.penalties.before[t];
            const std::int64_t below = of_.forest.level[t - 1];
            Eliminated sum{0.0, 0.0};
#pragma unroll 2
            for (std::int32_t e = begin + lane; e < end; e += lanes) {
                add(sum, handed_on(t, before, below, e));
            }
            sum = sum_over_warp(sum);
            if (lane == 0) {
                of_.handed[place_of_handed(t, side, blockIdx.x)] = sum;
            }
        }
    }

    /// Of each wide component what is its own and what narrow ones hand on, by a warp.
    __device__ void collect_wide(int k) {
        const int lane = threadIdx.x % lanes;
        const int step = static_cast<int>(gridDim.x) * warps;
        for (int w = static_cast<int>(blockIdx.x) + static_cast<int>(gridDim.x) * (threadIdx.x / lanes);
             w < of_.pieces.wides; w += step) {
            const int t = of_.pieces.wide_scale[w];
            const std::int32_t c = of_.pieces.wide[w];
            const std::int32_t piece = of_.pieces.wide_first_piece[w];
            const std::int32_t last = of_.pieces.wide_last_piece[w];
            const bool begins_inside =
                of_.forest.first_cell[of_.forest.level[t] + t + c] > of_.pieces.first_place[piece];
            Eliminated sum{0.0, 0.0};
            for (std::int32_t p = piece + lane; p <= last; p += lanes) {
                add(sum, of_.handed[place_of_handed(t, p == piece && begins_inside ? 1 : 0, p)]);
            }
            sum = sum_over_warp(sum);
            if (lane == 0) {
                const double own = own_curvature(t, k) + of_.penalties.before[t + 1];
                of_.wide[w] = {sum.pivot + own * static_cast<double>(of_.pieces.wide_size[w]),
                               sum.right - moved_gradient(t, c, k)};
                of_.wide_least[w] = static_cast<double>(of_.least[of_.forest.at(t, c, k)]);
            }
        }
    }

    /// S of row k of one component after the rows before it have moved.
    __device__ double moved_gradient(int t, std::int64_t c, int k) {
        const std::int64_t at = of_.forest.at(t, c, k);
        double sum = of_.gradient[at];
        if (k > begin_) {
            double moved = 0.0;
            for (int l = begin_; l < k; ++l) {
                moved += static_cast<double>(gram(t, k)[l]) * length_[l - begin_] *
                         of_.shift[of_.forest.at(t, c, l)];
            }
            sum += of_.forest.size(t, c) * moved;
            of_.gradient[at] = sum;
        }
        return sum;
    }

    /// Coarsest scale first; parents may be wide. Also sums of linear·θ + ½·curvature·θ² along the shift.
    __device__ void substitute(int k, double& linear, double& curvature) {
        const int scales = of_.pieces.narrow_scales[blockIdx.x];
        Step step = step_of(max(scales - 1, 0), k);
        for (int t = scales - 1; t >= 0; --t) {
            const Step next = step_of(max(t - 1, 0), k);
            const std::int64_t above = t + 1 < of_.scales ? of_.forest.level[t + 1] : -1;
            for (std::int32_t first = step.begin + static_cast<std::int32_t>(threadIdx.x); first < step.end;
                 first += threads * at_once) {
                substitute_some(t, k, step, above, first, linear, curvature);
            }
            __syncthreads();
            step = next;
        }
    }

    /// Components `first` and on, `threads` apart; those of the next coarser scale begin at `above_level`.
    __device__ void substitute_some(int t, int k, const Step& step, std::int64_t above_level,
                                    std::int32_t first, double& linear, double& curvature) {
        const std::int32_t* const first_cell = of_.forest.first_cell + step.level + t;
        const std::int64_t row = k * of_.forest.components;
        const bool has_parent = above_level >= 0;
        bool there[at_once];
        Eliminated solved[at_once];
        double size[at_once];
        double above[at_once];
        double least[at_once];
        double gradient[at_once];
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            const std::int32_t c = first + i * threads;
            there[i] = c < step.end;
            if (there[i]) {
                const std::int64_t at = step.level + c;
                above[i] = has_parent ? of_.shift[row + above_level + of_.forest.parent[at]] : 0.0;
                solved[i] = of_.eliminated[at];
                size[i] = static_cast<double>(first_cell[c + 1] - first_cell[c]);
                least[i] = static_cast<double>(of_.least[row + at]);
                gradient[i] = of_.gradient[row + at];
            }
        }
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            if (there[i]) {
                const double pull = solved[i].right + step.after * size[i] * above[i];
                const double free = solved[i].pivot > 0.0 ? pull / solved[i].pivot : 0.0;
                const double a = fmax(free, -least[i]);
                of_.shift[row + step.level + first + i * threads] = a;
                linear += gradient[i] * a;
                curvature += step.own * size[i] * a * a;
                if (has_parent) {
                    curvature += step.after * size[i] * (a - above[i]) * (a - above[i]);
                }
            }
        }
    }

    /// What wide components add to the same sums, a thread of the whole device for each.
    __device__ void along_wide(int k, double& linear, double& curvature) const {
        for (std::int64_t w = grid_.thread_rank(); w < of_.pieces.wides; w += grid_.size()) {
            const int t = of_.pieces.wide_scale[w];
            const std::int32_t c = of_.pieces.wide[w];
            const std::int64_t at = of_.forest.at(t, c, k);
            const double a = of_.shift[at];
            const auto size = static_cast<double>(of_.pieces.wide_size[w]);
            linear += of_.gradient[at] * a;
            curvature += own_curvature(t, k) * size * a * a;
            if (t + 1 < of_.scales) {
                const std::int32_t parent = of_.forest.parent[of_.forest.level[t] + c];
                const double step = a - of_.shift[of_.forest.at(t + 1, parent, k)];
                curvature += of_.penalties.before[t + 1] * size * step * step;
            }
        }
    }

    /// The minimiser θ in [0, 1] of linear·θ + ½·curvature·θ² along the shift, known to every thread. A block
    /// may be a row ahead of another that still reads: even and odd rows have sums of their own.
    __device__ double best_length(int k, double linear, double curvature) {
        double* const along = of_.along + k % 2 * 2 * static_cast<std::int64_t>(gridDim.x);
        linear = sum_over_block<threads>(linear);
        curvature = sum_over_block<threads>(curvature);
        if (threadIdx.x == 0) {
            along[2 * blockIdx.x] = linear;
            along[2 * blockIdx.x + 1] = curvature;
        }
        grid_.sync();
        linear = 0.0;
        curvature = 0.0;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += threads) {
            linear += along[2 * b];
            curvature += along[2 * b + 1];
        }
        linear = sum_over_block<threads>(linear);
        curvature = sum_over_block<threads>(curvature);
        return curvature > 0.0 ? fmin(fmax(-linear / curvature, 0.0), 1.0) : 0.0;
    }

    const ShiftArguments<Real>& of_;
    cg::grid_group grid_;
    WideBuffer& buffer_;
    WideShift<Real> wide_;
    double* length_; ///< of the rows of this group, in the memory of the block
    int begin_ = 0;  ///< the first row of the group
};

template <class Real>
__global__ void __launch_bounds__(threads, blocks_of_processor) solve_pieces(ShiftArguments<Real> of) {
    __shared__ WideBuffer buffer;
    __shared__ double length[rows_of_group];
    RowShift<Real> rows(of, cg::this_grid(), buffer, length);
    for (int begin = 0; begin < of.rank; begin += rows_of_group) {
        rows.solve_group(begin, min(begin + rows_of_group, of.rank));
    }
}

} // namespace

template <class Real>
std::int64_t most_pieces() {
    int device = 0;
    int processors = 0;
    int fitting = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "asking for its size");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, solve_pieces<Real>, threads, 0),
          "asking how many blocks fit");
    return static_cast<std::int64_t>(processors) * std::clamp(fitting, 1, blocks_of_processor);
}

template <class Real>
void solve_rows(ShiftArguments<Real> of, std::int64_t pieces) {
    void* arguments[] = {&of};
    check(cudaLaunchCooperativeKernel(solve_pieces<Real>, dim3(static_cast<unsigned>(pieces)), dim3(threads),
                                      arguments, 0, nullptr),
          "shifts of components");
}

template std::int64_t most_pieces<float>();
template std::int64_t most_pieces<double>();
template void solve_rows(ShiftArguments<float>, std::int64_t);
template void solve_rows(ShiftArguments<double>, std::int64_t);

} // namespace pnmf::cuda
