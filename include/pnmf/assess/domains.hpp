#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace pnmf {

struct DomainOptions {
    std::optional<Index> domains{}; ///< K; default: chosen
    Index most_domains = 10;        ///< the largest K that is tried
    Index nearest = 8;              ///< neighbours of a cell that smooth its domain and measure coherence
    std::uint64_t seed = 0;
};

/// Parts of a tissue, such as layers or niches: cells whose neighbourhoods are alike.
struct Domains {
    Index count = 0;                        ///< K
    Index scale = 0;                        ///< position of the chosen scale
    std::vector<std::vector<Index>> labels; ///< T × n: the domain of each cell at each scale, 0 … K − 1
    std::vector<double> neighbors;          ///< T: cells in a neighbourhood, on average
    /// T: how many distinct programs an embedding has: exp of the entropy of the eigenvalues of their
    /// correlations.
    std::vector<double> distinct;
    std::vector<double> coherence; ///< T: share of nearest neighbours that are of the same domain
    Matrix moran;                  ///< T × d: Moran's I of each program
};

/// The coarsest scale at which the programs are at least half as distinct as at the finest one: coarser ones
/// lose what tells parts of the tissue apart.
Index domain_scale(const std::vector<double>& distinct);

/// Moran's I of each row of `values`, d × n: how alike neighbours are, 1 for equal ones, about 0 for values
/// without order in space, with equal weights for the `nearest` neighbours of each cell:
///
///     I = (n / Σ wᵢⱼ) Σ wᵢⱼ zᵢ zⱼ / Σ zᵢ² ,   z = x − mean
///
/// 0 for a row that is constant.
Vector morans_i(const Matrix& values, const NeighborLists& places, Index nearest);

/// Each cell takes the label that most of its `nearest` neighbours and itself have, its own where it is among
/// the most frequent; five times at most.
std::vector<Index> smooth_labels(std::vector<Index> labels, const NeighborLists& places, Index nearest);

/// Divides the cells of a tissue into domains, at every scale, and chooses a scale (`domain_scale`).
///
/// At each scale the rows of H are centred and divided by the square root of their standard deviation: large
/// programs count more, but not as much as they are large. Their first eight principal components are divided
/// by a mixture of normal distributions with one covariance for all, as mclust's model EEE (Scrucca et al.
/// 2016), the best of several starts by k-means; then `smooth_labels`. K is the smallest that has seven
/// eighths of what the Bayesian information criterion gains over one domain at the chosen scale, with as many
/// independent cells as there are neighbourhoods. A domain smaller than two neighbourhoods counts for nothing
/// where another start has none such.
/// `places` has the neighbours of each cell, nearest first, in the order of the columns of the embeddings;
/// the graph at a scale has those nearer than its `epsilon`.
Domains find_domains(const std::vector<double>& epsilon, const Embeddings& embedding,
                     const NeighborLists& places, const DomainOptions& options = {});

} // namespace pnmf
