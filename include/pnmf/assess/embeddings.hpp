#pragma once

#include <pnmf/communicator.hpp>
#include <pnmf/types.hpp>

#include <concepts>
#include <functional>
#include <utility>

namespace pnmf {

/// Where the embeddings of a fit come from: H_t, d × n, one scale at a time. A function of t will do.
///
/// With several ranks all of them ask for the same scales in the same order, so that each may hold some of
/// the cells alone and an embedding is brought together when it is asked for.
class Embeddings {
  public:
    template <class Function>
    requires std::convertible_to<Function, std::function<Matrix(Index)>> Embeddings(Function all)
        : all_(std::move(all)) {} // NOLINT: a function stands for its values
    /// `on_one(t, rank)`: on that rank alone; what it returns on others is not looked at.
    Embeddings(std::function<Matrix(Index)> all, std::function<Matrix(Index, int)> on_one)
        : all_(std::move(all)), on_one_(std::move(on_one)) {}

    /// On every rank.
    Matrix at(Index t) const { return all_(t); }
    /// On one rank; empty on the others.
    Matrix on(int rank, Index t) const {
        if (on_one_) {
            return on_one_(t, rank);
        }
        return rank == communicator().rank() ? all_(t) : Matrix();
    }

  private:
    std::function<Matrix(Index)> all_;
    std::function<Matrix(Index, int)> on_one_;
};

} // namespace pnmf
