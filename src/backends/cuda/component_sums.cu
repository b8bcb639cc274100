#include "backends/cuda/column_product.cuh"
#include "backends/cuda/component_sums.cuh"
#include "backends/cuda/reduce.cuh"

#include <cmath>

namespace pnmf::cuda {
namespace {

constexpr int warps = 8;

/// What one warp knows of a run of cells: row k of the sums over the component it is in.
template <class Real>
struct Run {
    double gradient = 0.0;
    Real least = static_cast<Real>(INFINITY);

    __device__ void add(double g, Real h) {
        gradient += g;
        least = min(least, h);
    }
    __device__ void put(double* gradients, Real* leasts, std::int64_t at) {
        gradients[at] = gradient;
        leasts[at] = least;
        gradient = 0.0;
        least = static_cast<Real>(INFINITY);
    }
};

/// Half gradient of one number without the graph term, which sums to zero over a component; but for WᵀW·h,
/// which takes longer.
template <class Real>
__device__ Real gradient_at(const Shape& shape, const Penalties<Real>& penalties,
                            const ProductsView<Real>& products, const Real* H, int t, std::int64_t at) {
    const Real here = H[at];
    Real gradient = penalties.anchor[t] * here - products.WtX[at];
    if (t > 0) {
        gradient += penalties.before[t] * (here - H[at - shape.rank]);
    }
    if (t + 1 < shape.scales) {
        gradient += penalties.before[t + 1] * (here - H[at + shape.rank]);
    }
    return gradient;
}

/// One warp adds up a block of places at one scale, place after place; a thread has row k. Components that
/// end in the block and began in it are done. Of the others a block has at most two parts: at 2·block the one
/// that began before, at 2·block + 1 the one that begins here and goes on.
template <class Real, bool small>
__global__ void __launch_bounds__(warps* lanes_of_warp)
    sum_places(Shape shape, Forest forest, Penalties<Real> penalties, ProductsView<Real> products,
               const Real* H, ComponentSums<Real> sums, std::int64_t blocks) {
    extern __shared__ __align__(16) char memory[];
    const int warp = threadIdx.x / lanes_of_warp;
    const int lane = threadIdx.x % lanes_of_warp;
    const int t = blockIdx.y;
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * warps + warp;
    if (block >= blocks) {
        return;
    }
    const std::int64_t begin = block * places_of_block;
    const std::int64_t end = min(shape.cells, begin + places_of_block);
    const Real* const gram = products.WtW + static_cast<std::int64_t>(t) * shape.rank * shape.rank;
    const std::int32_t* const first_cell = forest.first_cell + forest.level[t] + t;
    const std::int64_t part = (static_cast<std::int64_t>(t) * blocks + block) * 2;
    using Column = GramTimesColumn<Real, small>;
    Column column(gram, shape.rank, lane, reinterpret_cast<Real*>(memory) + warp * Column::room(shape.rank));
    for (int first = 0; first < shape.rank; first += lanes_of_warp) {
        const int k = first + lane;
        Run<Real> run;
        std::int64_t j = forest.cell[begin];
        for (std::int64_t place = begin; place < end; ++place) {
            const std::int64_t next = forest.cell[min(place + 1, end - 1)];
            const std::int64_t at = j * shape.stride() + static_cast<std::int64_t>(t) * shape.rank;
            const std::int32_t c = forest.component[j * shape.scales + t];
            const Real rest =
                k < shape.rank ? gradient_at(shape, penalties, products, H, t, at + k) : Real{0};
            column.bring(H + at);
            j = next;
            if (k >= shape.rank) {
                continue;
            }
            run.add(static_cast<double>(column.times(k) + rest), column.at(k));
            const bool ends = first_cell[c + 1] == place + 1;
            if (ends && first_cell[c] >= begin) {
                run.put(sums.gradient, sums.least, forest.at(t, c, k));
            } else if (ends || place + 1 == end) {
                const std::int64_t to = first_cell[c] < begin ? part : part + 1;
                run.put(sums.part_gradient, sums.part_least, to * shape.rank + k);
            }
        }
    }
}

/// Components that reach over several blocks of places: the warp of the block where one begins adds its
/// parts.
template <class Real>
__global__ void __launch_bounds__(warps* lanes_of_warp)
    join_parts(Shape shape, Forest forest, ComponentSums<Real> sums, std::int64_t blocks) {
    const int lane = threadIdx.x % lanes_of_warp;
    const int t = blockIdx.y;
    const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * warps + threadIdx.x / lanes_of_warp;
    if (block >= blocks) {
        return;
    }
    const std::int64_t begin = block * places_of_block;
    const std::int64_t end = min(shape.cells, begin + places_of_block);
    const std::int32_t* const first_cell = forest.first_cell + forest.level[t] + t;
    const std::int32_t c =
        forest.component[static_cast<std::int64_t>(forest.cell[end - 1]) * shape.scales + t];
    if (first_cell[c] < begin || first_cell[c + 1] <= end) {
        return; // it began before, or ends here
    }
    const std::int64_t last = (first_cell[c + 1] - 1) / places_of_block;
    const std::int64_t parts = static_cast<std::int64_t>(t) * blocks * 2;
    for (int k = lane; k < shape.rank; k += lanes_of_warp) {
        const std::int64_t own = (parts + 2 * block + 1) * shape.rank + k;
        double gradient = sums.part_gradient[own];
        Real least = sums.part_least[own];
#pragma unroll 8
        for (std::int64_t b = block + 1; b <= last; ++b) {
            const std::int64_t at = (parts + 2 * b) * shape.rank + k;
            gradient += sums.part_gradient[at];
            least = min(least, sums.part_least[at]);
        }
        const std::int64_t to = forest.at(t, c, k);
        sums.gradient[to] = gradient;
        sums.least[to] = least;
    }
}

template <bool small, class Real>
void launch(const Shape& shape, const Forest& forest, const Penalties<Real>& penalties,
            const ProductsView<Real>& products, const Real* H, const ComponentSums<Real>& sums) {
    const std::int64_t blocks = blocks_of(shape.cells, places_of_block);
    const dim3 grid(static_cast<unsigned>(blocks_of(blocks, warps)), static_cast<unsigned>(shape.scales));
    const int room = warps * GramTimesColumn<Real, small>::room(shape.rank) * static_cast<int>(sizeof(Real));
    allow_memory_of_block(sum_places<Real, small>, room);
    sum_places<Real, small><<<grid, warps * lanes_of_warp, static_cast<std::size_t>(room)>>>(
        shape, forest, penalties, products, H, sums, blocks);
    check_launch("sums over components");
    join_parts<<<grid, warps * lanes_of_warp>>>(shape, forest, sums, blocks);
    check_launch("joining sums over components");
}

} // namespace

template <class Real>
void sum_components(const Shape& shape, const Forest& forest, const Penalties<Real>& penalties,
                    const ProductsView<Real>& products, const Real* H, const ComponentSums<Real>& sums) {
    if (shape.rank <= lanes_of_warp) {
        launch<true>(shape, forest, penalties, products, H, sums);
    } else {
        launch<false>(shape, forest, penalties, products, H, sums);
    }
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void sum_components(const Shape&, const Forest&, const Penalties<Real>&,                        \
                                 const ProductsView<Real>&, const Real*, const ComponentSums<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
