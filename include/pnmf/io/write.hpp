#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pnmf {

/// Writes a file whole or not at all; gzip when its name ends in .gz.
void write_text(const std::filesystem::path& path, std::string_view text);

struct TextFile {
    std::filesystem::path path;
    std::string text;
};

/// The same for files that belong together: all of them take their names, or none does.
void write_texts(const std::vector<TextFile>& files);

// Files are written whole or not at all: to a temporary file in the same folder, then renamed. A full disk
// or a folder that cannot be written is a SystemError that names the file. Numbers are written so that
// reading them gives the same bits. Endings .gz compress; text is delimited by commas when the name ends in
// .csv, else by tabs.

/// An array of any shape in C order: the last index runs fastest.
template <class Real>
void write_npy(const std::filesystem::path& path, std::span<const Real> values, std::span<const Index> shape);

/// A matrix, rows × columns as given.
template <class Real>
void write_npy(const std::filesystem::path& path, const DenseMatrix<Real>& matrix);

/// A table with a header; all columns of one length.
void write_table(const std::filesystem::path& path, const std::vector<TableColumn>& columns);

/// X with names: a header and a first column. `cells` says which axis of the file holds them.
void write_delimited(const std::filesystem::path& path, const Dataset& data,
                     CellAxis cells = CellAxis::columns);

/// X without names: coordinates when sparse, an array when dense.
void write_matrix_market(const std::filesystem::path& path, const Dataset& data,
                         CellAxis cells = CellAxis::columns);

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
