#pragma once

#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/linalg/data_matrix.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/types.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace pnmf {

/// Matrices of one shape that rest on disk, in a file without a name: it is gone when this is, also after a
/// crash. Its memory on the disk is taken when it is made, not while it is written. Different
/// matrices may be read and written from several threads. Each failure is a SystemError that names the
/// folder.
template <class Real>
class MatrixFile {
  public:
    /// Memory for `count` matrices of rows × cols; what they hold is unspecified.
    MatrixFile(std::filesystem::path folder, Index count, Index rows, Index cols);
    /// Another file in the same folder, with the same contents; an own file of the same shape is used again.
    MatrixFile(const MatrixFile& other);
    MatrixFile& operator=(const MatrixFile& other);
    MatrixFile(MatrixFile&& other) noexcept;
    MatrixFile& operator=(MatrixFile&& other) noexcept;
    ~MatrixFile();

    void write(Index t, const DenseMatrix<Real>& matrix);
    void read(Index t, DenseMatrix<Real>& matrix) const;

  private:
    void copy_from(const MatrixFile& other);
    std::int64_t bytes() const { return rows_ * cols_ * static_cast<std::int64_t>(sizeof(Real)); }

    std::filesystem::path folder_;
    Index count_ = 0;
    Index rows_ = 0;
    Index cols_ = 0;
    int descriptor_ = -1;
};

/// Weights of the penalty terms; the formula is at `objective()`.
struct Penalty {
    double graph = 1.0;      ///< λ₁ ≥ 0; larger pulls neighbours at one scale together.
    double smoothness = 1.0; ///< λ₂ ≥ 0; larger makes consecutive scales alike.
    double anchor = 0.1;     ///< λ₃ ≥ 0; larger shrinks H; too large collapses its rank.
};

/// InputError unless every weight is finite and ≥ 0.
void check_penalty(const Penalty& penalty);

/// The weights of one scale's terms, as they stand in the objective.
struct ScalePenalty {
    double fit = 1.0;    ///< w, of ‖X − WH‖²
    double graph = 1.0;  ///< w·λ₁
    double anchor = 0.1; ///< w·λ₃
    double before = 0.0; ///< s, of ‖H − H_{t−1}‖²; 0 at the finest scale
    double after = 0.0;  ///< s, of ‖H_{t+1} − H‖²; 0 at the coarsest scale
};

/// Of a scale that stands alone.
ScalePenalty single_scale(const Penalty& penalty);

/// The data, the graphs, the scales and the weights: everything that is given.
///
/// X is p × n, features × cells. Scales run finest → coarsest. What is pointed to must outlive the problem.
template <RealNumber Real>
struct Problem {
    const DataMatrix<Real>* X = nullptr;
    const MultiscaleGraph* graph = nullptr;
    std::vector<double> epsilon; ///< T scales
    Penalty penalty;
    std::vector<double> weight{};     ///< w > 0 of each scale: how many scales it stands for; empty: 1 each
    std::vector<double> smoothness{}; ///< s ≥ 0 of scales t and t + 1, T − 1 of them; empty: λ₂ each
    bool data_on_host = false;        ///< a device reads X, where it is sparse, from memory of the host

    Index scales() const { return static_cast<Index>(epsilon.size()); }
    Index features() const { return X->features(); }
    Index cells() const { return X->cells(); }

    /// Whether all scales count alike and all pairs of neighbours are coupled alike.
    bool even() const { return weight.empty() && smoothness.empty(); }
    /// The weights of scale t: the one place where they are put together.
    ScalePenalty at(Index t) const;
};

/// `Problem::at` of every scale.
template <class Real>
std::vector<ScalePenalty> scale_penalties(const Problem<Real>& problem);

/// The problem at some of its scales, which stand for all: positions ascend, the first and the last scale are
/// among them. The weight of a scale that is left out goes to the two kept scales around it, the nearer one
/// gets more; couplings between two kept scales join like springs in a row:
///
///     w_i = Σ_t w_t · hat_i(t) ,    1/s_i = Σ 1/s_t  over the steps from one kept scale to the next
///
/// hat_i is 1 at kept scale i, 0 at the other kept ones, linear in between. With w = 1 and s = λ₂ this is
/// s_i = λ₂ / (t_{i+1} − t_i), and the smoothness term is exactly that of factors which change linearly in
/// between.
template <class Real>
Problem<Real> at_scales(const Problem<Real>& problem, const std::vector<Index>& positions);

/// The same for an even problem and evenly spaced positions, divided by the gap g of their scales: weights 1
/// and couplings λ₂/g², g = (T − 1) / (kept − 1). These few have the objective of the many, divided by g, for
/// embeddings that change linearly in between.
template <class Real>
Problem<Real> at_even_scales(const Problem<Real>& problem, const std::vector<Index>& positions);

/// What is sought: W_t p × d and H_t d × n for each scale, finest first, all entries ≥ 0. Where X has not all
/// cells, H_t has the cells that X holds, and W_t is the same on every process.
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

    /// W_t, in `buffer` when it rests in the file.
    const DenseMatrix<Real>& basis(Index t, DenseMatrix<Real>& buffer) const {
        if (!file) {
            return W[static_cast<std::size_t>(t)];
        }
        file->read(t, buffer);
        return buffer;
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

/// H of the next finer or coarser scale; null where there is none.
template <class Real>
const DenseMatrix<Real>* scale_before(const std::vector<DenseMatrix<Real>>& H, Index t) {
    return t > 0 ? &H[static_cast<std::size_t>(t - 1)] : nullptr;
}
template <class Real>
const DenseMatrix<Real>* scale_after(const std::vector<DenseMatrix<Real>>& H, Index t) {
    return t + 1 < std::ssize(H) ? &H[static_cast<std::size_t>(t + 1)] : nullptr;
}

/// InputError unless there is at least one scale and cell, scales ascend strictly and are positive, weights
/// are finite and ≥ 0, those of scales > 0 and as many as there are scales, and the graph has as many cells
/// as X.
template <class Real>
void check_problem(const Problem<Real>& problem);

/// InputError unless the factors have the problem's shapes and hold finite values ≥ 0.
template <class Real>
void check_factors(const Problem<Real>& problem, const Factors<Real>& factors);

} // namespace pnmf
