#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/linalg/matrix_file.hpp>
#include <pnmf/real_number.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <vector>

namespace pnmf {

/// Weights of the penalty terms; the formula is at `objective()`.
struct Penalty {
    double graph = 1.0;      ///< λ₁ ≥ 0; larger pulls neighbours at one scale together.
    double smoothness = 1.0; ///< λ₂ ≥ 0; larger makes consecutive scales alike.
    double anchor = 0.1;     ///< λ₃ ≥ 0; larger shrinks H; too large collapses its rank.
};

/// InputError unless every weight is finite and ≥ 0.
void check_penalty(const Penalty& penalty);

/// The data, the graphs, the scales and the weights: everything that is given.
///
/// X is p × n, features × cells. Scales run finest → coarsest. What is pointed to must outlive the problem.
template <RealNumber Real>
struct Problem {
    const DataMatrix<Real>* X = nullptr;
    const MultiscaleGraph* graph = nullptr;
    std::vector<double> epsilon; ///< T scales
    Penalty penalty;

    Index scales() const { return static_cast<Index>(epsilon.size()); }
    Index features() const { return X->features(); }
    Index cells() const { return X->cells(); }
};

/// What is sought: W_t p × d and H_t d × n for each scale, finest first, all entries ≥ 0.
///
/// Where memory is short the W_t rest in `file`, and W[t] is empty but while scale t is worked on: `basis`
/// reads it; `bring` and `rest` stand around what changes it. Without a file these cost nothing.
template <RealNumber Real>
struct Factors {
    std::vector<DenseMatrix<Real>> W;
    std::vector<DenseMatrix<Real>> H;
    std::optional<MatrixFile<Real>> file{};

    Index scales() const { return static_cast<Index>(H.size()); }
    Index rank() const { return H.front().rows(); }

    /// W_t, in `room` when it rests in the file.
    const DenseMatrix<Real>& basis(Index t, DenseMatrix<Real>& room) const {
        if (!file) {
            return W[static_cast<std::size_t>(t)];
        }
        file->read(t, room);
        return room;
    }
    /// W_t into memory, until `rest`.
    void bring(Index t) {
        if (file) {
            file->read(t, W[static_cast<std::size_t>(t)]);
        }
    }
    /// W_t, as W[t] is now, into the file.
    void rest(Index t) {
        if (file) {
            file->write(t, W[static_cast<std::size_t>(t)]);
            W[static_cast<std::size_t>(t)].resize(0, 0);
        }
    }
};

/// Factors of so many scales, their matrices empty; with a folder, bases p × d will rest in a file there.
template <class Real>
Factors<Real> empty_factors(Index scales, Index features, Index rank, const std::filesystem::path& folder) {
    const auto T = static_cast<std::size_t>(scales);
    Factors<Real> factors{std::vector<DenseMatrix<Real>>(T), std::vector<DenseMatrix<Real>>(T)};
    if (!folder.empty()) {
        factors.file.emplace(folder, scales, features, rank);
    }
    return factors;
}

/// Number of scales beside scale t: 2, or 1 at the ends, or 0 for a single scale.
inline int neighbour_count(Index t, Index scales) {
    return (t > 0 ? 1 : 0) + (t + 1 < scales ? 1 : 0);
}

/// InputError unless there is at least one scale and cell, scales ascend strictly and are positive, weights
/// are finite and ≥ 0, and the graph has as many cells as X.
template <class Real>
void check_problem(const Problem<Real>& problem);

/// InputError unless the factors have the problem's shapes and hold finite values ≥ 0.
template <class Real>
void check_factors(const Problem<Real>& problem, const Factors<Real>& factors);

} // namespace pnmf
