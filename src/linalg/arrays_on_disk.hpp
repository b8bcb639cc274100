#pragma once

#include <pnmf/types.hpp>

#include <cstddef>
#include <filesystem>

/// Arrays that may be larger than memory: each lies in a file without a name, which the system reads and
/// writes in pages as they are used. Pointers, values and so all bits stay the same.
namespace pnmf {

/// Whether this process can: its allocator must give large blocks back to the system, as those of sanitisers
/// do not.
bool may_keep_on_disk();
/// From now on `keep_on_disk` does what it says, with files in this folder; where that is empty, it does
/// nothing. For the whole process. Returns the folder before.
std::filesystem::path set_array_folder(std::filesystem::path folder);
bool arrays_on_disk();

/// An array that `new` or `malloc` has made moves into a file, where it is large. It is freed as before.
/// `filled`: with its values; else they are zero. SystemError when the disk is full: then nothing has
/// changed.
void keep_on_disk(const void* values, std::size_t bytes, bool filled = true);

template <class Real>
void keep_on_disk(const DenseMatrix<Real>& matrix) {
    keep_on_disk(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Real));
}

/// As `resize`; a matrix that gets new memory has it in a file. What it held is lost then.
template <class Real>
void resize_on_disk(DenseMatrix<Real>& matrix, Index rows, Index cols) {
    if (matrix.size() != rows * cols) {
        matrix.resize(rows, cols);
        keep_on_disk(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(Real), false);
    }
    matrix.resize(rows, cols);
}

} // namespace pnmf
