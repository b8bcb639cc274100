#include "files/unnamed_file.hpp"

#include <pnmf/model/problem.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace pnmf {
template <class Real>
MatrixFile<Real>::MatrixFile(std::filesystem::path folder, Index count, Index rows, Index cols)
    : folder_(std::move(folder)), count_(count), rows_(rows), cols_(cols),
      descriptor_(open_unnamed(folder_)) {
    if (const int error = give_size(descriptor_, count * bytes()); error != 0) {
        ::close(descriptor_);
        refuse_file(folder_, "given its size", error);
    }
}

template <class Real>
MatrixFile<Real>::MatrixFile(const MatrixFile& other)
    : MatrixFile(other.folder_, other.count_, other.rows_, other.cols_) {
    copy_from(other);
}

template <class Real>
MatrixFile<Real>& MatrixFile<Real>::operator=(const MatrixFile& other) {
    if (descriptor_ >= 0 && folder_ == other.folder_ && count_ == other.count_ && rows_ == other.rows_ &&
        cols_ == other.cols_) {
        copy_from(other);
    } else {
        *this = MatrixFile(other);
    }
    return *this;
}

template <class Real>
void MatrixFile<Real>::copy_from(const MatrixFile& other) {
    DenseMatrix<Real> matrix;
    for (Index t = 0; t < count_; ++t) {
        other.read(t, matrix);
        write(t, matrix);
    }
}

template <class Real>
MatrixFile<Real>::MatrixFile(MatrixFile&& other) noexcept
    : folder_(std::move(other.folder_)), count_(other.count_), rows_(other.rows_), cols_(other.cols_),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

template <class Real>
MatrixFile<Real>& MatrixFile<Real>::operator=(MatrixFile&& other) noexcept {
    std::swap(folder_, other.folder_);
    std::swap(count_, other.count_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

template <class Real>
MatrixFile<Real>::~MatrixFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
}

template <class Real>
void MatrixFile<Real>::write(Index t, const DenseMatrix<Real>& matrix) {
    assert(t >= 0 && t < count_ && matrix.rows() == rows_ && matrix.cols() == cols_);
    const auto* const from = reinterpret_cast<const char*>(matrix.data());
    if (const int error = transfer_all(::pwrite, descriptor_, from, bytes(), t * bytes()); error != 0) {
        refuse_file(folder_, "written", error);
    }
}

template <class Real>
void MatrixFile<Real>::read(Index t, DenseMatrix<Real>& matrix) const {
    assert(t >= 0 && t < count_);
    matrix.resize(rows_, cols_);
    auto* const to = reinterpret_cast<char*>(matrix.data());
    if (const int error = transfer_all(::pread, descriptor_, to, bytes(), t * bytes()); error != 0) {
        refuse_file(folder_, "read", error);
    }
}

template class MatrixFile<float>;
template class MatrixFile<double>;

} // namespace pnmf
