#pragma once

#include "linalg/cells_of_all.hpp"

#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <array>

namespace pnmf {

/// H of one scale and of the scales beside it, with all cells. Where ranks hold some of them, they are
/// brought together on every rank: three scales at a time are, never all. All ranks ask for the same scale.
template <class Real>
class EmbeddingsAround {
  public:
    /// `with_after`: whether the coarser scale will be asked for.
    EmbeddingsAround(const Problem<Real>& problem, const Factors<Real>& factors, Index t,
                     bool with_after = true) {
        for (Index i = 0; i < (with_after ? 3 : 2); ++i) {
            const Index s = t - 1 + i;
            if (s >= 0 && s < factors.scales()) {
                H_[i] = &cells_of_all(*problem.X, factors.H[s], room_[i]);
            }
        }
    }
    EmbeddingsAround(const EmbeddingsAround&) = delete;
    EmbeddingsAround& operator=(const EmbeddingsAround&) = delete;

    const DenseMatrix<Real>* before() const { return H_[0]; } ///< finer; null where there is none
    const DenseMatrix<Real>& here() const { return *H_[1]; }
    const DenseMatrix<Real>* after() const { return H_[2]; } ///< coarser; null where there is none

  private:
    std::array<DenseMatrix<Real>, 3> room_;
    std::array<const DenseMatrix<Real>*, 3> H_{};
};

} // namespace pnmf
