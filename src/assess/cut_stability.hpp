#pragma once

#include "assess/split_tree.hpp"

namespace pnmf {

/// Of each cut of a tree of splits: is it found again when a fifth of the cells is left out?
///
/// In `resamples` random subsets of four fifths of the cells, k-means, joining and tests are done anew, and
/// the new tree is cut to as many clusters, or to all that it has. The stability is the mean ARI of these
/// clusters with those of the cut; of one cluster it is 1.
///
/// `embedding`: e × m, of the cells of `cells`; `leaf`: of each, in `tree`.
std::vector<double> cut_stability(const SplitCells& cells, const Matrix& embedding, const SplitTree& tree,
                                  const std::vector<Index>& leaf, Index leaves, Index resamples);

} // namespace pnmf
