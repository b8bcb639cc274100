#include "cells/cell_blocks.hpp"
#include "graphs/scale_forms.hpp"
#include "linalg/svd.hpp"

#include <pnmf/solvers/memory_plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace pnmf {
namespace {

/// Bytes of a list entry of a graph: a cell, and its weight in double precision.
constexpr double entry_bytes = sizeof(double) + sizeof(std::int32_t);

/// X in single precision, in which levels of a start are solved (src/solvers/single_start.hpp).
double single_bytes(const FitSize& size) {
    return size.dense ? static_cast<double>(size.features * size.cells) * sizeof(float)
                      : 2.0 * size.entries * (sizeof(float) + sizeof(std::int32_t)); // by columns and rows
}

/// What the process with the most cells holds in its sweeps, in place of what one process does: its cells of
/// H and of the products, and what waits to be sent or has arrived (src/cells/devices).
class ProcessMemory {
  public:
    ProcessMemory(const FitSize& size, Index bytes_of_number, int threads)
        : size_(size), bytes_(static_cast<double>(bytes_of_number)), threads_(threads),
          p_(static_cast<double>(size.features)), n_(static_cast<double>(size.cells)),
          T_(static_cast<double>(size.scales)), d_(static_cast<double>(size.rank)) {
        const BlockShares shares = share(usual_blocks(size.cells), size.processes);
        all_nodes_ = static_cast<double>(shares.nodes.size());
        for (int r = 0; r < shares.processes(); ++r) {
            m_ = std::max(m_, static_cast<double>(shares.slab(r).cells()));
            nodes_ = std::max(nodes_, static_cast<double>(shares.nodes_of(r).size()));
        }
        const SharedComponents of_process =
            size.of_process.value_or(SharedComponents{.narrow = size.components});
        components_ = static_cast<double>(of_process.narrow + of_process.wide);
        slots_ = static_cast<double>(of_process.slots);
        const Index group = scales_at_once(size.scales, size.cells, size.dense);
        const Index busy = std::max<Index>({4, size.processes, threads});
        together_ = static_cast<double>(std::min(size.scales, (busy + group - 1) / group * group));
    }

    double products_of(double scales) const { return scales * (2.0 * m_ * d_ + d_ * d_ + m_) * bytes_; }

    /// Where every process has all of X: W and H of the sweeps, `points` times; and of a sparse X a copy of
    /// its own cells, by columns and by rows.
    double slab(double points) const {
        if (size_.local) {
            return 0.0;
        }
        const double copied = size_.dense ? 0.0 : size_.entries * m_ / n_;
        return points * factors() + 2.0 * copied * (bytes_ + sizeof(std::int32_t));
    }

    /// `updating`: what threads hold of scales whose bases they update.
    double work(double updating) const {
        const double owned = std::ceil(together_ / static_cast<double>(size_.processes));
        const double sums = (together_ * nodes_ + owned * (all_nodes_ + 1.0)) * (p_ * d_ + d_ * d_) * bytes_;
        const double confirming = products_of(together_) + std::max(sums, outer());
        // H of a scale with all cells, when the sweeps end: where it is local nobody asks for it then.
        const double gathered = size_.local ? 0.0 : 2.0 * n_ * d_ * bytes_;
        return std::max({updating + sums, outer(), confirming, gathered}) + graph();
    }

    /// Sums over components, and how these lie in each other.
    double shifts() const {
        const double forest = (components_ * 4.0 + T_ * m_ + slots_ * 2.0) * sizeof(std::int32_t);
        return forest + (components_ * (3.0 * d_ + 11.0) + 3.0 * m_) * sizeof(double);
    }

    /// While components are shifted: what processes tell each other of wide ones. Before the first time the
    /// components of all cells are listed.
    double shifting() const {
        const double told = slots_ * (2.0 + 2.0 / static_cast<double>(size_.processes)) * d_ * sizeof(double);
        const double listing =
            (T_ * n_ + 7.0 * static_cast<double>(size_.components)) * sizeof(std::int32_t) +
            static_cast<double>(threads_) * n_ * sizeof(double);
        return std::max(told, listing);
    }

    /// What needs all cells of a scale, one scale at a time and beside the factors: a link of the chained
    /// start (H, products of this process's cells, the weights of all
    /// list entries, which cells are neighbours of other processes', and their columns), and the clusters of
    /// the assessment (an embedding in double precision and a copy, and labels).
    double whole() const {
        const double weights =
            has_lists() ? 2.0 * static_cast<double>(size_.edges) * sizeof(double) + 2.0 * n_ * sizeof(double)
                        : 2.0 * static_cast<double>(size_.edges) * entry_bytes;
        const double others =
            size_.processes > 1 && has_lists() ? entries() : 0.0; // neighbours there, at most
        const double borders = others * entry_bytes + 2.0 * std::min(others, n_) * d_ * bytes_;
        const double link =
            (n_ * d_ + 3.0 * p_ * d_) * bytes_ + products_of(1.0) + m_ * d_ * bytes_ + weights + borders;
        constexpr double searched =
            19.0 * 12.0; // numbers of clusters and scales, dealt out over the processes
        const double labels =
            T_ * sizeof(Index) +
            std::ceil(searched / static_cast<double>(size_.processes)) * sizeof(std::uint16_t);
        const double assessing = (2.0 * n_ * d_ + m_ * d_) * sizeof(double) + labels * n_;
        return std::max(link, assessing);
    }

    /// W and H, of the cells of this process.
    double factors() const { return T_ * (p_ + m_) * d_ * bytes_; }

    double cells() const { return m_; }

  private:
    bool has_lists() const { return size_.edges < size_.cells * (size_.cells - 1) / 2; }
    double entries() const { return 2.0 * static_cast<double>(size_.edges) * m_ / n_; }

    /// H with the columns of others that it needs, and the columns that others need: in the worst order every
    /// neighbour of a cell is on another process.
    double outer() const {
        if (!has_lists()) {
            return 3.0 * n_ * d_ * bytes_;
        }
        constexpr double at_once = 1 << 26; // so many bytes are exchanged at once, or a scale for each thread
        const double columns = m_ + std::min(n_ - m_, entries());
        const double sent = std::min(m_ * static_cast<double>(size_.processes - 1), entries());
        const double scales = std::max<double>(threads_, at_once / (columns * d_ * bytes_));
        return std::min(T_, scales) * (columns + sent) * d_ * bytes_;
    }

    /// The lists of this process's cells, and the weights of the scales at work.
    double graph() const {
        const double busy = static_cast<double>(std::min<Index>(threads_, size_.scales));
        return has_lists() ? (1.0 + busy) * entries() * entry_bytes
                           : 2.0 * static_cast<double>(size_.edges) * entry_bytes;
    }

    const FitSize& size_;
    double bytes_;
    Index threads_;
    double p_;
    double n_;
    double T_;
    double d_;
    double m_ = 0;     ///< cells of the process that has the most
    double nodes_ = 0; ///< of the tree of blocks, on one process at most
    double all_nodes_ = 0;
    double together_ = 0; ///< scales that are worked on at once
    double components_ = 0;
    double slots_ = 0;
};

} // namespace

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
    memory.result = n * (1400.0 + 20.0 * T); // measured: benchmarks/results/growth.md
    memory.before = stationary && options.extrapolate ? memory.factors : 0.0;
    memory.products = (stationary ? T : static_cast<double>(threads)) * (2.0 * n * d + d * d + n) * bytes;
    if (stationary && options.shift_components) {
        // Of each component gradient, least entry, shift and eleven more numbers in double precision; its
        // size, its parent and its children; the component of each cell, and what it hands on.
        const auto components = static_cast<double>(size.components);
        memory.shifts = components * ((3.0 * d + 11.0) * sizeof(double) + 4.0 * sizeof(std::int32_t)) +
                        T * n * sizeof(std::int32_t) + 3.0 * n * sizeof(double);
    }
    memory.coarser = size.nested ? memory.factors / 3.0 : 0.0; // levels grow fourfold
    const double single_X = size.nested && bytes_of_number > Index{sizeof(float)} ? single_bytes(size) : 0.0;
    memory.coarser += single_X;
    memory.seeding = size.seeded ? truncated_svd_bytes(size.features, size.cells, size.rank) : 0.0;
    // An edge stands in the lists of both its ends, with its weight in double precision. Tables of all pairs,
    // and the lists beside them, come to about as much.
    const double graph = 2.0 * static_cast<double>(size.edges) * entry_bytes;
    // While bases are updated: XHᵀ and WᵀX of the scales worked on; where they share a product with a dense
    // X, their H stacked; their W, and a copy of one.
    const Index group = stationary ? scales_at_once(size.scales, size.cells, size.dense) : 1;
    const auto together = static_cast<double>(group);
    const double copies = size.dense && group > 1 ? 2.0 * together : together;
    const double bases = bases_rest ? (together + 1.0) * p * d * bytes : 0.0;
    const auto groups = static_cast<double>(std::min<Index>(threads, (size.scales + group - 1) / group));
    // While the certificate is confirmed: W, XHᵀ, WᵀX, HA and both gradients of a scale.
    const auto confirm = [&](double scales) {
        return scales * (((bases_rest ? 3.0 : 2.0) * p + 3.0 * n) * d * bytes + graph);
    };
    const auto busy = static_cast<double>(std::min<Index>(threads, size.scales));
    if (size.processes > 1) {
        const ProcessMemory process(size, bytes_of_number, threads);
        memory.slab = process.slab(memory.before > 0.0 ? 2.0 : 1.0);
        memory.products = process.products_of(T);
        const bool shifted = memory.shifts > 0.0;
        memory.shifts = shifted ? process.shifts() : 0.0;
        memory.work = std::max(process.work(groups * (together * p + copies * process.cells()) * d * bytes),
                               shifted ? process.shifting() : 0.0);
        if (size.local) {
            memory.factors = process.factors();
            memory.before = memory.before > 0.0 ? memory.factors : 0.0;
            memory.coarser = (size.nested ? memory.factors / 3.0 : 0.0) + single_X * process.cells() / n;
            memory.whole = process.whole();
        } else { // scales that were left out are judged with all cells on every process
            memory.work = std::max(memory.work, confirm(busy));
        }
        return memory;
    }
    if (options.device != Device::cpu && options.device != Device::automatic) {
        // The device has the rest. Here are the factors, and of the assessment the embedding of a scale in
        // double precision, a copy of it and the labels.
        memory.before = memory.shifts = 0.0;
        memory.products = size.data_on_host ? 2.0 * size.entries * (bytes + sizeof(std::int32_t)) : 0.0;
        memory.work = std::max(3.0 * n * d * sizeof(double), memory.result);
        return memory;
    }
    if (stationary && 2 * size.edges == size.cells * (size.cells - 1)) { // those that are kept
        memory.products += std::min(T, static_cast<double>(graphs_kept(size.cells))) * n * n * sizeof(double);
    }
    const double updating = groups * ((together * p + copies * n) * d * bytes + bases);
    memory.work = std::max(updating + busy * graph, confirm(busy));
    return memory;
}

} // namespace pnmf
