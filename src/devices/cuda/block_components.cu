#include "devices/cuda/block_components.hpp"
#include "devices/cuda/column_product.cuh"
#include "devices/cuda/component_entries.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr int threads = 256;

/// One warp adds up a block at one scale, place after place; a thread has row k. Numbers of the next place
/// are fetched while those of one are added.
template <class Real, bool small>
__global__ void __launch_bounds__(WarpsOfScales::most_warps* lanes_of_warp)
    sum_runs(Shape shape, BlockSlots slots, Penalties<Real> penalties, ProductsView<Real> products,
             const Real* H, double* gradient, Real* least) {
    extern __shared__ __align__(16) char memory[];
    const auto [warp, lane, t] = WarpOfScale{};
    if (t >= shape.scales) {
        return;
    }
    const std::int64_t begin = blockIdx.x * slots.cells_in_block;
    const std::int64_t end = min(shape.cells, begin + slots.cells_in_block);
    const std::int32_t* const slot = slots.slot + t * shape.cells;
    const std::int64_t count = slots.level[t + 1] - slots.level[t];
    const std::int64_t out = slots.level[t] * shape.rank;
    const Real* const gram = products.WtW + static_cast<std::int64_t>(t) * shape.rank * shape.rank;
    const Entries<Real> entries{shape, penalties, products, H, t};
    using Column = GramTimesColumn<Real, small>;
    Column column(gram, shape.rank, lane,
                  reinterpret_cast<Real*>(memory) + warp * Column::buffer(shape.rank));
    for (int first = 0; first < shape.rank; first += lanes_of_warp) {
        const int k = first + lane;
        Run<Real> run;
        std::int64_t j = slots.cell[begin];
        std::int32_t s = slot[begin];
        Entry<Real> entry = entries.at(j, k);
        for (std::int64_t place = begin; place < end; ++place) {
            const std::int64_t after = min(place + 1, end - 1);
            const std::int64_t next_j = slots.cell[after];
            const std::int32_t next_s = slot[after];
            const Entry<Real> next = entries.at(next_j, k);
            if constexpr (small) {
                column.hold(entry.here);
            } else {
                column.bring(H + entries.column(j));
            }
            if (k < shape.rank) {
                run.add(static_cast<double>(column.times(k) + entry.rest), entry.here);
                if (place + 1 == end || next_s != s) {
                    run.put(gradient, least, out + k * count + s);
                }
            }
            entry = next;
            j = next_j;
            s = next_s;
        }
    }
}

template <bool small, class Real>
void launch(const Shape& shape, const BlockSlots& slots, const Penalties<Real>& penalties,
            const ProductsView<Real>& products, const Real* H, double* gradient, Real* least) {
    const WarpsOfScales start(shape.scales, blocks_of(shape.cells, slots.cells_in_block));
    const int buffer = buffer_of_columns<Real, small>(sum_runs<Real, small>, start, shape.rank);
    sum_runs<Real, small><<<start.grid, start.threads(), static_cast<std::size_t>(buffer)>>>(
        shape, slots, penalties, products, H, gradient, least);
    check_launch("sums over components of blocks");
}

template <class Real>
__global__ void move_places(Shape shape, BlockSlots slots, const Real* moves, const Real* degree, Real* H,
                            Real* HA) {
    const std::int64_t r = blockIdx.y * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (r >= shape.rows()) {
        return;
    }
    const std::int64_t t = r / shape.rank;
    const std::int64_t k = r % shape.rank;
    for (std::int64_t place = blockIdx.x; place < shape.cells; place += gridDim.x) {
        const std::int64_t j = slots.cell[place];
        const std::int64_t s = slots.level[t] + slots.slot[t * shape.cells + place];
        const Real move = moves[s * shape.rank + k];
        const std::int64_t at = j * shape.stride() + r;
        H[at] = max(Real{0}, H[at] + move);
        HA[at] += move * degree[j * shape.scales + t];
    }
}

} // namespace

template <class Real>
void sum_slots(const Shape& shape, const BlockSlots& slots, const Penalties<Real>& penalties,
               const ProductsView<Real>& products, const Real* H, double* gradient, Real* least) {
    if (shape.rank <= lanes_of_warp) {
        launch<true>(shape, slots, penalties, products, H, gradient, least);
    } else {
        launch<false>(shape, slots, penalties, products, H, gradient, least);
    }
}

template <class Real>
void move_slots(const Shape& shape, const BlockSlots& slots, const Real* moves, const Real* degree, Real* H,
                Real* HA) {
    const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(shape.cells, 1 << 16)),
                    static_cast<unsigned>(blocks_of(shape.rows(), threads)));
    move_places<<<grid, threads>>>(shape, slots, moves, degree, H, HA);
    check_launch("moving components");
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void sum_slots(const Shape&, const BlockSlots&, const Penalties<Real>&,                         \
                            const ProductsView<Real>&, const Real*, double*, Real*);                         \
    template void move_slots(const Shape&, const BlockSlots&, const Real*, const Real*, Real*, Real*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
