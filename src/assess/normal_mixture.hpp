#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <vector>

namespace pnmf {

/// Groups of cells that are normal with one covariance for all:  x ~ Σ_k π_k N(μ_k, Σ).
struct NormalMixture {
    std::vector<Index> labels; ///< the likeliest group of each cell, 0 … K − 1
    double likelihood = 0.0;   ///< mean log-likelihood of a cell that the groups were found from
    double smallest = 0.0;     ///< share of these cells that the smallest group has
};

struct NormalMixtureOptions {
    Index groups = 1; ///< K
    Index starts = 10;
    double least = 0.0; ///< a start whose smallest group has a smaller share loses to any without such
    std::uint64_t seed = 0;
};

/// The best of several starts by k-means, each followed by EM steps. Y is m × n with m small. At most 5,000
/// cells take part, drawn at random; the others join their likeliest group. A thousandth of the mean variance
/// is added to Σ, so that no direction counts without end. Does not depend on the number of threads.
NormalMixture normal_mixture(const Matrix& Y, const NormalMixtureOptions& options);

} // namespace pnmf
