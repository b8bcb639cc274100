#include "run/start_from.hpp"

#include <pnmf/error.hpp>

namespace pnmf {

template <class Real>
void check_start(const KnownFit& start, const PreparedFit<Real>& prepared) {
    const Index scales = prepared.scales.size();
    require(start.W != nullptr, Remedy::keep_bases,
            "{}: a start must have its bases, and this result has none", start.name);
    require(start.scales == scales, "{}: a start must have as many scales as this run, {}, got {}",
            start.name, scales, start.scales);
    require(start.rank == prepared.rank, "{}: a start must have the rank of this run, {}, got {}", start.name,
            prepared.rank, start.rank);
    require(start.features == prepared.X->features() && start.cells == prepared.X->cells(),
            "{}: a start must have the {} features and {} cells of this run, got {} and {}", start.name,
            prepared.X->features(), prepared.X->cells(), start.features, start.cells);
}

std::vector<Index> kept_of_start(const KnownFit& start) {
    require(std::ssize(start.positions) == start.scales,
            "{}: this run looks for few scales that stand for all, and the start does not say which its "
            "scales are: take all scales, or a number of evenly spaced ones, as the start did",
            start.name);
    return start.positions;
}

template <class Real>
Factors<Real> read_start(const KnownFit& start, const PreparedFit<Real>& prepared) {
    auto factors =
        empty_factors<Real>(prepared.scales.size(), prepared.X->features(), prepared.rank, prepared.bases_in);
    const CellRange held = prepared.X->local();
    for (Index t = 0; t < prepared.scales.size(); ++t) {
        const auto place = static_cast<std::size_t>(t);
        factors.W[place] = start.W(t).template cast<Real>();
        const Matrix H = start.H(t);
        factors.H[place].resize(H.rows(), held.count);
        for (Index j = 0; j < held.count; ++j) {
            const Index there = prepared.order.empty() ? held.first + j : prepared.order.cell[held.first + j];
            factors.H[place].col(j) = H.col(there).template cast<Real>();
        }
        factors.rest(t);
    }
    return factors;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void check_start(const KnownFit&, const PreparedFit<Real>&);                                    \
    template Factors<Real> read_start(const KnownFit&, const PreparedFit<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
