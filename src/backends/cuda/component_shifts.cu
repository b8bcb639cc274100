#include "backends/cuda/component_sums.cuh"
#include "backends/cuda/merge_order.hpp"
#include "backends/cuda/reduce.cuh"
#include "backends/cuda/transpose.cuh"

#include <cooperative_groups.h>

#include <algorithm>

namespace pnmf::cuda {
namespace {

namespace cg = cooperative_groups;

constexpr int threads = 256;

constexpr int blocks_of_processor = 3; // what the registers of a thread leave room for
constexpr int rows_of_group = 6;

template <class Real>
struct ShiftArguments {
    int scales;
    int rank;
    Forest forest;
    ExactPenalties penalties;
    const Real* WtW;
    double* gradient;
    double* shift; ///< before it is cut to the best length of its row
    const Real* least;
    double* pivot;
    double* right;
    double* along;
    double* length; ///< of each row
};

/// The forest's quadratic for one row of H after another, and its minimiser (`RowShift` of the CPU), by all
/// threads of the device together. Component c of a scale is always the same thread's, but where a component
/// has many parts at the next finer scale: those are added up by a whole block.
///
/// Row k needs S + |C| Σ_{l<k} (WᵀW)_kl a_l, the sums S after the rows before it have moved. What rows of
/// earlier groups add is put into S for all rows of a group at once, so that their shifts are read once a
/// group; what rows of the same group add, row by row.
template <class Real>
class RowShift {
  public:
    __device__ RowShift(const ShiftArguments<Real>& of, cg::grid_group grid)
        : of_(of), grid_(grid), first_(grid.thread_rank()), step_(grid.size()) {}

    __device__ void solve_group(int begin, int end) {
        begin_ = begin;
        if (begin > 0) {
            move_gradients(end);
            grid_.sync();
        }
        for (int k = begin; k < end; ++k) {
            solve(k);
        }
    }

  private:
    __device__ void solve(int k) {
        for (int t = 0; t < of_.scales; ++t) {
            eliminate(t, k);
            grid_.sync();
        }
        double linear = 0.0;
        double curvature = 0.0;
        for (int t = of_.scales - 1; t >= 0; --t) {
            substitute(t, k, linear, curvature);
            grid_.sync();
        }
        const double length = best_length(linear, curvature);
        if (first_ == 0) {
            of_.length[k] = length;
        }
        grid_.sync();
    }

    __device__ const Real* gram(int t, int k) const {
        return of_.WtW + (static_cast<std::int64_t>(t) * of_.rank + k) * of_.rank;
    }
    __device__ double own_curvature(int t, int k) const {
        return static_cast<double>(gram(t, k)[k]) + of_.penalties.anchor[t];
    }

    /// S of the rows of this group, up to `end`, after all rows before the group have moved.
    __device__ void move_gradients(int end) {
        for (int t = 0; t < of_.scales; ++t) {
            for (std::int64_t c = first_; c < of_.forest.count(t); c += step_) {
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

    /// S of row k after the rows before it have moved.
    __device__ double moved_gradient(int t, std::int64_t c, int k) {
        const std::int64_t at = of_.forest.at(t, c, k);
        double sum = of_.gradient[at];
        if (k > begin_) {
            const Real* const row = gram(t, k);
            double moved = 0.0;
            for (int l = begin_; l < k; ++l) {
                moved += static_cast<double>(row[l]) * of_.length[l] * of_.shift[of_.forest.at(t, c, l)];
            }
            sum += of_.forest.size(t, c) * moved;
            of_.gradient[at] = sum;
        }
        return sum;
    }

    /// What child e of the next finer scale, its shift eliminated, hands on.
    __device__ void add_child(int t, std::int64_t e, double& pivot, double& right) const {
        const double coupling = of_.penalties.before[t] * of_.forest.size(t - 1, e);
        const std::int64_t at = of_.forest.level[t - 1] + e;
        const double below = of_.pivot[at];
        const double ratio = below > 0.0 ? coupling / below : 0.0;
        pivot += coupling - coupling * ratio;
        right += of_.right[at] * ratio;
    }

    __device__ void put(int t, std::int64_t c, int k, double pivot, double right) {
        const double own = own_curvature(t, k) + of_.penalties.before[t + 1];
        const std::int64_t at = of_.forest.level[t] + c;
        of_.right[at] = right - moved_gradient(t, c, k);
        of_.pivot[at] = pivot + own * of_.forest.size(t, c);
    }

    __device__ void eliminate(int t, int k) {
        const std::int32_t* const child = of_.forest.first_child + of_.forest.level[t] + t;
        for (std::int64_t c = first_; c < of_.forest.count(t); c += step_) {
            if (child[c + 1] - child[c] > MergeOrder::many) {
                continue;
            }
            double pivot = 0.0;
            double right = 0.0;
            for (std::int64_t e = child[c]; e < child[c + 1]; ++e) {
                add_child(t, e, pivot, right);
            }
            put(t, c, k, pivot, right);
        }
        for (std::int64_t i = of_.forest.large_level[t] + blockIdx.x; i < of_.forest.large_level[t + 1];
             i += gridDim.x) {
            const std::int32_t c = of_.forest.large[i];
            double pivot = 0.0;
            double right = 0.0;
            for (std::int64_t e = child[c] + threadIdx.x; e < child[c + 1]; e += threads) {
                add_child(t, e, pivot, right);
            }
            pivot = sum_over_block<threads>(pivot);
            right = sum_over_block<threads>(right);
            if (threadIdx.x == 0) {
                put(t, c, k, pivot, right);
            }
        }
    }

    __device__ void substitute(int t, int k, double& linear, double& curvature) {
        const bool has_parent = t + 1 < of_.scales;
        const double own = own_curvature(t, k);
        const double after = of_.penalties.before[t + 1];
        for (std::int64_t c = first_; c < of_.forest.count(t); c += step_) {
            const std::int64_t component = of_.forest.level[t] + c;
            const std::int64_t at = of_.forest.at(t, c, k);
            const double size = of_.forest.size(t, c);
            const double above =
                has_parent ? of_.shift[of_.forest.at(t + 1, of_.forest.parent[component], k)] : 0.0;
            const double pivot = of_.pivot[component];
            const double pull = of_.right[component] + after * size * above;
            const double free = pivot > 0.0 ? pull / pivot : 0.0;
            const double a = fmax(free, -static_cast<double>(of_.least[at]));
            of_.shift[at] = a;
            linear += of_.gradient[at] * a;
            curvature += own * size * a * a;
            if (has_parent) {
                curvature += after * size * (a - above) * (a - above);
            }
        }
    }

    /// The minimiser θ in [0, 1] of linear·θ + ½·curvature·θ² along the shift, known to every thread.
    __device__ double best_length(double linear, double curvature) {
        linear = sum_over_block<threads>(linear);
        curvature = sum_over_block<threads>(curvature);
        if (threadIdx.x == 0) {
            of_.along[2 * blockIdx.x] = linear;
            of_.along[2 * blockIdx.x + 1] = curvature;
        }
        grid_.sync();
        linear = 0.0;
        curvature = 0.0;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += threads) {
            linear += of_.along[2 * b];
            curvature += of_.along[2 * b + 1];
        }
        linear = sum_over_block<threads>(linear);
        curvature = sum_over_block<threads>(curvature);
        return curvature > 0.0 ? fmin(fmax(-linear / curvature, 0.0), 1.0) : 0.0;
    }

    const ShiftArguments<Real>& of_;
    cg::grid_group grid_;
    std::int64_t first_;
    std::int64_t step_;
    int begin_ = 0; ///< the first row of the group
};

template <class Real>
__global__ void __launch_bounds__(threads, blocks_of_processor) solve_rows(ShiftArguments<Real> of) {
    RowShift<Real> rows(of, cg::this_grid());
    for (int begin = 0; begin < of.rank; begin += rows_of_group) {
        rows.solve_group(begin, min(begin + rows_of_group, of.rank));
    }
}

/// A shift of the best length of its row.
template <class Real>
struct CutShift {
    const double* length;
    __device__ Real operator()(std::int64_t k, double shift) const {
        return static_cast<Real>(length[k] * shift);
    }
};

/// H and HA of every cell by the shift of its component.
template <class Real>
__global__ void move_cells(Shape shape, Forest forest, const Real* moves, const Real* degree, Real* H,
                           Real* HA) {
    const std::int64_t r = blockIdx.y * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (r >= shape.rows()) {
        return;
    }
    const std::int64_t t = r / shape.rank;
    const std::int64_t k = r % shape.rank;
    for (std::int64_t j = blockIdx.x; j < shape.cells; j += gridDim.x) {
        const std::int64_t c = forest.level[t] + forest.component[j * shape.scales + t];
        const Real move = moves[c * shape.rank + k];
        const std::int64_t at = j * shape.stride() + r;
        H[at] = max(Real{0}, H[at] + move);
        HA[at] += move * degree[j * shape.scales + t];
    }
}

/// Blocks of threads that work together: enough for the largest scale, and not more than fit at once.
template <class Real>
unsigned blocks_together(std::int64_t most_components) {
    int device = 0;
    int processors = 0;
    int at_once = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "asking for its size");
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, solve_rows<Real>, threads, 0),
          "asking how many blocks fit");
    const std::int64_t fitting =
        static_cast<std::int64_t>(processors) * std::min(at_once, blocks_of_processor);
    return static_cast<unsigned>(std::clamp<std::int64_t>(blocks_of(most_components, threads), 1, fitting));
}

} // namespace

template <class Real>
double ComponentShifts<Real>::bytes_of_work(const Shape& shape, double components) {
    const auto rank = static_cast<double>(shape.rank);
    const auto cells = static_cast<double>(shape.cells);
    const double parts = 2.0 * shape.scales * static_cast<double>(blocks_of(shape.cells, places_of_block));
    return (components + parts) * rank * (8.0 + sizeof(Real)) + components * (rank * 8.0 + 16.0 + 16.0) +
           cells * (shape.scales + 1.0) * 4.0;
}

template <class Real>
void ComponentShifts<Real>::prepare(const Shape& shape, const MergeOrder& order) {
    shape_ = shape;
    cell_.upload(order.cell);
    component_.upload(order.component);
    level_.upload(order.level);
    first_cell_.upload(order.first_cell);
    first_child_.upload(order.first_child);
    parent_.upload(order.parent);
    large_.upload(order.large);
    large_level_.upload(order.large_level);
    const std::int64_t components = order.level.back();
    gradient_.allocate(components * shape.rank);
    shift_.allocate(components * shape.rank);
    least_.allocate(components * shape.rank);
    pivot_.allocate(components);
    right_.allocate(components);
    const std::int64_t parts = 2 * shape.scales * blocks_of(shape.cells, places_of_block);
    part_gradient_.allocate(parts * shape.rank);
    part_least_.allocate(parts * shape.rank);
    std::int64_t most = 1;
    for (std::size_t t = 0; t + 1 < order.level.size(); ++t) {
        most = std::max(most, order.level[t + 1] - order.level[t]);
    }
    blocks_ = blocks_together<Real>(most);
    along_.allocate(2 * static_cast<std::int64_t>(blocks_));
    length_.allocate(shape.rank);
}

template <class Real>
void ComponentShifts<Real>::run(const Penalties<Real>& penalties, const ExactPenalties& exact,
                                const ProductsView<Real>& products, Real* H) {
    const Forest forest{cell_.get(),       component_.get(),   level_.get(),
                        first_cell_.get(), first_child_.get(), parent_.get(),
                        large_.get(),      large_level_.get(), pivot_.size()};
    sum_components(
        shape_, forest, penalties, products, static_cast<const Real*>(H),
        ComponentSums<Real>{gradient_.get(), least_.get(), part_gradient_.get(), part_least_.get()});
    ShiftArguments<Real> of{shape_.scales, shape_.rank,     forest,       exact,
                            products.WtW,  gradient_.get(), shift_.get(), least_.get(),
                            pivot_.get(),  right_.get(),    along_.get(), length_.get()};
    void* arguments[] = {&of};
    check(cudaLaunchCooperativeKernel(solve_rows<Real>, dim3(blocks_), dim3(threads), arguments, 0, nullptr),
          "shifts of components");
    auto* const moves = reinterpret_cast<Real*>(gradient_.get()); // it is done with
    transpose(shift_.get(), forest.components, shape_.rank, forest.components, moves, shape_.rank,
              CutShift<Real>{length_.get()}); // the rows of a component side by side
    const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(shape_.cells, 1 << 16)),
                    static_cast<unsigned>(blocks_of(shape_.rows(), threads)));
    move_cells<<<grid, threads>>>(shape_, forest, static_cast<const Real*>(moves), products.degree, H,
                                  products.HA);
    check_launch("moving components");
}

template class ComponentShifts<float>;
template class ComponentShifts<double>;

} // namespace pnmf::cuda
