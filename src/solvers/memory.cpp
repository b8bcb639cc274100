#include <pnmf/linalg/svd.hpp>
#include <pnmf/solvers/memory.hpp>

#include <algorithm>

namespace pnmf {

SolverMemory solver_memory(const FitSize& size, const SolverOptions& options, Index bytes_of_number,
                           int threads, bool bases_rest) {
    const auto p = static_cast<double>(size.features);
    const auto n = static_cast<double>(size.cells);
    const auto T = static_cast<double>(size.scales);
    const auto d = static_cast<double>(size.rank);
    const auto bytes = static_cast<double>(bytes_of_number);
    const bool stationary = options.algorithm == Algorithm::stationary;
    SolverMemory memory;
    memory.factors = T * ((bases_rest ? 0.0 : p) + n) * d * bytes;
    memory.before = stationary && options.extrapolate ? memory.factors : 0.0;
    memory.products = (stationary ? T : static_cast<double>(threads)) * (2.0 * n * d + d * d + n) * bytes;
    if (stationary && options.shift_components) {
        // Of each component gradient, least entry, shift and ten more numbers in double precision; its
        // size, its parent and its children; and the component of each cell.
        const auto components = static_cast<double>(size.components);
        memory.shifts = components * ((3.0 * d + 10.0) * sizeof(double) + 4.0 * sizeof(std::int32_t)) +
                        T * n * sizeof(std::int32_t);
    }
    memory.coarser = size.nested ? memory.factors / 3.0 : 0.0; // levels grow fourfold
    memory.seeding = size.seeded ? truncated_svd_bytes(size.features, size.cells, size.rank) : 0.0;
    // An edge stands in the lists of both its ends, with its weight in double precision. Tables of all pairs,
    // and the lists beside them, come to about as much.
    const double graph = 2.0 * static_cast<double>(size.edges) * (sizeof(double) + sizeof(std::int32_t));
    // While bases are updated: XHᵀ of the scales worked on; where they share a product with a dense X, their
    // H, W and products stacked and apart; their W, and a copy of one.
    const Index group = stationary ? scales_at_once(size.scales) : 1;
    const auto together = static_cast<double>(group);
    const double copies = size.dense && group > 1 ? 3.0 * together : together;
    const double bases = bases_rest ? (together + 1.0) * p * d * bytes : 0.0;
    const double updating = static_cast<double>(std::min<Index>(threads, (size.scales + group - 1) / group)) *
                            (copies * (p + n) * d * bytes + bases);
    // While the certificate is confirmed: W, XHᵀ, WᵀX, HA and both gradients of a scale.
    const auto busy = static_cast<double>(std::min<Index>(threads, size.scales));
    const double confirming = busy * ((bases_rest ? 3.0 : 2.0) * p + 3.0 * n) * d * bytes;
    memory.work = std::max(updating, confirming) + busy * graph;
    return memory;
}

} // namespace pnmf
