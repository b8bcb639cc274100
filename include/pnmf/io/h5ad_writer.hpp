#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write_text.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pnmf {

/// Writes a .h5ad file block of cells by block, so that X need never be in memory: what `write_h5ad` writes
/// of the whole. The file appears whole, at `finish`, or not at all.
class H5adWriter {
  public:
    /// `cells` is the number that will come. Indices have 32 bits where that many cells cannot have more than
    /// 2³¹ − 1 entries, else 64.
    H5adWriter(const std::filesystem::path& path, const std::vector<std::string>& feature_names, Index cells,
               const AnnDataWriteOptions& options = {});
    ~H5adWriter();
    H5adWriter(H5adWriter&&) noexcept;
    H5adWriter& operator=(H5adWriter&&) noexcept;

    /// The next cells, features × cells of the block.
    void append(const SparseMatrix<double>& columns);
    /// InputError unless as many cells came as were announced, and have names. `beside`: files that take
    /// their names together with this one, or not at all.
    void finish(const std::vector<std::string>& cell_names, const std::vector<TableColumn>& cell_table,
                const std::vector<TextFile>& beside = {});

    std::int64_t entries() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace pnmf
