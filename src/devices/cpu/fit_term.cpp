#include "devices/cpu/fit_term.hpp"

#include "linalg/dense_product.hpp"
#include "linalg/sparse_block_product.hpp"

namespace pnmf {
namespace {

template <class Real>
DenseMatrix<Real> stacked_rows(std::span<const DenseMatrix<Real>> matrices) {
    const Index d = matrices.front().rows();
    DenseMatrix<Real> stacked(d * std::ssize(matrices), matrices.front().cols());
    for (Index i = 0; i < std::ssize(matrices); ++i) {
        stacked.middleRows(i * d, d) = matrices[i];
    }
    return stacked;
}

/// ‖X − WH‖², whose X̂ is X everywhere.
template <class Real>
class SquaredFit final : public FitTerm<Real> {
  public:
    SquaredFit(const Problem<Real>& problem, std::shared_ptr<const DataMatrix<Real>> X)
        : X_(std::move(X)), squared_norm_X_(problem.X->squared_norm()) {}

    ScalesOfProduct<Real> times_transposed(const Factors<Real>& point, Index first, Index count,
                                           const BlockSlab& slab, const BlockNode& node) const override {
        const std::span<const DenseMatrix<Real>> H(point.H.data() + first, static_cast<std::size_t>(count));
        const Index d = H.front().rows();
        if (X_->is_sparse() && slab.blocks.count() == 1) {
            return {X_->times_transposed(H), d};
        }
        std::vector<DenseMatrix<Real>> result;
        if (X_->is_sparse()) {
            for (const DenseMatrix<Real>& one : H) {
                result.push_back(sparse_times_transposed(*X_, one, slab, node));
            }
        } else {
            result.push_back(
                dense_times_transposed(X_->dense(), count == 1 ? H.front() : stacked_rows(H), slab, node));
        }
        return {std::move(result), d};
    }

    std::vector<DenseMatrix<Real>> transposed_times(std::span<const DenseMatrix<Real>> W,
                                                    std::span<const DenseMatrix<Real>>) const override {
        return X_->transposed_times(W);
    }

    double value(double weight, double with_data, const DenseMatrix<Real>& WtW,
                 const DenseMatrix<Real>& gram) const override {
        return weight * squared_norm_X_ - 2.0 * with_data + inner_product(WtW, gram);
    }

  private:
    std::shared_ptr<const DataMatrix<Real>> X_;
    double squared_norm_X_;
};

} // namespace

template <class Real>
std::unique_ptr<FitTerm<Real>> make_fit_term(const Problem<Real>& problem,
                                             std::shared_ptr<const DataMatrix<Real>> X) {
    return std::make_unique<SquaredFit<Real>>(problem, std::move(X));
}

template std::unique_ptr<FitTerm<float>> make_fit_term(const Problem<float>&,
                                                       std::shared_ptr<const DataMatrix<float>>);
template std::unique_ptr<FitTerm<double>> make_fit_term(const Problem<double>&,
                                                        std::shared_ptr<const DataMatrix<double>>);

} // namespace pnmf
