#pragma once

#include <pnmf/types.hpp>

#include <concepts>
#include <functional>
#include <utility>
#include <vector>

namespace pnmf {

/// Embeddings of which each rank holds some cells.
struct DividedEmbeddings {
    CellRange held;                           ///< by this rank
    std::function<Matrix(Index)> here;        ///< of scale t, the columns of these
    std::function<Matrix(Index, int)> on_one; ///< of scale t on one rank; what others get is not looked at
};

/// Where the embeddings of a fit come from: H_t, d × n, one scale at a time. A function of t will do, one
/// that several threads may call at once.
///
/// With several ranks all of them ask for the same scales in the same order, so that each may hold some of
/// the cells alone and an embedding is brought together when it is asked for.
class Embeddings {
  public:
    template <class Function>
    requires std::convertible_to<Function, std::function<Matrix(Index)>> Embeddings(Function all)
        : all_(std::move(all)) {} // NOLINT: a function stands for its values
    explicit Embeddings(DividedEmbeddings parts) : parts_(std::move(parts)), divided_(true) {}

    /// Whether each rank holds some cells.
    bool divided() const { return divided_; }
    /// The cells of this rank, where they are divided.
    const CellRange& held() const { return parts_.held; }

    /// All cells, on one rank; empty on the others.
    Matrix on(int rank, Index t) const;
    /// The cells of this rank: all of them, unless they are divided.
    Matrix here(Index t) const { return divided_ ? parts_.here(t) : all_(t); }
    /// The columns of some cells, ascending, on every rank. `here` is what this rank has of the scale.
    Matrix some(const Matrix& here, const std::vector<Index>& cells) const;

  private:
    std::function<Matrix(Index)> all_; ///< where they are not divided
    DividedEmbeddings parts_;
    bool divided_ = false;
};

} // namespace pnmf
