#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace pnmf {

class Processes;

/// Data X, features × cells, dense or sparse: the few operations the method needs of it.
///
/// p = features, n = cells. Sparse data are kept by columns and by rows, so that both products run in
/// parallel without a second copy of the result; they are never densified.
/// Each result is the same, bit for bit, whatever the number of threads.
///
/// Where several processes work on X each may have some of the cells alone. Then products and values are
/// those of these local cells; what is over all cells is said to be so, and every process must ask for it
/// (cells/linalg/over_all_cells.hpp has products over all of them).
///
/// Sums over cells are taken over blocks of cells and along a tree of these
/// (docs/decisions/0150-mpi.md), so that their bits are the same for any number of processes too.
template <RealNumber Real>
class DataMatrix {
  public:
    explicit DataMatrix(DenseMatrix<Real> dense);
    explicit DataMatrix(SparseMatrix<Real> sparse);
    /// Data that stay where they are: what is viewed must outlive this and its copies. Of sparse data the
    /// rows are made here.
    explicit DataMatrix(DenseView<Real> dense);
    explicit DataMatrix(SparseView<Real> sparse);
    /// The cells of a range alone; the other processes make theirs too. The range must be that which
    /// sweeps give this process, or InputError.
    DataMatrix(DenseMatrix<Real> dense, const CellRange& range);
    DataMatrix(DenseView<Real> dense, const CellRange& range);
    DataMatrix(SparseMatrix<Real> sparse, const CellRange& range);
    DataMatrix(SparseView<Real> sparse, const CellRange& range);

    Index features() const;
    Index cells() const; ///< of all processes
    bool is_sparse() const;
    /// Stored entries, of all processes: p·n for dense data.
    std::int64_t nonzeros() const;
    /// The cells whose values are here.
    CellRange local() const;
    bool has_all_cells() const { return !local_; }
    /// Those that have the cells together; one where this has them all. InputError where this thread works
    /// alone, as the bodies of `parallel_for` do: the others would be waited for in vain.
    Processes& processes() const;

    /// Wᵀ·X of dense values is made so many cells at a time, on which its last bits may depend: for cells
    /// that are some of another matrix, as many as there.
    void set_panel(Index cells) { panel_ = cells; }

    /// X·Hᵀ, p × d. H is d × n. Cost 2pnd, or 2d for each entry stored.
    DenseMatrix<Real> times_transposed(const DenseMatrix<Real>& H) const;
    /// Wᵀ·X, d × n. W is p × d. Same cost.
    DenseMatrix<Real> transposed_times(const DenseMatrix<Real>& W) const;

    /// The same for several H or W: stacked, so that the product of matrices goes through a dense X once.
    std::vector<DenseMatrix<Real>> times_transposed(std::span<const DenseMatrix<Real>> H) const;
    std::vector<DenseMatrix<Real>> transposed_times(std::span<const DenseMatrix<Real>> W) const;

    /// ‖X‖²_F over all cells, summed in double.
    double squared_norm() const;
    /// Σᵢⱼ X_ij / (p·n) over all cells, summed in double.
    double mean() const;

    /// The values as they are here: `dense()` or, by columns, `columns()`. The other one must not be asked
    /// for.
    DenseView<Real> dense() const;
    SparseView<Real> columns() const;
    /// Sparse values by rows: the columns of Xᵀ.
    SparseView<Real> rows() const;

  private:
    /// [W_1 … W_k]ᵀX of a dense X.
    DenseMatrix<Real> products_side_by_side(std::span<const DenseMatrix<Real>> W) const;

    struct Sparse {
        std::variant<SparseMatrix<Real>, SparseView<Real>> columns;
        SparseMatrix<Real> rows; ///< the transpose
    };
    struct BorrowedDense {
        const Real* values;
        Index rows;
        Index cols;
    };
    struct Local {
        CellRange range;
        Processes* processes = nullptr;
        std::int64_t all_entries = 0;
        double squared_norm = 0.0; ///< of all
    };

    void keep_range(const CellRange& range);
    /// Σ of(values, count) over blocks of cells, along the tree, of all processes.
    double sum_over_blocks(double (*of)(const Real*, Index)) const;

    std::variant<DenseMatrix<Real>, BorrowedDense, Sparse> data_;
    std::optional<Local> local_;
    Index panel_ = 0; ///< 0: the usual one
};

extern template class DataMatrix<float>;
extern template class DataMatrix<double>;

/// The products with data X, p × n, that principal components and singular vectors are found by, made
/// somewhere else than on the CPU. Numbers go in and come out in double precision; inside they have that of
/// the data. Results differ from those of `DataMatrix` by rounding. The data outlive it. From one thread at a
/// time.
class DataProducts {
  public:
    DataProducts() = default;
    DataProducts(const DataProducts&) = delete;
    DataProducts& operator=(const DataProducts&) = delete;
    virtual ~DataProducts() = default;

    /// X·(Xᵀ·Y), p × m, for Y p × m.
    virtual Matrix normal_times(const Matrix& Y) = 0;
    /// Yᵀ·X, m × n, for Y p × m.
    virtual Matrix transposed_times(const Matrix& Y) = 0;
    /// Where they are made, in words.
    virtual std::string where() const = 0;
};

} // namespace pnmf
