#include "results/start_from.hpp"

#include <pnmf/error.hpp>
#include <pnmf/results/stored_result.hpp>

namespace pnmf {

template <class Real>
void check_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared) {
    const StoredResult start = read_stored_result(path);
    const Index scales = prepared.scales.size();
    require(start.has_basis, Remedy::keep_bases, "{}: a start must have its bases, and this result has none",
            start.name);
    require(start.scales == scales, "{}: a start must have as many scales as this run, {}, got {}",
            start.name, scales, start.scales);
    require(start.rank == prepared.rank, "{}: a start must have the rank of this run, {}, got {}", start.name,
            prepared.rank, start.rank);
    require(std::ssize(start.features) == prepared.X->features() && start.cells() == prepared.X->cells(),
            "{}: a start must have the {} features and {} cells of this run, got {} and {}", start.name,
            prepared.X->features(), prepared.X->cells(), start.features.size(), start.cells());
}

std::vector<Index> kept_of_start(const std::filesystem::path& path) {
    const StoredResult start = read_stored_result(path);
    const Index all = start.order.of_fit; // there are fewer scales than cells
    std::vector<Index> positions = start.positions("scale_position", 0, all);
    require(std::ssize(positions) == start.scales,
            "{}: this run looks for few scales that stand for all, and the start does not say which its "
            "scales are: take all scales, or a number of evenly spaced ones, as the start did",
            start.name);
    return positions;
}

template <class Real>
Factors<Real> read_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared) {
    const StoredResult start = read_stored_result(path);
    auto factors =
        empty_factors<Real>(prepared.scales.size(), prepared.X->features(), prepared.rank, prepared.bases_in);
    const CellRange held = prepared.X->local();
    for (Index t = 0; t < prepared.scales.size(); ++t) {
        const auto place = static_cast<std::size_t>(t);
        factors.W[place] = start.W(t).cast<Real>();
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
    template void check_start(const std::filesystem::path&, const PreparedFit<Real>&);                       \
    template Factors<Real> read_start(const std::filesystem::path&, const PreparedFit<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
