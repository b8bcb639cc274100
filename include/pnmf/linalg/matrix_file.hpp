#pragma once

#include <pnmf/types.hpp>

#include <cstdint>
#include <filesystem>

namespace pnmf {

/// Matrices of one shape that rest on disk, in a file without a name: it is gone when this is, also after a
/// crash. Its room on the disk is taken when it is made, not while it is written. Different
/// matrices may be read and written from several threads. Each failure is a SystemError that names the
/// folder.
template <class Real>
class MatrixFile {
  public:
    /// Room for `count` matrices of rows × cols; what they hold is unspecified.
    MatrixFile(std::filesystem::path folder, Index count, Index rows, Index cols);
    /// Another file in the same folder, with the same contents; an own file of the same shape is used again.
    MatrixFile(const MatrixFile& other);
    MatrixFile& operator=(const MatrixFile& other);
    MatrixFile(MatrixFile&& other) noexcept;
    MatrixFile& operator=(MatrixFile&& other) noexcept;
    ~MatrixFile();

    void write(Index t, const DenseMatrix<Real>& matrix);
    void read(Index t, DenseMatrix<Real>& matrix) const;

  private:
    void copy_from(const MatrixFile& other);
    std::int64_t bytes() const { return rows_ * cols_ * static_cast<std::int64_t>(sizeof(Real)); }

    std::filesystem::path folder_;
    Index count_ = 0;
    Index rows_ = 0;
    Index cols_ = 0;
    int descriptor_ = -1;
};

} // namespace pnmf
