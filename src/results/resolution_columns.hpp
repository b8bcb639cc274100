#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/io/h5ad.hpp>

namespace pnmf {

/// Clusters as a column of categories "1", "2", … in the order of their numbers.
TableColumn cluster_column(const std::string& name, const std::vector<Index>& labels, Index clusters);

/// Several resolutions: `obs/pnmf_clusters_1`, … from few clusters to many, and in `uns/pnmf/resolutions`
/// for each of them clusters, scale (from 0), modularity, stability and agreement, the position of the
/// recommended one, and how they nest: `parents` has a row for each cluster of each resolution but the first:
/// resolution, cluster, parent in the one before (all from 0), share of its cells there.
/// `uns/pnmf_clusters_1_colors`, … have a colour for each cluster, as Scanpy keeps them: the largest part of
/// a cluster has its colour in the next resolution. Nothing where there is one resolution alone.
void add_resolutions(AnnDataFile& file, AnnDataMap& uns, const Resolutions& resolutions);

} // namespace pnmf
