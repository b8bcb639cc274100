#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/linalg/svd.hpp>

#include <Eigen/QR>
#include <Eigen/SVD>
#include <Spectra/SymEigsSolver.h>

#include <algorithm>

namespace pnmf {
namespace {

/// Sides up to this are decomposed whole: a fraction of a second, and no iteration to fail.
constexpr Index whole_side = 256;

template <class Real>
Matrix dense_values(const DataMatrix<Real>& X) {
    if (X.is_sparse()) {
        return to_dense(X.columns()).template cast<double>();
    }
    return X.dense().template cast<double>();
}

TruncatedSvd decompose_whole(const Matrix& X, Index rank) {
    const Eigen::BDCSVD<Matrix> svd(X, Eigen::ComputeThinU | Eigen::ComputeThinV);
    return {svd.matrixU().leftCols(rank), svd.singularValues().head(rank), svd.matrixV().leftCols(rank)};
}

/// y ↦ XᵀX·y (cells) or XXᵀ·y (features), as Spectra asks for it.
template <class Real>
class NormalOperator {
  public:
    using Scalar = double;

    NormalOperator(const DataMatrix<Real>& X, bool over_cells) : X_(X), over_cells_(over_cells) {}

    Index rows() const { return over_cells_ ? X_.cells() : X_.features(); }
    Index cols() const { return rows(); }

    void perform_op(const double* in, double* out) const {
        const DenseMatrix<Real> y = Eigen::Map<const Vector>(in, rows()).cast<Real>();
        Eigen::Map<Vector> result(out, rows());
        if (over_cells_) {
            result =
                X_.transposed_times(X_.times_transposed(y.transpose())).transpose().template cast<double>();
        } else {
            result = X_.times_transposed(X_.transposed_times(y)).template cast<double>();
        }
    }

  private:
    const DataMatrix<Real>& X_;
    bool over_cells_;
};

/// An orthonormal basis of the leading eigenspace of the smaller normal matrix.
template <class Real>
Matrix leading_space(const DataMatrix<Real>& X, bool over_cells, Index rank) {
    NormalOperator<Real> normal(X, over_cells);
    const Index basis = std::min(normal.rows(), std::max<Index>(2 * rank + 10, 30));
    Spectra::SymEigsSolver<NormalOperator<Real>> solver(normal, rank, basis);
    Random random(1);
    const Vector start = Vector::NullaryExpr(normal.rows(), [&] { return random.uniform(); });
    solver.init(start.data());
    const double tolerance = std::is_same_v<Real, float> ? 1e-6 : 1e-13;
    solver.compute(Spectra::SortRule::LargestAlge, 1000, tolerance, Spectra::SortRule::LargestAlge);
    require(solver.info() == Spectra::CompInfo::Successful,
            "the leading {} singular vectors could not be computed; a smaller rank may help", rank);
    return solver.eigenvectors();
}

} // namespace

template <class Real>
TruncatedSvd truncated_svd(const DataMatrix<Real>& X, Index rank) {
    const Index side = std::min(X.features(), X.cells());
    require(rank >= 1 && rank <= side, "the rank must be between 1 and min(features, cells) = {}, got {}",
            side, rank);
    if (side <= whole_side && X.features() * X.cells() <= (Index{1} << 24)) {
        return decompose_whole(dense_values(X), rank);
    }
    if (2 * rank >= side) {
        return decompose_whole(dense_values(X), rank);
    }
    // Rayleigh–Ritz: with V the space found, Q·R = X·V and R = P·S·Zᵀ give X ≈ (Q·P)·S·(V·Z)ᵀ.
    const bool over_cells = X.cells() <= X.features();
    const Matrix space = leading_space(X, over_cells, rank);
    const DenseMatrix<Real> basis = space.cast<Real>();
    const Matrix image = over_cells ? Matrix(X.times_transposed(basis.transpose()).template cast<double>())
                                    : Matrix(X.transposed_times(basis).transpose().template cast<double>());
    const Eigen::HouseholderQR<Matrix> qr(image);
    const Matrix R = qr.matrixQR().topRows(rank).template triangularView<Eigen::Upper>();
    const Eigen::JacobiSVD<Matrix> small(R, Eigen::ComputeFullU | Eigen::ComputeFullV);
    const Matrix Q = qr.householderQ() * Matrix::Identity(image.rows(), rank);
    const Matrix far = Q * small.matrixU();
    const Matrix near = space * small.matrixV();
    return over_cells ? TruncatedSvd{far, small.singularValues(), near}
                      : TruncatedSvd{near, small.singularValues(), far};
}

template TruncatedSvd truncated_svd(const DataMatrix<float>&, Index);
template TruncatedSvd truncated_svd(const DataMatrix<double>&, Index);

} // namespace pnmf
