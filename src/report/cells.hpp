#pragma once

#include "report/payload.hpp"

#include <pnmf/io/dataset.hpp>
#include <pnmf/report/report.hpp>
#include <pnmf/results/stored_result.hpp>

#include <vector>

namespace pnmf::report {

/// Gives the labels at one scale, 0 … count − 1, the numbers that agree best with those at the scale before.
void align_labels(std::vector<Index>& labels, const std::vector<Index>& before, Index count);

/// Columns about the cells, as categories with a number for each cell or as 8-bit numbers with their range.
void add_columns(Payload& payload, const StoredResult& result);

/// The clusters at the given scales (positions of the result), when the file has them. Numbers are changed so
/// that a cluster keeps its number from one scale to the next where most of its cells stay together; with
/// each label column come the adjusted Rand index and normalised mutual information of every given scale.
void add_clusters(Payload& payload, const StoredResult& result, const std::vector<Index>& scales);

/// The resolutions, with the cells of each cluster and how they nest; nothing where the result has none.
void add_resolutions(Payload& payload, const StoredResult& result);

/// The persistence diagram that loops were looked for in, and what was found; nothing where none is kept.
void add_loops(Payload& payload, const StoredResult& result);

/// The pairs that the graphs join, shortest first, when there are few cells.
void add_graph(Payload& payload, const StoredResult& result, const Dataset& data,
               const ReportOptions& options);

} // namespace pnmf::report
