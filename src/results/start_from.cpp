#include "results/start_from.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/remedy.hpp>

#include <vector>

namespace pnmf {
namespace {

/// The shape of an array; no axes when the file has no such array.
std::vector<Index> shape_in(const std::filesystem::path& path, const std::string& array) {
    try {
        return array_shape(path, array);
    } catch (const InputError&) {
        return {};
    }
}

} // namespace

template <class Real>
void check_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared) {
    const Index scales = prepared.scales.size();
    const Index features = prepared.X->features();
    const auto H = shape_in(path, "uns/pnmf/H");
    require(H.size() == 3, "{}: a start must be a result of a fit", path.string());
    const auto W = shape_in(path, "uns/pnmf/W");
    require(W.size() == 3, Remedy::keep_bases, "{}: a start must have its bases, and this result has none",
            path.string());
    require(H[0] == scales, "{}: a start must have as many scales as this run, {}, got {}", path.string(),
            scales, H[0]);
    require(H[1] == prepared.rank, "{}: a start must have the rank of this run, {}, got {}", path.string(),
            prepared.rank, H[1]);
    require(W == std::vector<Index>{scales, features, prepared.rank},
            "{}: a start must have bases of {} features at {} scales, got {} and {}", path.string(), features,
            scales, W[1], W[0]);
}

template <class Real>
Factors<Real> read_start(const std::filesystem::path& path, const PreparedFit<Real>& prepared) {
    auto factors =
        empty_factors<Real>(prepared.scales.size(), prepared.X->features(), prepared.rank, prepared.bases_in);
    for (Index t = 0; t < prepared.scales.size(); ++t) {
        const auto place = static_cast<std::size_t>(t);
        factors.W[place] = read_slab(path, "uns/pnmf/W", t).cast<Real>();
        factors.H[place] = read_slab(path, "uns/pnmf/H", t).cast<Real>();
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
