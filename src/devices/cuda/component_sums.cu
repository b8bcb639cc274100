#include "devices/cuda/column_product.cuh"
#include "devices/cuda/component_entries.cuh"
#include "devices/cuda/component_sums.cuh"

namespace pnmf::cuda {
namespace {

/// One warp adds up a block of places at one scale, place after place; a thread has row k. Components that
/// end in the block and began in it are done. Of the others a block has at most two parts: at 2·block the one
/// that began before, at 2·block + 1 the one that begins here and goes on. Components are numbered along the
/// order, so the next one is known without asking. Numbers of the next place are fetched while those of one
/// are added.
template <class Real, bool small>
__global__ void __launch_bounds__(WarpsOfScales::most_warps* lanes_of_warp)
    sum_places(Shape shape, Forest forest, Penalties<Real> penalties, ProductsView<Real> products,
               const Real* H, ComponentSums<Real> sums, std::int64_t blocks) {
    extern __shared__ __align__(16) char memory[];
    const auto [warp, lane, t] = WarpOfScale{};
    if (t >= shape.scales) {
        return;
    }
    const std::int64_t block = blockIdx.x;
    const std::int64_t begin = block * places_of_block;
    const std::int64_t end = min(shape.cells, begin + places_of_block);
    const Real* const gram = products.WtW + static_cast<std::int64_t>(t) * shape.rank * shape.rank;
    const std::int32_t* const first_cell = forest.first_cell + forest.level[t] + t;
    const auto last = static_cast<std::int32_t>(forest.count(t) - 1);
    const std::int64_t part = (static_cast<std::int64_t>(t) * blocks + block) * 2;
    const Entries<Real> entries{shape, penalties, products, H, t};
    using Column = GramTimesColumn<Real, small>;
    Column column(gram, shape.rank, lane,
                  reinterpret_cast<Real*>(memory) + warp * Column::buffer(shape.rank));
    for (int first = 0; first < shape.rank; first += lanes_of_warp) {
        const int k = first + lane;
        Run<Real> run;
        std::int64_t j = forest.cell[begin];
        std::int64_t next_j = forest.cell[min(begin + 1, end - 1)];
        Entry<Real> entry = entries.at(j, k);
        std::int32_t c = forest.component[j * shape.scales + t];
        std::int64_t from = first_cell[c];
        std::int64_t past = first_cell[c + 1];
        for (std::int64_t place = begin; place < end; ++place) {
            const std::int64_t next_past = first_cell[min(c + 1, last) + 1];
            const std::int64_t after_next = forest.cell[min(place + 2, end - 1)];
            const Entry<Real> next = entries.at(next_j, k);
            if constexpr (small) {
                column.hold(entry.here);
            } else {
                column.bring(H + entries.column(j));
            }
            const bool ends = past == place + 1;
            if (k < shape.rank) {
                run.add(static_cast<double>(column.times(k) + entry.rest), entry.here);
                if (ends && from >= begin) {
                    run.put(sums.gradient, sums.least, forest.at(t, c, k));
                } else if (ends || place + 1 == end) {
                    const std::int64_t to = from < begin ? part : part + 1;
                    run.put(sums.part_gradient, sums.part_least, to * shape.rank + k);
                }
            }
            if (ends) {
                ++c;
                from = past;
                past = next_past;
            }
            entry = next;
            j = next_j;
            next_j = after_next;
        }
    }
}

/// Components that reach over several blocks of places: the warp of the block where one begins adds its
/// parts.
template <class Real>
__global__ void __launch_bounds__(WarpsOfScales::most_warps* lanes_of_warp)
    join_parts(Shape shape, Forest forest, ComponentSums<Real> sums, std::int64_t blocks) {
    const auto [warp, lane, t] = WarpOfScale{};
    if (t >= shape.scales) {
        return;
    }
    const std::int64_t block = blockIdx.x;
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
    const WarpsOfScales start(shape.scales, blocks);
    const int buffer = buffer_of_columns<Real, small>(sum_places<Real, small>, start, shape.rank);
    sum_places<Real, small><<<start.grid, start.threads(), static_cast<std::size_t>(buffer)>>>(
        shape, forest, penalties, products, H, sums, blocks);
    check_launch("sums over components");
    join_parts<<<start.grid, start.threads()>>>(shape, forest, sums, blocks);
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
