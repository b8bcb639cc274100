#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstring>
#include <variant>
#include <vector>

namespace pnmf::python {

namespace py = pybind11;

/// float64, C-ordered; anything else is the caller's to convert, so that no copy happens unseen.
using Array = py::array_t<double, py::array::c_style>;

/// Cells × features as Python holds them: an array, or the parts (data, indices, indptr, shape) of a CSR
/// matrix.
///
/// Both are features × cells by columns, byte for byte, so the view copies nothing but the offsets of CSR; an
/// array that does not begin at a multiple of 16 bytes is copied, because sums would run in another order.
/// Holds references: destroy it with the interpreter's lock held.
class Cells {
  public:
    explicit Cells(const py::object& X);

    DataView view() const;
    Index features() const { return features_; }
    Index count() const { return cells_; }

  private:
    py::object keep_;
    Index features_ = 0;
    Index cells_ = 0;
    const double* dense_ = nullptr;
    Matrix aligned_;
    SparseView<double> sparse_;
    std::vector<std::int64_t> start_;
};

/// The same in memory of one's own.
std::variant<Matrix, SparseMatrix<double>> copy_of(const Cells& cells);

/// An array of two axes as the columns of a matrix: n × d becomes d × n, the same bytes.
inline Matrix columns_of(const Array& array) {
    if (array.ndim() != 2) {
        throw py::value_error("an array of two axes is needed");
    }
    return Eigen::Map<const Matrix>(array.data(), array.shape(1), array.shape(0));
}

/// The columns of a matrix as rows of an array, d × n becomes n × d; the array owns the memory, nothing is
/// copied.
template <class Real>
py::array_t<Real> rows_of(DenseMatrix<Real> matrix) {
    auto* owned = new DenseMatrix<Real>(std::move(matrix));
    const py::capsule owner(owned, [](void* held) { delete static_cast<DenseMatrix<Real>*>(held); });
    return py::array_t<Real>({owned->cols(), owned->rows()}, owned->data(), owner);
}

template <class Value>
py::array_t<Value> array_of(const std::vector<Value>& values) {
    return py::array_t<Value>(static_cast<py::ssize_t>(values.size()), values.data());
}

inline std::vector<Index> labels_of(const py::array_t<std::int64_t, py::array::c_style>& labels) {
    return {labels.data(), labels.data() + labels.size()};
}

} // namespace pnmf::python
