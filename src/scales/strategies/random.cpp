#include <pnmf/linalg/random.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <set>

namespace pnmf {
namespace {

/// The ends, and the others drawn without repetition (Floyd's sampling), ascending.
std::set<Index> draw_places(Index count, Index size, std::uint64_t seed) {
    Random random(seed);
    std::set<Index> places{0, size - 1};
    for (Index top = size - 1 - (count - 2); top < size - 1; ++top) {
        const Index place = 1 + random.below(top);
        places.insert(places.contains(place) ? top : place);
    }
    return places;
}

} // namespace

ScaleSet choose_random(const ScaleSource& source) {
    const Index count = canonical_scales(source.tree).size();
    const std::vector<double> distances = distance_scales(source);
    if (count == 1) {
        return full_set({distances.back()}, source.tree);
    }
    std::vector<double> epsilon;
    for (const Index place : draw_places(count, static_cast<Index>(distances.size()), source.seed)) {
        epsilon.push_back(distances[place]);
    }
    return full_set(std::move(epsilon), source.tree);
}

} // namespace pnmf
