#pragma once

#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

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
/// evaluated from W and H alone: O(T·p·n·d). One scale's graph is held at a time.
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

} // namespace pnmf
