#pragma once

#include <pnmf/linalg/sparse.hpp>
#include <pnmf/names.hpp>
#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Methods that are one factorisation with one graph; they differ in the graph alone.
enum class Baseline {
    nmf,   ///< no edges
    gnmf,  ///< k nearest neighbours, heat weights (Cai et al. 2010)
    tnmf,  ///< the heat weights of k nearest neighbours at several thresholds (Hozumi and Wei 2024)
    ktnmf, ///< nearest neighbours for several k (same)
};

template <>
struct EnumNames<Baseline> {
    static constexpr auto values = name_table<Baseline>({{"nmf", Baseline::nmf},
                                                         {"gnmf", Baseline::gnmf},
                                                         {"tnmf", Baseline::tnmf},
                                                         {"ktnmf", Baseline::ktnmf}});
};

struct BaselineOptions {
    Baseline method = Baseline::gnmf;
    Index neighbors = 5;           ///< k of GNMF and TNMF; k-TNMF takes 1 … weights.size()
    double alpha = 1.5;            ///< of the heat weights of GNMF and TNMF
    std::vector<double> weights{}; ///< of the thresholds of TNMF or the k of k-TNMF: ≥ 0, not all 0
    double lambda = 0.1;           ///< of the graph term; not used here
};

/// The settings behind the published tables. GNMF was run with two k, TNMF too: `second` takes the other.
///
///     gnmf   k = 5 or 15, λ = 0.1
///     tnmf   k = 20 or 10, λ = 0.1, weights (1, 0, 1, 0, 1, 0, 1, 1)
///     ktnmf  λ = 1, the same weights
BaselineOptions published_settings(Baseline method, bool second = false);

/// The symmetric weights A, n × n, zero diagonal. With N_k(j) the k nearest cells of j and s the largest
/// distance, K_ij = exp(−d_ij² / s^α) where i ∈ N_k(j), 0 elsewhere, and w̃ = w / Σw:
///
///     nmf    A = 0
///     gnmf   A = max(K, Kᵀ)
///     tnmf   B = Σ_{i=1..T} w̃_{T−i+1} [K ≥ a + (i/T)(b − a)],   a and b the smallest positive and largest
///     entry of K ktnmf  B_ij = Σ_{k=1..T} w̃_k [i ∈ N_k(j)] tnmf and ktnmf   A = B + Bᵀ − B∘Bᵀ
///
/// Hand it to `FixedGraph`. Equal distances: the cell with the smaller index is nearer. Cost O(n²) distances.
SparseMatrix<double> baseline_graph(const Points& points, const BaselineOptions& options);

} // namespace pnmf
