#include "report/tissue.hpp"

#include "report/cells.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>

#include <algorithm>
#include <cstdint>

namespace pnmf::report {
namespace {

/// x and y of each cell of the file.
std::vector<float> plane_places(const StoredResult& result) {
    const Matrix places = places_in_slices(*result.space);
    std::vector<float> values;
    for (Index j = 0; j < result.cells(); ++j) {
        const Index of_fit =
            result.order.position.empty() ? j : result.order.position[static_cast<std::size_t>(j)];
        values.push_back(static_cast<float>(places(0, of_fit)));
        values.push_back(static_cast<float>(places(1, of_fit)));
    }
    return values;
}

/// Domains at the given scales, from the chosen one outwards in both directions.
std::vector<std::vector<Index>> aligned_domains(const StoredResult& result, const std::vector<Index>& all,
                                                const std::vector<Index>& scales, Index count, Index chosen) {
    const auto n = result.order.of_fit;
    std::vector<std::vector<Index>> domains;
    for (const Index t : scales) {
        domains.push_back(result.in_order({all.begin() + t * n, all.begin() + (t + 1) * n}));
    }
    const Index from = std::lower_bound(scales.begin(), scales.end(), chosen) - scales.begin();
    for (Index i = from; i + 1 < std::ssize(scales); ++i) {
        align_labels(domains[static_cast<std::size_t>(i) + 1], domains[static_cast<std::size_t>(i)], count);
    }
    for (Index i = std::min(from, std::ssize(scales) - 1); i > 0; --i) {
        align_labels(domains[static_cast<std::size_t>(i) - 1], domains[static_cast<std::size_t>(i)], count);
    }
    return domains;
}

} // namespace

void add_tissue(Payload& payload, const StoredResult& result, const std::vector<Index>& scales) {
    constexpr Index most_domains = 255;
    const std::vector<Index> all = result.positions("domains/of_scale", 0, most_domains);
    const std::vector<double> neighbors = result.numbers("domains/neighbors", result.scales);
    if (all.empty() || !result.space || result.space->coordinates.rows() < 2) {
        return;
    }
    require(std::ssize(all) == result.scales * result.order.of_fit && !neighbors.empty(),
            "{}: uns/{}/domains must have a domain for each of the {} cells at each of the {} scales",
            result.name, result.key, result.order.of_fit, result.scales);
    const Index count = *std::max_element(all.begin(), all.end()) + 1;
    const auto* chosen = find(result.file.uns, result.key + "/domains/scale");
    const auto* scale = chosen != nullptr ? std::get_if<std::int64_t>(&chosen->value) : nullptr;
    Json described{{"downwards", result.space->downwards},
                   {"flat", result.space->coordinates.rows() == 2},
                   {"domains", count},
                   {"scale", scale != nullptr ? *scale : 0},
                   {"neighbors", Json::array()},
                   {"slices", Json::array()}};
    for (const Index t : scales) {
        described["neighbors"].push_back(neighbors[static_cast<std::size_t>(t)]);
        if (result.space->unit_um && !result.epsilon.empty()) {
            described["micrometres"].push_back(result.epsilon[static_cast<std::size_t>(t)] *
                                               *result.space->unit_um);
        }
    }
    std::vector<std::uint8_t> codes;
    for (const auto& domains : aligned_domains(result, all, scales, count, described["scale"].get<Index>())) {
        codes.insert(codes.end(), domains.begin(), domains.end());
    }
    payload.add("core", "domains", codes);
    payload.add("core", "places", plane_places(result));
    if (result.space->slices) {
        described["slices"] = result.space->slices->names;
        const std::vector<Index> of_cell = result.in_order(result.space->slices->of_cell);
        payload.add("core", "slice", std::vector<std::uint16_t>(of_cell.begin(), of_cell.end()));
    }
    payload.meta["tissue"] = std::move(described);
}

} // namespace pnmf::report
