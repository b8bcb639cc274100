#include "devices/cuda/narrow_shifts.hpp"
#include "devices/cuda/reduce.cuh"
#include "devices/cuda/wide_shift.cuh"

namespace pnmf::cuda {
namespace {

constexpr int most_rows = 8; // of a group, whose earlier moves are added at once

/// One scale of the narrow components.
template <class Real>
struct NarrowScale {
    const NarrowArguments<Real>& of;
    int t;
    std::int64_t slots;
    std::int64_t sums; ///< where those of the scale begin
    std::int64_t node;

    __device__ NarrowScale(const NarrowArguments<Real>& arguments, int scale)
        : of(arguments), t(scale), slots(of.forest.level[t + 1] - of.forest.level[t]),
          sums(of.forest.level[t] * of.forest.rank), node(of.forest.node[t]) {}

    __device__ std::int64_t at(std::int64_t c, int k) const { return sums + k * slots + c; }
    __device__ std::int64_t narrow() const { return of.forest.node[t + 1] - node; }
    __device__ double size(std::int64_t c) const { return static_cast<double>(of.forest.size[node + c]); }
    __device__ double gram(int k, int l) const {
        return static_cast<double>(
            of.WtW[(static_cast<std::int64_t>(t) * of.forest.rank + k) * of.forest.rank + l]);
    }
    __device__ double own_curvature(int k) const { return gram(k, k) + of.penalties.anchor[t]; }
};

template <class Real>
__global__ void __launch_bounds__(threads) move_gradients(NarrowArguments<Real> of, int first, int count) {
    const NarrowScale<Real> scale(of, static_cast<int>(blockIdx.y));
    const std::int64_t c = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (c >= scale.narrow()) {
        return;
    }
    double moved[most_rows] = {};
    for (int l = 0; l < first; ++l) {
        const double a = of.length[l] * of.shift[scale.at(c, l)];
#pragma unroll
        for (int i = 0; i < most_rows; ++i) {
            if (i < count) {
                moved[i] += scale.gram(first + i, l) * a;
            }
        }
    }
#pragma unroll
    for (int i = 0; i < most_rows; ++i) {
        if (i < count) {
            of.gradient[scale.at(c, first + i)] += scale.size(c) * moved[i];
        }
    }
}

/// The narrow components of one block of cells, finest scale first.
template <class Real>
__global__ void __launch_bounds__(threads) eliminate_blocks(NarrowArguments<Real> of, int first, int k) {
    const NarrowForest& forest = of.forest;
    for (int t = 0; t < forest.scales; ++t) {
        const NarrowScale<Real> scale(of, t);
        const std::int32_t* const begin = forest.first_narrow + t * (forest.blocks + 1) + blockIdx.x;
        const double own = scale.own_curvature(k) + of.penalties.before[t + 1];
        const double before = of.penalties.before[t];
        const std::int64_t below = t > 0 ? forest.node[t - 1] : 0;
        const auto handed = [&](std::int32_t e) {
            const std::int64_t child = below + forest.children[e];
            return hand_on(of.eliminated[child], before * static_cast<double>(forest.size[child]));
        };
        for (std::int32_t base = begin[0]; base < begin[1]; base += threads) {
            const std::int32_t c = base + static_cast<std::int32_t>(threadIdx.x);
            const bool there = c < begin[1];
            const std::int32_t* const child = forest.first_child + scale.node + t + c;
            const Eliminated sum = sum_children(there ? child[0] : 0, there ? child[1] : 0, handed);
            if (there) {
                double moved = 0.0;
                for (int l = first; l < k; ++l) {
                    moved += scale.gram(k, l) * of.length[l] * of.shift[scale.at(c, l)];
                }
                const double size = scale.size(c);
                const double gradient = of.gradient[scale.at(c, k)] + size * moved;
                of.gradient[scale.at(c, k)] = gradient;
                of.eliminated[scale.node + c] = {sum.pivot + own * size, sum.right - gradient};
            }
        }
        __syncthreads();
    }
}

/// What goes to one entry of a wide component, by a warp.
template <class Real>
__global__ void __launch_bounds__(threads) hand_to_entries(NarrowArguments<Real> of) {
    const NarrowForest& forest = of.forest;
    const std::int64_t entry =
        blockIdx.x * static_cast<std::int64_t>(warps) + static_cast<int>(threadIdx.x) / lanes;
    if (entry >= forest.entries) {
        return;
    }
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int t = forest.entry_scale[entry];
    const double before = of.penalties.before[t];
    const std::int64_t below = t > 0 ? forest.node[t - 1] : 0;
    Eliminated sum{0.0, 0.0};
    for (std::int32_t i = forest.first_inside[entry] + lane; i < forest.first_inside[entry + 1]; i += lanes) {
        const std::int64_t child = below + forest.inside[i];
        add(sum, hand_on(of.eliminated[child], before * static_cast<double>(forest.size[child])));
    }
    sum = sum_over_warp(sum);
    if (lane == 0) {
        of.handed[entry] = sum;
    }
}

/// The narrow components of one block of cells, coarsest scale first; parents may be wide.
template <class Real>
__global__ void __launch_bounds__(threads) substitute_blocks(NarrowArguments<Real> of, int k) {
    const NarrowForest& forest = of.forest;
    for (int t = forest.scales - 1; t >= 0; --t) {
        const NarrowScale<Real> scale(of, t);
        const bool has_parent = t + 1 < forest.scales;
        const NarrowScale<Real> above(of, has_parent ? t + 1 : t);
        const std::int32_t* const begin = forest.first_narrow + t * (forest.blocks + 1) + blockIdx.x;
        const double own = scale.own_curvature(k);
        const double after = of.penalties.before[t + 1];
        double linear = 0.0;
        double curvature = 0.0;
        for (std::int32_t c = begin[0] + static_cast<std::int32_t>(threadIdx.x); c < begin[1]; c += threads) {
            double parent = 0.0;
            if (has_parent) {
                const std::int64_t p = forest.parent[scale.node + c];
                const std::int64_t wide = p - above.narrow();
                parent = wide < 0 ? of.shift[above.at(p, k)] : of.wide_shift[forest.wide_level[t + 1] + wide];
            }
            const Eliminated solved = of.eliminated[scale.node + c];
            const double size = scale.size(c);
            const double pull = solved.right + after * size * parent;
            const double free = solved.pivot > 0.0 ? pull / solved.pivot : 0.0;
            const double a = fmax(free, -static_cast<double>(of.least[scale.at(c, k)]));
            of.shift[scale.at(c, k)] = a;
            linear += of.gradient[scale.at(c, k)] * a;
            curvature += own * size * a * a + (has_parent ? after * size * (a - parent) * (a - parent) : 0.0);
        }
        linear = sum_over_block<threads>(linear); // the block waits here, so that finer scales find this one
        curvature = sum_over_block<threads>(curvature);
        if (threadIdx.x == 0) {
            double* const along = of.along + 2 * (t * forest.blocks + blockIdx.x);
            along[0] = linear;
            along[1] = curvature;
        }
    }
}

template <class Real>
__global__ void __launch_bounds__(threads) cut_shifts(NarrowArguments<Real> of, Real* moves) {
    const NarrowScale<Real> scale(of, static_cast<int>(blockIdx.y));
    const std::int64_t c = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (c >= scale.narrow()) {
        return;
    }
    Real* const out = moves + (of.forest.level[scale.t] + c) * of.forest.rank;
    for (int k = 0; k < of.forest.rank; ++k) {
        out[k] = static_cast<Real>(of.length[k] * of.shift[scale.at(c, k)]);
    }
}

/// A thread for each component of a scale, of the scale that has most.
template <class Real>
dim3 grid_of_nodes(const NarrowArguments<Real>& of, std::int64_t most) {
    return dim3(static_cast<unsigned>(blocks_of(most, threads)), static_cast<unsigned>(of.forest.scales));
}

} // namespace

template <class Real>
void move_narrow_gradients(const NarrowArguments<Real>& of, std::int64_t most, int first, int count) {
    if (most > 0) {
        move_gradients<<<grid_of_nodes(of, most), threads>>>(of, first, count);
        check_launch("moving sums over components");
    }
}

template <class Real>
void eliminate_narrow(const NarrowArguments<Real>& of, int first, int k) {
    if (of.forest.blocks > 0) {
        eliminate_blocks<<<static_cast<unsigned>(of.forest.blocks), threads>>>(of, first, k);
        check_launch("eliminating components");
    }
    if (of.forest.entries > 0) {
        hand_to_entries<<<static_cast<unsigned>(blocks_of(of.forest.entries, warps)), threads>>>(of);
        check_launch("handing on to wide components");
    }
}

template <class Real>
void substitute_narrow(const NarrowArguments<Real>& of, int k) {
    if (of.forest.blocks > 0) {
        substitute_blocks<<<static_cast<unsigned>(of.forest.blocks), threads>>>(of, k);
        check_launch("shifts of components");
    }
}

template <class Real>
void cut_narrow(const NarrowArguments<Real>& of, std::int64_t most, Real* moves) {
    if (most > 0) {
        cut_shifts<<<grid_of_nodes(of, most), threads>>>(of, moves);
        check_launch("cutting shifts");
    }
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void move_narrow_gradients(const NarrowArguments<Real>&, std::int64_t, int, int);               \
    template void eliminate_narrow(const NarrowArguments<Real>&, int, int);                                  \
    template void substitute_narrow(const NarrowArguments<Real>&, int);                                      \
    template void cut_narrow(const NarrowArguments<Real>&, std::int64_t, Real*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
