#include <pnmf/solvers/memory.hpp>

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
        // Gradient, least entry and shift of each component in double precision; its size, its parent and its
        // cells.
        const auto components = static_cast<double>(size.components);
        memory.shifts = components * (3.0 * d + 3.0) * sizeof(double) + T * n * sizeof(std::int32_t);
    }
    // An edge stands in the lists of both its ends, with its weight in double precision.
    const double graph = 2.0 * static_cast<double>(size.edges) * (sizeof(double) + sizeof(std::int32_t));
    // XHᵀ of the scales worked on; where they share a product with a dense X, their H, W and products
    // stacked and apart; their W, and a copy of one.
    const auto together = static_cast<double>(stationary ? scales_at_once(size.scales) : 1);
    const double copies = size.dense && together > 1.0 ? 3.0 * together : together;
    const double bases = bases_rest ? (together + 1.0) * p * d * bytes : 0.0;
    memory.work = static_cast<double>(threads) * (copies * (p + n) * d * bytes + bases + graph);
    return memory;
}

} // namespace pnmf
