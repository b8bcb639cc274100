#pragma once

#include "devices/cuda/embedding_pass.hpp"
#include "devices/cuda/shape.hpp"

namespace pnmf::cuda {

/// Sums over all cells that the terms of one scale are made of, in double precision.
struct TermSums {
    double fit_linear;    ///< ⟨wWᵀX, H⟩
    double fit_quadratic; ///< ⟨wWᵀW, HHᵀ⟩
    double size;          ///< ‖H‖²
    double weighted;      ///< Σⱼ D_jj ‖h_j‖²
    double joined;        ///< ⟨HA, H⟩
    double steps;         ///< ‖H − H_before‖²
};
constexpr int term_sums = 6;

/// Both measures of a scale at once: they read the same numbers.
struct AllSums {
    TermSums terms;
    double moved; ///< Σ q r² of `movement_H`
    double size;  ///< Σ q h²
};
constexpr int all_sums = term_sums + 2;

constexpr std::int64_t most_cells_of_part = 256;

/// Doubles that these need as memory.
std::int64_t measure_parts(const Shape& shape, std::int64_t cells_of_part = most_cells_of_part);

/// `TermSums` of every scale, one after another.
template <class Real>
void sum_terms(const Shape& shape, const ProductsView<Real>& products, const Real* H, double* parts,
               double* sums);

/// `AllSums` of every scale, one after another.
template <class Real>
void sum_all(const Shape& shape, const Penalties<Real>& penalties, const ProductsView<Real>& products,
             const Real* H, double* parts, double* sums);

/// The same of each part of so many cells alone: sum s of scale t and a part at
/// [(t·all_sums + s)·(number of parts) + part].
template <class Real>
void sum_parts(const Shape& shape, std::int64_t cells_of_part, const Penalties<Real>& penalties,
               const ProductsView<Real>& products, const Real* H, double* parts);

} // namespace pnmf::cuda
