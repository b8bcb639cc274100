#include <pnmf/error.hpp>
#include <pnmf/model/problem.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace pnmf {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& folder, const char* what, int error) {
    throw SystemError(fmt::format("{}: a temporary file cannot be {}: {}", folder.string(), what,
                                  std::generic_category().message(error)));
}

/// A file without a name; on file systems that have no such thing, one whose name is removed at once.
int open_unnamed(const std::filesystem::path& folder) {
    const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0) {
        return unnamed;
    }
    std::string name = (folder / ".bases.XXXXXX").string(); // mkostemp puts letters for the Xs
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named < 0) {
        refuse(folder, "made", errno);
    }
    if (::unlink(name.c_str()) != 0) {
        const int error = errno;
        ::close(named);
        refuse(folder, "removed", error);
    }
    return named;
}

/// All `size` bytes at `offset`, by `transfer` (pread or pwrite), which may stop short.
template <class Transfer, class Byte>
int transfer_all(Transfer transfer, int descriptor, Byte* bytes, std::int64_t size, std::int64_t offset) {
    while (size > 0) {
        const ssize_t moved = transfer(descriptor, bytes, static_cast<std::size_t>(size), offset);
        if (moved < 0 && errno == EINTR) {
            continue;
        }
        if (moved <= 0) {
            return moved < 0 ? errno : EIO;
        }
        bytes += moved;
        offset += moved;
        size -= moved;
    }
    return 0;
}

} // namespace

template <class Real>
MatrixFile<Real>::MatrixFile(std::filesystem::path folder, Index count, Index rows, Index cols)
    : folder_(std::move(folder)), count_(count), rows_(rows), cols_(cols),
      descriptor_(open_unnamed(folder_)) {
    int error = 0;
    do { // EINTR: a signal came
        error = count * bytes() > 0 ? ::posix_fallocate(descriptor_, 0, count * bytes()) : 0;
    } while (error == EINTR);
    if (error != 0) {
        ::close(descriptor_);
        refuse(folder_, "given its size", error);
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
        refuse(folder_, "written", error);
    }
}

template <class Real>
void MatrixFile<Real>::read(Index t, DenseMatrix<Real>& matrix) const {
    assert(t >= 0 && t < count_);
    matrix.resize(rows_, cols_);
    auto* const to = reinterpret_cast<char*>(matrix.data());
    if (const int error = transfer_all(::pread, descriptor_, to, bytes(), t * bytes()); error != 0) {
        refuse(folder_, "read", error);
    }
}

template class MatrixFile<float>;
template class MatrixFile<double>;

} // namespace pnmf
