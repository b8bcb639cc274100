#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/linalg/views.hpp>
#include <pnmf/real_number.hpp>
#include <pnmf/types.hpp>

#include <span>
#include <variant>
#include <vector>

namespace pnmf {

/// Data X, features × cells, dense or sparse: the few operations the method needs of it.
///
/// p = features, n = cells. Sparse data are held by columns and by rows, so that both products run in
/// parallel without a second copy of the result; they are never densified.
/// Each result is the same, bit for bit, whatever the number of threads.
template <RealNumber Real>
class DataMatrix {
  public:
    explicit DataMatrix(DenseMatrix<Real> dense);
    explicit DataMatrix(SparseMatrix<Real> sparse);
    /// Data that stay where they are: what is viewed must outlive this and its copies. Of sparse data the
    /// rows are made here.
    explicit DataMatrix(DenseView<Real> dense);
    explicit DataMatrix(SparseView<Real> sparse);

    Index features() const;
    Index cells() const;
    bool is_sparse() const;
    /// Stored entries: p·n for dense data.
    std::int64_t nonzeros() const;

    /// X·Hᵀ, p × d. H is d × n. Cost 2pnd, or 2d for each entry stored.
    DenseMatrix<Real> times_transposed(const DenseMatrix<Real>& H) const;
    /// Wᵀ·X, d × n. W is p × d. Same cost.
    DenseMatrix<Real> transposed_times(const DenseMatrix<Real>& W) const;

    /// The same for several H or W: stacked, so that the product of matrices goes through a dense X once.
    std::vector<DenseMatrix<Real>> times_transposed(std::span<const DenseMatrix<Real>> H) const;
    std::vector<DenseMatrix<Real>> transposed_times(std::span<const DenseMatrix<Real>> W) const;

    /// ‖X‖²_F, summed in double.
    double squared_norm() const;
    /// ‖x_j‖² for each cell, summed in double.
    Vector column_squared_norms() const;
    /// Σᵢⱼ X_ij / (p·n), summed in double.
    double mean() const;

    /// The values as held: `dense()` or, by columns, `columns()`. The other one must not be asked for.
    DenseView<Real> dense() const;
    SparseView<Real> columns() const;
    /// Sparse values by rows: the columns of Xᵀ.
    SparseView<Real> rows() const;

  private:
    struct Sparse {
        std::variant<SparseMatrix<Real>, SparseView<Real>> columns;
        SparseMatrix<Real> rows; ///< the transpose
    };
    struct BorrowedDense {
        const Real* values;
        Index rows;
        Index cols;
    };
    std::variant<DenseMatrix<Real>, BorrowedDense, Sparse> data_;
};

extern template class DataMatrix<float>;
extern template class DataMatrix<double>;

} // namespace pnmf
