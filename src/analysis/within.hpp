#pragma once

#include <pnmf/io/dataset.hpp>

#include <string>

namespace pnmf {

/// Leaves the cells of one cluster of an earlier result, so that this cluster can be fitted alone.
///
/// `where`: RESULT:CLUSTER, with the folder or file of the result and the name of the cluster in
/// obs/pnmf_clusters, or RESULT:COLUMN=CLUSTER with another column of obs. Cells are matched by name; those
/// that the result does not have are left out too. What was chosen is the step `step::within` of
/// `data.input`. Before `prepare`: genes and components are then those of the cells that are left.
///
/// InputError when there is no such result, column or cluster, or when a cell of the cluster is not in the
/// data or its name occurs twice.
void keep_cluster(Dataset& data, const std::string& where);

} // namespace pnmf
