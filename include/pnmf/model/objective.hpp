#pragma once

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

namespace pnmf {

/// The four terms of the model, each with its weight.
struct Objective {
    double fit = 0.0;
    double graph = 0.0;
    double smoothness = 0.0;
    double anchor = 0.0;

    double total() const { return fit + graph + smoothness + anchor; }
};

/// The products of one scale that its terms, gradients and steps are made of.
template <class Real>
struct ScaleProducts {
    DenseMatrix<Real> WtX;    ///< w·WᵀX, d × n, w the weight of the scale
    DenseMatrix<Real> WtW;    ///< w·WᵀW, d × d
    DenseMatrix<Real> HA;     ///< H·A(ε_t), d × n
    DenseVector<Real> degree; ///< D(ε_t), n
};

/// The objective, eq. (pnmf_model):
///
///     O = Σ_t ‖X − W_t H_t‖² + λ₁ Σ_t tr(H_t L_t H_tᵀ) + λ₂ Σ_{t≥2} ‖H_t − H_{t−1}‖² + λ₃ Σ_t ‖H_t‖²
///
/// or, where scales stand for w_t of them and neighbours are s_t apart (`Problem`),
///
///     O = Σ_t w_t (‖X − W_t H_t‖² + λ₁ tr(H_t L_t H_tᵀ) + λ₃ ‖H_t‖²) + Σ_{t≥2} s_{t−1} ‖H_t − H_{t−1}‖²
///
/// evaluated from W and H alone: O(T·p·n·d). One scale's graph is in memory at a time.
template <class Real>
Objective objective(const Problem<Real>& problem, const Factors<Real>& factors);

/// The terms of one scale from its products, ‖X‖² given; `before` is H_{t−1} or null. The same formulas:
///
///     w‖X − WH‖² = w‖X‖² − 2⟨wWᵀX, H⟩ + ⟨wWᵀW, HHᵀ⟩ ,    tr(HLHᵀ) = Σⱼ D_jj ‖h_j‖² − ⟨HA, H⟩
///
/// `objective()` is the sum of these over t; solvers call it with products they hold anyway. Cost O(nd²).
template <class Real>
Objective scale_objective(const ScalePenalty& penalty, double squared_norm_X,
                          const ScaleProducts<Real>& products, const DenseMatrix<Real>& H,
                          const DenseMatrix<Real>* before);

Objective operator+(const Objective& a, const Objective& b);

/// ⟨A, B⟩ = Σ A_ij B_ij, summed in double.
template <class Real>
double inner_product(const DenseMatrix<Real>& A, const DenseMatrix<Real>& B);

/// HHᵀ or WᵀW: M·Mᵀ for M d × n, Mᵀ·M for M p × d. d × d.
template <class Real>
DenseMatrix<Real> gram_of_rows(const DenseMatrix<Real>& M);
template <class Real>
DenseMatrix<Real> gram_of_columns(const DenseMatrix<Real>& M);

/// WᵀX and WᵀW as they were made, times the weight of their scale. Nothing happens for weight 1.
template <class Real>
void weigh(ScaleProducts<Real>& products, double weight);

/// The products of scale t for (W, H). Of the cells that X has; H has all.
template <class Real>
ScaleProducts<Real> scale_products(const Problem<Real>& problem, Index t, const DenseMatrix<Real>& W,
                                   const DenseMatrix<Real>& H);

/// How the problem treats the scale ambiguity W·S, S⁻¹·H.
enum class BasisForm {
    free,         ///< W ≥ 0, as eq. (pnmf_model) is written
    unit_columns, ///< W ≥ 0 and ‖w_k‖₂ = 1: the well-posed model
};

/// ½∇_H O at scale t, d × n, the second of eq. (opt_KKT):
///
///     w(WᵀWH − WᵀX + λ₁(H·D − H·A) + λ₃ H) + Σ_neighbours s (H − H_neighbour)
template <class Real>
DenseMatrix<Real> half_gradient_H(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                                  const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                                  const DenseMatrix<Real>* after);

/// ½∇_W O at scale t over its weight, p × d: W·HHᵀ − XHᵀ.
template <class Real>
DenseMatrix<Real> half_gradient_W(const DenseMatrix<Real>& W, const DenseMatrix<Real>& XHt,
                                  const DenseMatrix<Real>& HHt);

/// How far variables x would move, each alone, if one Newton step on its own were taken, beside their size.
///
/// With g the half gradient and q the diagonal of the (half) Hessian, r = x − [x − g/q]₊ is zero exactly
/// where eq. (opt_KKT_rewrite) holds. Both sums are weighted by q, so units of X and the size of λ cancel in
/// the ratio (docs/theory.md, "The certificate").
struct Movement {
    double moved = 0.0; ///< Σ q r²
    double size = 0.0;  ///< Σ q x²

    /// √(moved / size); 0 where nothing moves, 1 where something would move away from x = 0.
    double ratio() const;
    Movement& operator+=(const Movement& other);
};
Movement operator*(double weight, const Movement& movement);

/// The residual of one scale, or, added up, of all.
struct KktResidual {
    Movement H;
    Movement W; ///< for unit columns with the tangential part of the gradient

    /// The number that is compared with the tolerance: H's ratio, or a tenth of W's where that is larger.
    ///
    /// W counts less because the data hardly determine single columns of W at scales where the rows of H have
    /// become alike: there W moves on long after objective and embeddings have settled.
    double certificate() const { return std::max(H.ratio(), 0.1 * W.ratio()); }
    KktResidual& operator+=(const KktResidual& other);
};

template <class Real>
Movement movement_H(const ScalePenalty& penalty, const ScaleProducts<Real>& products,
                    const DenseMatrix<Real>& H, const DenseMatrix<Real>* before,
                    const DenseMatrix<Real>* after);

/// Of W, without the weight of the scale. Columns of XHt lie side by side without gaps.
template <class Real>
Movement movement_W(BasisForm form, const DenseMatrix<Real>& W, std::type_identity_t<ConstBlock<Real>> XHt,
                    const DenseMatrix<Real>& HHt);

/// Of all scales together.
KktResidual sum(const std::vector<KktResidual>& residuals);

/// The residuals of every scale from W and H alone. O(T·p·n·d).
template <class Real>
std::vector<KktResidual> kkt_residuals(const Problem<Real>& problem, const Factors<Real>& factors,
                                       BasisForm form);

/// The objective and the residuals of every scale, from the same products: about twice the work of
/// `objective()` alone.
struct Evaluation {
    Objective objective;
    std::vector<KktResidual> residuals;
};
template <class Real>
Evaluation evaluate(const Problem<Real>& problem, const Factors<Real>& factors, BasisForm form);

} // namespace pnmf
