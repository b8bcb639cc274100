#include <pnmf/linalg/random.hpp>
#include <pnmf/scales/scale_set.hpp>

namespace pnmf {

ScaleSet choose_uniform(const ScaleSource& source) {
    const Index count = canonical_scales(source.tree).size();
    const std::vector<double> distances = distance_scales(source);
    if (count == 1) {
        return full_set({distances.back()}, source.tree);
    }
    std::vector<double> epsilon;
    for (const Index place : evenly_spaced(count, static_cast<Index>(distances.size()))) {
        epsilon.push_back(distances[place]);
    }
    return full_set(std::move(epsilon), source.tree);
}

} // namespace pnmf
