#pragma once

#include <pnmf/io/dataset.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf::io {

/// A table of text, all rows of one length. Whether the first row is a header is for the caller to say.
///
/// A first row with one field less than the rows below it (as R writes them) is a header whose first name is
/// missing.
struct TextTable {
    std::string name;
    std::vector<std::string> header; ///< empty until `take_header`
    std::vector<std::vector<std::string>> columns;
    bool short_header = false; ///< the first row was completed by an empty field
    std::vector<Index> blank;  ///< for each blank line, which is no row, the rows before it

    Index rows() const { return columns.empty() ? 0 : static_cast<Index>(columns.front().size()); }
    /// Makes the first row the header.
    void take_header();
    /// Makes blank lines rows of empty fields; nothing where the number of rows is one of `counts` already,
    /// or would not become one.
    void count_blank_lines(const std::vector<Index>& counts);
};

/// InputError names file and line when rows differ in length.
TextTable read_table(const std::filesystem::path& path);

/// Numbers when each value is one and no text would be lost ("007" stays text), else text.
TableColumn make_column(std::string name, std::vector<std::string> values);

} // namespace pnmf::io
