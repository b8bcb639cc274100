#pragma once

#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/fit_order.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/solvers/fit.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What every factorisation does with its data before it begins, with or without scales.
namespace pnmf {

/// InputError, naming the first entry that is wrong, unless X has a feature and a cell and holds finite
/// values ≥ 0, neither so large nor all so small that the precision of the computation cannot hold what is
/// made of them. With local cells all processes must ask.
void check_values(const DataView& X, const std::optional<CellRange>& local = {},
                  Index bytes_of_number = sizeof(double));

/// Whether these data are sparse, but filled so far that `data_of` makes a table of them: by two fifths or
/// more for a computation in double precision, by half or more in single. With local cells, those of all
/// processes together count, and all must ask.
bool becomes_dense(const DataView& X, Index bytes_of_number, const std::optional<CellRange>& local = {});

/// The data in the precision of the computation: viewed where that is double and `keep` is false, else
/// copied. Sparse data that are filled (`becomes_dense`) are copied into a table. With local cells, X has
/// their cells alone, and all processes must ask. With an order cells are copied into that order.
template <class Real>
std::unique_ptr<const DataMatrix<Real>>
data_of(const DataView& X, bool keep, const std::optional<CellRange>& local = {}, const FitOrder& order = {});

/// What `data_of` will have, of all processes.
struct DataSize {
    Index features = 0;
    Index cells = 0;
    std::int64_t nonzeros = 0; ///< of a table all entries
    bool dense = false;
};

/// With local cells all processes must ask.
DataSize size_of_data(const DataView& X, Index bytes_of_number, const std::optional<CellRange>& local = {});

/// The rank asked for, 1 ≤ d ≤ min(p, n) or InputError; else ⌈√n⌉, at most min(p, n), with a notice.
Index chosen_rank(std::optional<Index> asked, Index features, Index cells, std::vector<std::string>& notices);

} // namespace pnmf
