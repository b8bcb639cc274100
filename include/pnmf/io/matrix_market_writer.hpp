#pragma once

#include <pnmf/io/write_text.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace pnmf {

/// Writes a MatrixMarket file block of columns by block, so that the matrix need never be in memory.
///
/// A name that ends in .gz is compressed, blocks in parallel, as gzip members one after the other. The number
/// of entries stands in the header and is known last: the header has a fixed width (in gzip, a member of its
/// own that is not deflated) and is written again at the end. The file appears whole, at `finish`, or not at
/// all. The bytes do not depend on the number of threads.
class MatrixMarketWriter {
  public:
    /// `integers`: values are whole numbers and written as such.
    MatrixMarketWriter(const std::filesystem::path& path, Index rows, bool integers);
    ~MatrixMarketWriter();
    MatrixMarketWriter(MatrixMarketWriter&&) noexcept;
    MatrixMarketWriter& operator=(MatrixMarketWriter&&) noexcept;

    /// The next columns.
    void append(const SparseMatrix<double>& columns);
    /// `beside`: files that take their names together with this one, or not at all.
    void finish(const std::vector<TextFile>& beside = {});

    Index columns() const;
    std::int64_t entries() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace pnmf
