#include "run/assess_tissue.hpp"
#include "graphs/sparse_graph.hpp"
#include "graphs/tree_order.hpp"
#include "linalg/parallel_copy.hpp"

#include <pnmf/error.hpp>

#include <fmt/format.h>

namespace pnmf {

namespace {

/// `find_domains` of a fit whose graph joins cells that are near each other in a tissue.
template <class Real>
Domains tissue_domains(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                       const DomainOptions& options) {
    const auto* graph = dynamic_cast<const SparseMultiscaleGraph*>(prepared.graph.get());
    require(graph != nullptr, "domains need a graph of nearest neighbours: give their number");
    NeighborLists lists; // in the order of the data
    if (!prepared.order.empty()) {
        lists = renumbered(graph->lists(), inverse(prepared.order));
    }
    const auto embedding = [&](Index t) {
        return converted<double>(result.factors.H[static_cast<std::size_t>(t)]);
    };
    return find_domains(result.scales.epsilon, Embeddings(embedding),
                        prepared.order.empty() ? graph->lists() : lists, options);
}

std::string domains_sentence(const Domains& domains, bool given) {
    return fmt::format("{} domains{}, from scale {}: the coarsest at which the programs are at least half as "
                       "distinct as at the finest, with neighbourhoods of {:.3g} cells",
                       domains.count,
                       given ? "" : ", the smallest number with most of what BIC gains over one",
                       domains.scale + 1, domains.neighbors[static_cast<std::size_t>(domains.scale)]);
}

} // namespace

template <class Real>
Assessment assess_tissue(const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                         AssessOptions assessing, const Assessment& types, const DomainOptions& options,
                         std::optional<Domains>& domains) {
    require(prepared.X->has_all_cells(), "cells in a tissue are analysed by one process");
    assessing.clusters = types.cluster_count;
    assessing.found = &types.resolutions;
    Assessment assessment = assess_fit(prepared, result, assessing);
    assessment.notices = types.notices;
    domains = tissue_domains(prepared, result, options);
    assessment.notices.push_back(domains_sentence(*domains, options.domains.has_value()));
    return assessment;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template Assessment assess_tissue(const PreparedFit<Real>&, const FitResult<Real>&, AssessOptions,       \
                                      const Assessment&, const DomainOptions&, std::optional<Domains>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
