#pragma once

#include <pnmf/io/h5ad.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pnmf::report {

/// A result as its file has it, without the large arrays. What a file lacks is empty.
struct StoredResult {
    std::filesystem::path path;
    AnnDataFile file; ///< without X, layers, H and W
    Index scales = 0; ///< T
    Index rank = 0;   ///< d
    Index cells = 0;
    Index recommended = 0;
    bool has_basis = false; ///< uns/pnmf/W is there

    /// An array of uns/pnmf of `count` numbers; empty when there is none of that size.
    std::vector<double> numbers(const std::string& name, Index count) const;
    /// The same of any length.
    std::vector<double> numbers(const std::string& name) const;
    std::string text(const std::string& name) const;
    std::vector<std::string> texts(const std::string& name) const;
    Matrix embedding(Index t) const; ///< H_t, d × n
};

/// InputError unless the file (or folder with a result.h5ad) is there and has H of its cells.
StoredResult read_stored_result(const std::filesystem::path& path);

} // namespace pnmf::report
