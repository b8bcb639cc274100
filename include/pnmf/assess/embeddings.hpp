#pragma once

#include <pnmf/types.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace pnmf {

/// Embeddings of which each process holds some cells.
struct LocalEmbeddings {
    CellRange cells;                          ///< of this process
    std::function<Matrix(Index)> here;        ///< of scale t, the columns of these
    std::function<Matrix(Index, int)> on_one; ///< of scale t on one process; what others get is not looked at
};

/// Where the embeddings of a fit come from: H_t, d × n, one scale at a time. A function of t will do, one
/// that several threads may call at once.
///
/// With several processes all of them ask for the same scales in the same order, so that each may hold some
/// of the cells alone and an embedding is brought together when it is asked for.
class Embeddings {
  public:
    template <class Function>
    requires std::convertible_to<Function, std::function<Matrix(Index)>> Embeddings(Function all)
        : all_(std::move(all)) {} // NOLINT: a function stands for its values
    explicit Embeddings(LocalEmbeddings local) : local_(std::move(local)) {}

    /// Whether this process has all of them.
    bool has_all_cells() const { return !local_; }
    /// The cells of this process, where it has not all.
    const CellRange& local() const { return local_->cells; }

    /// All cells, on one process; empty on the others.
    Matrix on(int process, Index t) const;
    /// The cells of this process: all of them, where it has these.
    Matrix here(Index t) const { return local_ ? local_->here(t) : all_(t); }
    /// The columns of some cells, ascending, on every process. `here` is what this process has of the scale.
    Matrix some(const Matrix& here, const std::vector<Index>& cells) const;

  private:
    std::function<Matrix(Index)> all_; ///< where this process has all cells
    std::optional<LocalEmbeddings> local_;
};

} // namespace pnmf
