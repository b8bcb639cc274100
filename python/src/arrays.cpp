#include "arrays.hpp"

#include <pnmf/error.hpp>

#include <cstdint>

namespace pnmf::python {
namespace {

template <class Value>
py::array_t<Value, py::array::c_style> as_held(const py::handle& object, const char* what) {
    using Wanted = py::array_t<Value, py::array::c_style>;
    require(Wanted::check_(object), "{} must be a C-ordered array of the right type", what);
    return py::reinterpret_borrow<Wanted>(object);
}

std::vector<std::int64_t> offsets(const py::handle& indptr) {
    const auto wide = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>::ensure(indptr);
    require(static_cast<bool>(wide), "the offsets of a sparse matrix must be integers");
    return {wide.data(), wide.data() + wide.size()};
}

} // namespace

Cells::Cells(const py::object& X) : keep_(X) {
    if (py::isinstance<py::tuple>(X)) {
        const auto parts = X.cast<py::tuple>();
        require(parts.size() == 4, "a sparse matrix is (data, indices, indptr, shape)");
        const auto shape = parts[3].cast<std::pair<Index, Index>>();
        cells_ = shape.first;
        features_ = shape.second;
        const auto value = as_held<double>(parts[0], "the values of a sparse matrix");
        const auto row = as_held<std::int32_t>(parts[1], "the indices of a sparse matrix");
        start_ = offsets(parts[2]);
        require(!start_.empty(), "a sparse matrix needs offsets");
        sparse_ = {features_,
                   cells_,
                   start_,
                   {row.data(), static_cast<std::size_t>(row.size())},
                   {value.data(), static_cast<std::size_t>(value.size())}};
        return;
    }
    const auto array = as_held<double>(X, "X");
    require(array.ndim() == 2, "X must have two axes, cells x features, got {}", array.ndim());
    cells_ = array.shape(0);
    features_ = array.shape(1);
    dense_ = array.data();
    if (reinterpret_cast<std::uintptr_t>(dense_) % 16 != 0) {
        aligned_ = Eigen::Map<const Matrix>(dense_, features_, cells_);
        dense_ = aligned_.data();
    }
}

DataView Cells::view() const {
    if (!start_.empty()) {
        return sparse_;
    }
    return DenseView<double>(dense_, features_, cells_);
}

std::variant<Matrix, SparseMatrix<double>> copy_of(const Cells& cells) {
    const DataView view = cells.view();
    if (const auto* dense = std::get_if<DenseView<double>>(&view)) {
        return Matrix(*dense);
    }
    const auto& sparse = std::get<SparseView<double>>(view);
    check_structure(sparse);
    SparseMatrix<double> copy;
    copy.rows = sparse.rows;
    copy.cols = sparse.cols;
    copy.start.assign(sparse.start.begin(), sparse.start.end());
    copy.row.assign(sparse.row.begin(), sparse.row.end());
    copy.value.assign(sparse.value.begin(), sparse.value.end());
    return copy;
}

} // namespace pnmf::python
