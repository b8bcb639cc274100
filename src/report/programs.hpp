#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace pnmf::report {

/// The genes that make up the components of some scales.
struct Programs {
    Index top = 0;             ///< genes listed for each component
    std::vector<Index> scales; ///< positions in the page's list of scales
    std::vector<Index> genes;  ///< features that occur in a list, the recommended scale's first
    /// Positions in `genes`, scales × d × top: by score (empty where there are no scores); by weight; and by
    /// lead, the weight less the largest weight the gene has in another component.
    std::vector<std::int32_t> by_score;
    std::vector<std::int32_t> by_weight;
    std::vector<std::int32_t> by_lead;
    std::vector<std::uint8_t> weight; ///< scales × d × genes, 255 is the component's largest weight
    std::vector<float> largest;       ///< scales × d, that weight
};

/// `basis(i)` is W, p × d, at the page's i-th scale, for i in `scales`; `first` is one of them. `scores(i)`
/// is `program_scores` there, p × d; it may be empty. Scales are left out, evenly, until scales · d · genes
/// is at most `budget`.
Programs gene_programs(const std::function<Matrix(Index)>& basis, const std::function<Matrix(Index)>& scores,
                       const std::vector<Index>& scales, Index first, Index budget);

/// At most `count` ≥ 1 of the ascending `values`, evenly spaced, `kept` among them when it is one of them;
/// the first and the last, too, unless count < 3.
std::vector<Index> evenly(const std::vector<Index>& values, Index count, Index kept);

} // namespace pnmf::report
