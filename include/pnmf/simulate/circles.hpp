#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// Data made up here, with what is known about them.
struct Simulated {
    Matrix X;                  ///< features × cells, nonnegative
    std::vector<Index> labels; ///< for each cell, the group it was drawn from, from 0
};

/// Concentric circles in 3-D (paper, section "Simulation Data Generation"); the defaults are the paper's.
struct CirclesOptions {
    std::vector<double> radii{5.0, 10.0, 20.0, 50.0}; ///< one circle for each, > 0
    Index points = 20;                                ///< on each circle, ≥ 1
    double noise = 0.5;           ///< standard deviation on each of the 3 coordinates, ≥ 0
    double minimum = 5.0;         ///< each coordinate is shifted so that its minimum is this, ≥ 0
    Index noise_dimensions = 97;  ///< features after the 3 coordinates that know nothing of the circles
    double noise_mean = 5.0;      ///< of those features, ≥ 0
    double noise_deviation = 1.0; ///< of those features, ≥ 0; negative draws are drawn again
    bool meet_ends =
        false; ///< spacing 2π/(points − 1), first and last at one angle, as in the published input
    std::uint64_t seed = 0;
};

/// Points evenly spaced on circles about one centre, each circle in a plane with a random normal.
/// Features × cells, (3 + noise_dimensions) × (circles · points), circle by circle in the order of the radii;
/// a point's label is its circle. Planes, points and noise have their own streams: changing the number of
/// noise dimensions leaves the circles as they are.
Simulated simulate_circles(const CirclesOptions& options = {});

} // namespace pnmf
