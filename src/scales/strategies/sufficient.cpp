#include <pnmf/linalg/random.hpp>
#include <pnmf/scales/scale_set.hpp>

#include <cmath>

namespace pnmf {

ScaleSet choose_sufficient(const ScaleSource& source) {
    Random random(source.seed);
    std::vector<double> epsilon;
    double below = 0.0;
    for (const double above : canonical_scales(source.tree).epsilon) {
        const double draw = above - random.uniform() * (above - below);
        // The open end may come out of the rounding, but never belongs to the interval.
        epsilon.push_back(draw > below ? draw : std::nextafter(below, above));
        below = above;
    }
    return full_set(std::move(epsilon), source.tree);
}

} // namespace pnmf
