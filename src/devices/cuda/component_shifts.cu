#include "devices/cuda/component_sums.cuh"
#include "devices/cuda/merge_order.hpp"
#include "devices/cuda/reduce.cuh"
#include "devices/cuda/row_shifts.cuh"
#include "devices/cuda/transpose.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr int threads = 256;

/// Few cells are cut into small pieces all the same: more blocks of threads then work on them.
std::int64_t pieces_wanted(std::int64_t cells) {
    constexpr std::int64_t small_piece = 64;
    return std::min(cells, std::max<std::int64_t>(4, cells / small_piece));
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

} // namespace

template <class Real>
std::int64_t ComponentShifts<Real>::pieces_of(const Shape& shape) {
    return std::min(pieces_wanted(shape.cells), most_pieces<Real>());
}

template <class Real>
double ComponentShifts<Real>::bytes_of_work(const Shape& shape, double components) {
    const auto rank = static_cast<double>(shape.rank);
    const auto cells = static_cast<double>(shape.cells);
    const double parts = 2.0 * shape.scales * static_cast<double>(blocks_of(shape.cells, places_of_block));
    constexpr double most_wide_of_scale = 1024.0; // one over each cut; more cuts than that no device has
    const double wide =
        shape.scales * std::min(most_wide_of_scale, static_cast<double>(pieces_wanted(shape.cells)));
    return (components + parts) * rank * (8.0 + sizeof(Real)) + components * (rank * 8.0 + 16.0 + 16.0) +
           cells * (shape.scales + 1.0) * 4.0 + wide * (4.0 * 9.0 + 16.0 * 3.0 + 8.0 * 2.0);
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
    piece_.upload(order.piece);
    narrow_.upload(order.narrow);
    narrow_scales_.upload(order.narrow_scales);
    wide_level_.upload(order.wide_level);
    wide_.upload(order.wide);
    wide_scale_.upload(order.wide_scale);
    wide_size_.upload(order.wide_size);
    wide_parent_.upload(order.wide_parent);
    wide_inside_.upload(order.wide_inside);
    wide_first_piece_.upload(order.wide_first_piece);
    wide_last_piece_.upload(order.wide_last_piece);
    const std::int64_t components = order.level.back();
    gradient_.allocate(components * shape.rank);
    shift_.allocate(components * shape.rank);
    least_.allocate(components * shape.rank);
    eliminated_.allocate(components);
    handed_.allocate(2 * shape.scales * order.pieces());
    eliminated_wide_.allocate(wide_.size());
    wide_least_.allocate(wide_.size());
    wide_shift_.allocate(wide_.size());
    const std::int64_t parts = 2 * shape.scales * blocks_of(shape.cells, places_of_block);
    part_gradient_.allocate(parts * shape.rank);
    part_least_.allocate(parts * shape.rank);
    along_.allocate(4 * order.pieces());
    length_.allocate(shape.rank);
}

template <class Real>
Pieces ComponentShifts<Real>::pieces() const {
    return {narrow_.get(),
            narrow_scales_.get(),
            piece_.get(),
            wide_level_.get(),
            wide_.get(),
            wide_scale_.get(),
            wide_size_.get(),
            wide_parent_.get(),
            wide_inside_.get(),
            wide_first_piece_.get(),
            wide_last_piece_.get(),
            static_cast<std::int32_t>(wide_.size())};
}

template <class Real>
void ComponentShifts<Real>::run(const Penalties<Real>& penalties, const ExactPenalties& exact,
                                const ProductsView<Real>& products, Real* H) {
    const Forest forest{cell_.get(),        component_.get(), level_.get(),      first_cell_.get(),
                        first_child_.get(), parent_.get(),    eliminated_.size()};
    sum_components(
        shape_, forest, penalties, products, static_cast<const Real*>(H),
        ComponentSums<Real>{gradient_.get(), least_.get(), part_gradient_.get(), part_least_.get()});
    solve_rows(ShiftArguments<Real>{.scales = shape_.scales,
                                    .rank = shape_.rank,
                                    .forest = forest,
                                    .pieces = pieces(),
                                    .penalties = exact,
                                    .WtW = products.WtW,
                                    .gradient = gradient_.get(),
                                    .shift = shift_.get(),
                                    .least = least_.get(),
                                    .eliminated = eliminated_.get(),
                                    .handed = handed_.get(),
                                    .wide = eliminated_wide_.get(),
                                    .wide_least = wide_least_.get(),
                                    .wide_shift = wide_shift_.get(),
                                    .along = along_.get(),
                                    .length = length_.get()},
               narrow_scales_.size());
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
