#include "cells/cell_blocks.hpp"
#include "cells/processes.hpp"
#include "persistence/union_find.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/solvers/memory_plan.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

#ifndef __EMSCRIPTEN__
#include <linux/magic.h>
#endif
#include <numeric>
#include <string>
#include <sys/vfs.h>

namespace pnmf {
namespace {

std::string size_text(double bytes) {
    return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes / 1e9) : fmt::format("{:.0f} MB", bytes / 1e6);
}

/// What a run does about its memory.
struct Measures {
    bool bases_rest;
    bool keep_momentum;
    bool keep_shifts;
};

SolverMemory memory_of(const Measures& way, const FitSize& size, SolverOptions options, Index bytes_of_number,
                       int threads) {
    options.extrapolate = options.extrapolate && way.keep_momentum;
    options.shift_components = options.shift_components && way.keep_shifts;
    return solver_memory(size, options, bytes_of_number, threads, way.bases_rest);
}

std::string what_needs_less(Index bytes_of_number, int threads, const Allowed& allowed) {
    return fmt::format("Fewer scales{}{}, or a lower rank needs less{}",
                       bytes_of_number > 4 ? ", single precision" : "", threads > 1 ? ", fewer threads" : "",
                       allowed.keep_less
                           ? ""
                           : ". A run that is resumed keeps what it began with: it needs the memory it had");
}

/// Components at each scale, as processes hold them.
SharedComponents components_of_processes(const SpanningTree& tree, const std::vector<double>& epsilon,
                                         const BlockShares& shares) {
    constexpr std::int32_t wide = -1;
    UnionFind sets(tree.cells);
    std::vector<std::int32_t> block(static_cast<std::size_t>(tree.cells)); // of a set, or that it is wide
    std::vector<int> process_of_block;
    for (int r = 0; r < shares.processes(); ++r) {
        process_of_block.resize(static_cast<std::size_t>(shares.first[r + 1]), r);
    }
    std::vector<Index> narrow(static_cast<std::size_t>(shares.processes()), 0);
    std::vector<Index> sum_of_narrow = narrow;
    SharedComponents result;
    Index wide_sets = 0;
    Index cells_in_wide = 0;
    const auto count = [&](Index set, Index one) {
        if (block[set] == wide) {
            wide_sets += one;
            cells_in_wide += one * sets.size(set);
        } else {
            narrow[process_of_block[block[set]]] += one;
        }
    };
    for (Index j = 0; j < tree.cells; ++j) {
        block[j] = static_cast<std::int32_t>(shares.blocks.of(j));
        count(j, 1);
    }
    auto edge = tree.edges.begin();
    for (const double limit : epsilon) {
        for (; edge != tree.edges.end() && edge->length < limit; ++edge) {
            const Index a = sets.find(edge->i);
            const Index b = sets.find(edge->j);
            count(a, -1);
            count(b, -1);
            const std::int32_t joined = block[a] == block[b] ? block[a] : wide;
            sets.join(a, b);
            const Index set = sets.find(a);
            block[set] = joined;
            count(set, 1);
        }
        for (std::size_t r = 0; r < narrow.size(); ++r) {
            sum_of_narrow[r] += narrow[r];
        }
        result.wide += wide_sets;
        result.slots += std::min(cells_in_wide, wide_sets * std::ssize(shares.nodes));
    }
    result.narrow = *std::max_element(sum_of_narrow.begin(), sum_of_narrow.end());
    return result;
}

/// The same where `scales` of them will be taken: an equal share of those looked at, at most some hundreds.
SharedComponents components_of_processes(const SpanningTree& tree, const std::vector<double>& epsilon,
                                         Index scales, const BlockShares& shares) {
    constexpr Index most = 500;
    std::vector<double> looked_at;
    for (const Index t : evenly_spaced(std::min<Index>(most, std::ssize(epsilon)), std::ssize(epsilon))) {
        looked_at.push_back(epsilon[t]);
    }
    const auto share_of = [&](Index sum) {
        return static_cast<Index>(std::ceil(static_cast<double>(sum) * static_cast<double>(scales) /
                                            static_cast<double>(looked_at.size())));
    };
    const SharedComponents all = components_of_processes(tree, looked_at, shares);
    return {.narrow = share_of(all.narrow), .wide = share_of(all.wide), .slots = share_of(all.slots)};
}

} // namespace

double parse_size(const std::string& text) {
    std::size_t end = 0;
    double number = 0.0;
    try {
        number = std::stod(text, &end);
    } catch (const std::exception&) {
        end = 0;
    }
    std::string unit = text.substr(end);
    if (!unit.empty() && std::toupper(static_cast<unsigned char>(unit.back())) == 'B') {
        unit.pop_back();
    }
    const bool binary = unit.size() == 2 && unit[1] == 'i';
    const std::string letters = "KMGT";
    const std::size_t power =
        unit.empty() ? 0
                     : letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])))) + 1;
    const bool known = unit.empty() || ((unit.size() == 1 || binary) && power > 0);
    require(end > 0 && known && std::isfinite(number) && number > 0.0,
            "memory must be a size such as 16G or 800M, got {}", text);
    return number * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power));
}

template <class Real>
Index expected_scales(const PreparedFit<Real>& prepared) {
    if (!prepared.adapts()) {
        return prepared.scales.size();
    }
    constexpr Index usual = 16; // the ten labelled sets of docs/choosing-scales.md need 9 to 12
    return std::min(prepared.scales.size(), prepared.options.filtration.scales.max_scales.value_or(usual));
}

template <class Real>
FitSize fit_size(const PreparedFit<Real>& prepared, bool start_is_made, bool nested) {
    const FitOptions& options = prepared.options;
    const Index n = prepared.X->cells();
    const Index pairs = n * (n - 1) / 2;
    const std::optional<Index> neighbors = options.filtration.neighbors;
    const auto& betti0 = prepared.scales.betti0;
    const Index scales = expected_scales(prepared);
    // Of few scales that are not known yet: an equal share of the components of all.
    const Index components =
        std::accumulate(betti0.begin(), betti0.end(), Index{0}) * scales / prepared.scales.size();
    const Index processes = all_processes().count();
    std::optional<SharedComponents> of_process;
    if (processes > 1 && prepared.tree) {
        of_process = components_of_processes(prepared.graph->tree(), prepared.scales.epsilon, scales,
                                             share(usual_blocks(n), processes));
    }
    return {.features = prepared.X->features(),
            .cells = n,
            .scales = scales,
            .rank = prepared.rank,
            .dense = !prepared.X->is_sparse(),
            .nested = nested,
            .seeded = start_is_made,
            .edges = neighbors ? std::min(pairs, n * (*neighbors + 1)) : pairs,
            .components = components,
            .processes = processes,
            .local = !prepared.X->has_all_cells(),
            .entries = static_cast<double>(prepared.X->nonzeros()),
            .data_on_host = prepared.data_on_host,
            .of_process = of_process};
}

template Index expected_scales(const PreparedFit<float>&);
template Index expected_scales(const PreparedFit<double>&);
template FitSize fit_size(const PreparedFit<float>&, bool, bool);
template FitSize fit_size(const PreparedFit<double>&, bool, bool);

bool is_on_disk(const std::filesystem::path& folder) {
    std::filesystem::path there = std::filesystem::absolute(folder);
    while (!std::filesystem::exists(there) && there.has_relative_path()) {
        there = there.parent_path();
    }
#ifdef __EMSCRIPTEN__
    return false; // the files of a page are in its memory
#else
    struct statfs found {};
    return statfs(there.c_str(), &found) != 0 || (found.f_type != TMPFS_MAGIC && found.f_type != RAMFS_MAGIC);
#endif
}

MemoryPlan plan_memory(double limit, double held, const FitSize& size, const SolverOptions& options,
                       Index bytes_of_number, int threads, const Allowed& allowed) {
    // From what costs least to what costs most: files cost time in every sweep, what is not kept costs
    // sweeps.
    constexpr std::array<Measures, 6> ways{{{false, true, true},
                                            {true, true, true},
                                            {false, false, true},
                                            {true, false, true},
                                            {false, false, false},
                                            {true, false, false}}};
    Measures chosen = ways.front();
    SolverMemory memory;
    for (const Measures& way : ways) {
        const bool keeps_all = way.keep_momentum && way.keep_shifts;
        if ((way.bases_rest && !allowed.files) || (!keeps_all && !allowed.keep_less)) {
            continue;
        }
        const SolverMemory all = memory_of(way, size, options, bytes_of_number, threads);
        const SolverMemory needed = allowed.out_of_core ? all.beside_files() : all;
        if (&way == &ways.front() || needed.total() < memory.total()) {
            memory = needed;
            chosen = way;
        }
        if (held + memory.total() <= limit) {
            break;
        }
    }
    MemoryPlan plan;
    plan.bases_rest = chosen.bases_rest;
    plan.keep_momentum = chosen.keep_momentum;
    plan.keep_shifts = chosen.keep_shifts;
    plan.bytes = held + memory.total();
    plan.free_after = memory.freed();
    const bool momentum = memory.before > 0.0;
    if (plan.bases_rest) {
        const double copies = momentum ? 2.0 : size.nested ? 4.0 / 3.0 : 1.0;
        plan.file_bytes = copies * static_cast<double>(size.scales * size.features) *
                          static_cast<double>(size.rank * bytes_of_number);
    }
    require(plan.bytes <= limit, Remedy::need_less_memory,
            "memory: this run needs {} ({} data and graph, {} factors, {} products and sums, {} for {} "
            "threads), "
            "more than {}. {}",
            size_text(plan.bytes), size_text(held), size_text(memory.factors + memory.slab),
            size_text(memory.products + memory.shifts), size_text(memory.work), threads, size_text(limit),
            what_needs_less(bytes_of_number, threads, allowed));
    plan.text = fmt::format(
        "memory: {} of {} planned: {} data and graph, {} factors, {}{} products and sums, {} for {} threads",
        size_text(plan.bytes), size_text(limit), size_text(held), size_text(memory.factors + memory.slab),
        momentum ? size_text(memory.before) + " the point before, " : "",
        size_text(memory.products + memory.shifts), size_text(memory.work), threads);
    plan.text += "; graph weights are recomputed at every use";
    if (size.data_on_host) {
        plan.text += "; products and sums are a copy of the data that the device reads";
    }
    if (plan.bases_rest) {
        plan.text += fmt::format("; the bases rest in files of {}, read and written in every sweep",
                                 size_text(plan.file_bytes));
    }
    const bool gave_up_momentum = options.extrapolate && !plan.keep_momentum;
    const bool gave_up_shifts = options.shift_components && !plan.keep_shifts;
    if (gave_up_shifts) {
        plan.text += gave_up_momentum ? "; the point before and sums" : "; sums";
        plan.text += " over components are not kept, so more sweeps are needed";
    } else if (gave_up_momentum) {
        plan.text += "; the point before is not kept, so sweeps have no momentum and more of them are needed";
    }
    return plan;
}

} // namespace pnmf
