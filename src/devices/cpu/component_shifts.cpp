#include "devices/cpu/component_shifts.hpp"

#include "devices/cpu/level_sums.hpp"
#include "devices/cpu/row_shift.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>

namespace pnmf {

template <class Real>
void solve_shifts(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                  const std::vector<ScaleProducts<Real>>& products, ShiftBuffer& buffer, Processes& processes,
                  const FrozenScales& frozen, NarrowShifts* on_device) {
    RowShift<Real>(penalties, forest, products, buffer.levels, processes, frozen, on_device).solve();
}

template <class Real>
void shift_components(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                      std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      ShiftBuffer& buffer, Processes& processes, const FrozenScales& frozen) {
    const Index scales = forest.scales();
    std::vector<ShiftBuffer::Level>& sums = buffer.levels;
    sums.resize(static_cast<std::size_t>(scales));
    sum_levels(penalties, forest, products, H, sums, processes, frozen);
    solve_shifts(penalties, forest, products, buffer, processes, frozen);
    const Index rank = H.front().rows();
    parallel_for(scales, [&](Index t) {
        const Index cells = is_frozen(frozen, t) ? 0 : H[t].cols();
        parallel_blocks(cells, cells_at_once, [&](Index begin, Index end) {
            thread_local KeptAlignedBuffer<Real> moves;
            kernels().of<Real>().move_with_components({.cells = end - begin,
                                                       .rank = rank,
                                                       .component = forest[t].component.data() + begin,
                                                       .shift = sums[t].shift.data(),
                                                       .stride = sums[t].shift.rows(),
                                                       .degree = products[t].degree.data() + begin,
                                                       .H = H[t].data() + begin * rank,
                                                       .HA = products[t].HA.data() + begin * rank},
                                                      moves.at_least(component_buffer(rank)));
        });
    });
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void solve_shifts(const std::vector<ScalePenalty>&, const ShiftForest&,                         \
                               const std::vector<ScaleProducts<Real>>&, ShiftBuffer&, Processes&,            \
                               const FrozenScales&, NarrowShifts*);                                          \
    template void shift_components(const std::vector<ScalePenalty>&, const ShiftForest&,                     \
                                   std::vector<ScaleProducts<Real>>&, std::vector<DenseMatrix<Real>>&,       \
                                   ShiftBuffer&, Processes&, const FrozenScales&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
