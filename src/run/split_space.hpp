#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/types.hpp>

#include <memory>
#include <optional>

namespace pnmf {

/// What splits of the cells of X are tested on, with the coordinates that it looks at. It must not move:
/// hence the pointer below.
struct SplitSpace {
    Matrix made; ///< where none were given
    Matrix depth;
    std::optional<SplitEvidence> evidence;
};

/// `space`: coordinates of the cells of X, which must stay; null: 30 principal components of X, or X itself
/// where it has no more features than that. `local`: the cells of X where this process has some of them.
std::unique_ptr<SplitSpace> split_space(const DataView& X, const Matrix* space,
                                        const std::optional<CellRange>& local);

} // namespace pnmf
