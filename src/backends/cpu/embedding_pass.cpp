#include "backends/cpu/embedding_pass.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>

namespace pnmf {
namespace {

/// Cells that one thread treats together: a vector register's worth and more, small enough for the cache.
constexpr Index lanes = 8;

template <class Real>
using Lane = Eigen::Array<Real, lanes, 1>;
using Mask = Eigen::Array<bool, lanes, 1>;

/// The problems of `lanes` cells along the scales for one row: minimise ½hᵀMh − bᵀh over h ≥ 0 with M
/// tridiagonal: `diagonal`, and −coupling[t] between t − 1 and t.
///
/// M is an M-matrix, so the primal–dual active-set iteration (Hintermüller, Ito and Kunisch 2002) ends at the
/// minimiser: solve with some variables held at zero, release those the others pull up, hold those that fell
/// below. A cell for which it has not ended after `most_rounds` keeps its values.
template <class Real>
class ChainProblem {
  public:
    explicit ChainProblem(Index scales)
        : coupling(static_cast<std::size_t>(scales) + 1, Real{0}), diagonal(static_cast<std::size_t>(scales)),
          right(diagonal.size()), h(diagonal.size()), factor_(diagonal.size()), held_(diagonal.size()) {}

    std::vector<Real> coupling; ///< of scales t − 1 and t; 0 before the first and after the last
    std::vector<Lane<Real>> diagonal;
    std::vector<Lane<Real>> right;
    std::vector<Lane<Real>> h; ///< in: the values now; out: the minimiser

    void solve() {
        const std::size_t T = h.size();
        before_ = h;
        for (std::size_t t = 0; t < T; ++t) {
            held_[t] = (h[t] <= Real{0}) && (right[t] <= Real{0});
        }
        constexpr int most_rounds = 40;
        Mask changed = Mask::Constant(true);
        for (int round = 0; round < most_rounds && changed.any(); ++round) {
            eliminate();
            changed = update_held();
        }
        for (std::size_t t = 0; t < T; ++t) {
            h[t] = changed.select(before_[t], h[t]).max(Real{0});
        }
    }

  private:
    /// h by Thomas' algorithm on the variables that are not held.
    void eliminate() {
        const std::size_t T = h.size();
        Lane<Real> ratio = Lane<Real>::Zero();
        Lane<Real> value = Lane<Real>::Zero();
        for (std::size_t t = 0; t < T; ++t) {
            const Lane<Real> pivot = diagonal[t] - coupling[t] * ratio;
            value = held_[t].select(Lane<Real>::Zero(), (right[t] + coupling[t] * value) / pivot);
            ratio = held_[t].select(Lane<Real>::Zero(), coupling[t + 1] / pivot);
            h[t] = value;
            factor_[t] = ratio;
        }
        for (std::size_t t = T - 1; t > 0; --t) {
            h[t - 1] += factor_[t - 1] * h[t];
        }
    }

    Mask update_held() {
        const std::size_t T = h.size();
        Mask changed = Mask::Constant(false);
        for (std::size_t t = 0; t < T; ++t) {
            Lane<Real> pull = right[t];
            if (t > 0) {
                pull += coupling[t] * h[t - 1].max(Real{0});
            }
            if (t + 1 < T) {
                pull += coupling[t + 1] * h[t + 1].max(Real{0});
            }
            const Mask next = held_[t].select(pull <= Real{0}, h[t] < Real{0});
            changed = changed || (next != held_[t]);
            held_[t] = next;
        }
        return changed;
    }

    std::vector<Lane<Real>> factor_;
    std::vector<Lane<Real>> before_;
    std::vector<Mask> held_;
};

/// The columns of up to `lanes` cells, all scales: [t][k] is row k at scale t. Lanes past the last cell are
/// zero.
template <class Real>
class CellBlock {
  public:
    CellBlock(Index scales, Index rank) : rank_(rank), values_(static_cast<std::size_t>(scales * rank)) {}

    Lane<Real>& operator()(Index t, Index k) { return values_[static_cast<std::size_t>(t * rank_ + k)]; }

    template <class Columns>
    void load(Index t, const Columns& columns) {
        for (Index k = 0; k < rank_; ++k) {
            Lane<Real>& lane = (*this)(t, k);
            lane.setZero();
            for (Index c = 0; c < columns.cols(); ++c) {
                lane[c] = columns(k, c);
            }
        }
    }

  private:
    Index rank_;
    std::vector<Lane<Real>> values_;
};

template <class Real>
void pass_cells(const std::vector<ScalePenalty>& penalties, const std::vector<ScaleProducts<Real>>& products,
                std::vector<DenseMatrix<Real>>& H, Index begin, Index end) {
    const auto scales = static_cast<Index>(H.size());
    const Index rank = H.front().rows();
    const Index cells = end - begin;

    CellBlock<Real> h(scales, rank);
    CellBlock<Real> pull(scales, rank); // w(WᵀX + λ₁·HA)
    std::vector<Lane<Real>> weight(static_cast<std::size_t>(scales), Lane<Real>::Zero()); // wλ₁·deg
    for (Index t = 0; t < scales; ++t) {
        const auto graph = static_cast<Real>(penalties[t].graph);
        h.load(t, H[t].middleCols(begin, cells));
        pull.load(t,
                  products[t].WtX.middleCols(begin, cells) + graph * products[t].HA.middleCols(begin, cells));
        weight[t].head(cells) = graph * products[t].degree.segment(begin, cells).array();
    }

    ChainProblem<Real> chain(scales);
    for (Index t = 1; t < scales; ++t) {
        chain.coupling[t] = static_cast<Real>(penalties[t].before);
    }
    for (Index k = 0; k < rank; ++k) {
        for (Index t = 0; t < scales; ++t) {
            const auto& WtW = products[t].WtW;
            const auto anchor = static_cast<Real>(penalties[t].anchor);
            const Lane<Real> now = h(t, k);
            Lane<Real> gradient = (weight[t] + anchor) * now - pull(t, k);
            for (Index l = 0; l < rank; ++l) {
                gradient += WtW(l, k) * h(t, l);
            }
            const Lane<Real> curvature = WtW(k, k) + Real{2} * weight[t] + anchor;
            chain.diagonal[t] = curvature + (chain.coupling[t] + chain.coupling[t + 1]);
            chain.right[t] = curvature * now - gradient;
            chain.h[t] = now;
        }
        chain.solve();
        for (Index t = 0; t < scales; ++t) {
            h(t, k) = chain.h[t];
        }
    }
    for (Index t = 0; t < scales; ++t) {
        for (Index k = 0; k < rank; ++k) {
            for (Index c = 0; c < cells; ++c) {
                H[t](k, begin + c) = h(t, k)[c];
            }
        }
    }
}

} // namespace

template <class Real>
void pass_along_chain(const std::vector<ScalePenalty>& penalties,
                      const std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H) {
    parallel_blocks(H.front().cols(), lanes,
                    [&](Index begin, Index end) { pass_cells(penalties, products, H, begin, end); });
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void pass_along_chain(const std::vector<ScalePenalty>&,                                         \
                                   const std::vector<ScaleProducts<Real>>&,                                  \
                                   std::vector<DenseMatrix<Real>>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
