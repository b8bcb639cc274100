#include "report/tissue.hpp"

#include "report/cells.hpp"
#include "report/image.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
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
    for (Index i = std::min<Index>(from, std::ssize(scales) - 1); i > 0; --i) {
        align_labels(domains[static_cast<std::size_t>(i) - 1], domains[static_cast<std::size_t>(i)], count);
    }
    return domains;
}

/// Pixels of all images of a page together.
constexpr Index most_pixels = 1'000'000;

/// The images of the slices, each around its cells and a little farther. `places`: x and y of each cell.
Json add_images(Payload& payload, const StoredResult& result, const std::vector<float>& places,
                const std::vector<Index>& slice_of) {
    Json images = Json::array();
    const AnnDataMap spatial = result.space->downwards ? spatial_entries(result) : AnnDataMap{};
    const Index slices = result.space->slices ? std::ssize(result.space->slices->names) : 1;
    for (Index s = 0; s < slices && !spatial.empty(); ++s) {
        std::array<double, 4> box{HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
        for (std::size_t j = 0; 2 * j < places.size(); ++j) {
            for (std::size_t axis = 0; axis < 2 && (slice_of.empty() || slice_of[j] == s); ++axis) {
                box[axis] = std::min<double>(box[axis], places[2 * j + axis]);
                box[axis + 2] = std::max<double>(box[axis + 2], places[2 * j + axis]);
            }
        }
        const double edge = 0.03 * std::max(box[2] - box[0], box[3] - box[1]); // slices lie farther apart
        box = {box[0] - edge, box[1] - edge, box[2] + edge, box[3] + edge};
        const std::string library =
            result.space->slices ? result.space->slices->names[static_cast<std::size_t>(s)] : "";
        if (slices > 1 && !spatial.contains(library)) {
            continue;
        }
        if (const auto image = packed_image(spatial, library, box, most_pixels / slices)) {
            payload.add("image", fmt::format("image{}", s), image->bytes);
            images.push_back(
                {{"slice", s}, {"width", image->width}, {"height", image->height}, {"box", image->box}});
        }
    }
    return images;
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
    const std::vector<float> places = plane_places(result);
    payload.add("core", "places", places);
    std::vector<Index> slice_of;
    if (result.space->slices) {
        described["slices"] = result.space->slices->names;
        slice_of = result.in_order(result.space->slices->of_cell);
        payload.add("core", "slice", std::vector<std::uint16_t>(slice_of.begin(), slice_of.end()));
    }
    described["images"] = add_images(payload, result, places, slice_of);
    payload.meta["tissue"] = std::move(described);
}

} // namespace pnmf::report
