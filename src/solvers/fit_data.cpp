#include "solvers/fit_data.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace pnmf {

namespace {

/// From here on a dense product is faster than a sparse one, and a table takes no more room than values and
/// places held by features and by cells.
constexpr double filled = 1.0 / 3.0;

bool is_filled(const SparseView<double>& X) {
    return static_cast<double>(X.value.size()) >=
           filled * static_cast<double>(X.rows) * static_cast<double>(X.cols);
}

} // namespace

template <class Real>
std::unique_ptr<const DataMatrix<Real>> data_of(const DataView& X, bool keep) {
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        if constexpr (std::is_same_v<Real, double>) {
            if (!keep) {
                return std::make_unique<DataMatrix<double>>(*dense);
            }
        }
        return std::make_unique<DataMatrix<Real>>(DenseMatrix<Real>(dense->cast<Real>()));
    }
    const auto& sparse = std::get<SparseView<double>>(X);
    if (is_filled(sparse)) {
        DenseMatrix<Real> table = DenseMatrix<Real>::Zero(sparse.rows, sparse.cols);
        for (Index j = 0; j < sparse.cols; ++j) {
            for (auto e = sparse.start[j]; e < sparse.start[j + 1]; ++e) {
                table(sparse.row[e], j) += static_cast<Real>(sparse.value[e]); // one entry may come in parts
            }
        }
        return std::make_unique<DataMatrix<Real>>(std::move(table));
    }
    if constexpr (std::is_same_v<Real, double>) {
        if (!keep) {
            return std::make_unique<DataMatrix<double>>(sparse);
        }
    }
    SparseMatrix<Real> copy;
    copy.rows = sparse.rows;
    copy.cols = sparse.cols;
    copy.start.assign(sparse.start.begin(), sparse.start.end());
    copy.row.assign(sparse.row.begin(), sparse.row.end());
    copy.value.assign(sparse.value.begin(), sparse.value.end());
    return std::make_unique<DataMatrix<Real>>(std::move(copy));
}

void check_values(const DataView& X) {
    const auto check = [](double value, Index i, Index j) {
        require(std::isfinite(value) && value >= 0.0,
                "X must hold finite values, at least 0, got {} at feature {}, cell {}", value, i + 1, j + 1);
    };
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        require(dense->rows() >= 1 && dense->cols() >= 1,
                "X must have at least one feature and one cell, got {} x {}", dense->rows(), dense->cols());
        for (Index j = 0; j < dense->cols(); ++j) {
            for (Index i = 0; i < dense->rows(); ++i) {
                check((*dense)(i, j), i, j);
            }
        }
        return;
    }
    const auto& sparse = std::get<SparseView<double>>(X);
    check_structure(sparse);
    require(sparse.rows >= 1 && sparse.cols >= 1,
            "X must have at least one feature and one cell, got {} x {}", sparse.rows, sparse.cols);
    for (Index j = 0; j < sparse.cols; ++j) {
        for (auto e = sparse.start[j]; e < sparse.start[j + 1]; ++e) {
            check(sparse.value[e], sparse.row[e], j);
        }
    }
}

template <class Real>
Index chosen_rank(std::optional<Index> asked, const DataMatrix<Real>& X, std::vector<std::string>& notices) {
    const Index p = X.features();
    const Index n = X.cells();
    const Index most = std::min(p, n);
    if (asked) {
        require(*asked >= 1 && *asked <= most,
                "the rank must be between 1 and min(features, cells) = {}, got {}", most, *asked);
        return *asked;
    }
    const auto root = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(n))));
    const Index rank = std::min(root, most);
    notices.push_back(fmt::format("rank {}: the square root of {} cells, rounded up{}", rank, n,
                                  rank < root ? ", but at most min(features, cells)" : ""));
    return rank;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template std::unique_ptr<const DataMatrix<Real>> data_of<Real>(const DataView&, bool);                   \
    template Index chosen_rank(std::optional<Index>, const DataMatrix<Real>&, std::vector<std::string>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
