#pragma once

#include <pnmf/io/dataset.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// The column of the cells' table that holds their batches, once they are known.
inline constexpr const char* batch_column = "pnmf_batch";

/// Which batch each cell is of.
struct Batches {
    std::string column{};             ///< what the user called it
    std::vector<std::string> names{}; ///< in the order of the column's categories, else by name or number
    std::vector<Index> of_cell{};     ///< positions among the names
    std::vector<Index> cells() const; ///< of each batch
};

/// Takes the batches of the cells from where `read_labels` takes labels: a column of the table of cells, or a
/// text table. They become the column `batch_column`, which follows what is done to the cells, and are
/// recorded in `data.input`. Numbers are batches too. Read them before `prepare` drops cells. InputError,
/// with the columns there are, where there is no such column, and where a cell has no batch.
void add_batches(Dataset& data, const std::string& where);

/// The same from values at hand, one for each cell; `column` is what they are called.
void add_batches(Dataset& data, const std::string& column, std::vector<std::string> values);

/// The batches of the cells that are left; nothing where none were added. InputError, with the name, where
/// there is one batch alone or a batch of one cell: nothing can be balanced then.
std::optional<Batches> batches_of(const Dataset& data);

} // namespace pnmf
