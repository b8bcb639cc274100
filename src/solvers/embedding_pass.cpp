#include "solvers/embedding_pass.hpp"

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
/// tridiagonal, diagonal `diagonal`, off-diagonal −λ₂.
///
/// M is an M-matrix, so the primal–dual active-set iteration (Hintermüller, Ito and Kunisch 2002) ends at the
/// minimiser: solve with some variables held at zero, release those the others pull up, hold those that fell
/// below. A cell for which it has not ended after `most_rounds` keeps its values.
template <class Real>
class ChainProblem {
  public:
    explicit ChainProblem(Index scales)
        : diagonal(static_cast<std::size_t>(scales)), right(diagonal.size()), h(diagonal.size()),
          factor_(diagonal.size()), held_(diagonal.size()) {}

    std::vector<Lane<Real>> diagonal;
    std::vector<Lane<Real>> right;
    std::vector<Lane<Real>> h; ///< in: the values now; out: the minimiser

    void solve(Real coupling) {
        const std::size_t T = h.size();
        before_ = h;
        for (std::size_t t = 0; t < T; ++t) {
            held_[t] = (h[t] <= Real{0}) && (right[t] <= Real{0});
        }
        constexpr int most_rounds = 40;
        Mask changed = Mask::Constant(true);
        for (int round = 0; round < most_rounds && changed.any(); ++round) {
            eliminate(coupling);
            changed = update_held(coupling);
        }
        for (std::size_t t = 0; t < T; ++t) {
            h[t] = changed.select(before_[t], h[t]).max(Real{0});
        }
    }

  private:
    /// h by Thomas' algorithm on the variables that are not held.
    void eliminate(Real coupling) {
        const std::size_t T = h.size();
        Lane<Real> ratio = Lane<Real>::Zero();
        Lane<Real> value = Lane<Real>::Zero();
        for (std::size_t t = 0; t < T; ++t) {
            const Lane<Real> pivot = diagonal[t] - coupling * ratio;
            value = held_[t].select(Lane<Real>::Zero(), (right[t] + coupling * value) / pivot);
            ratio = held_[t].select(Lane<Real>::Zero(), coupling / pivot);
            h[t] = value;
            factor_[t] = ratio;
        }
        for (std::size_t t = T - 1; t > 0; --t) {
            h[t - 1] += factor_[t - 1] * h[t];
        }
    }

    Mask update_held(Real coupling) {
        const std::size_t T = h.size();
        Mask changed = Mask::Constant(false);
        for (std::size_t t = 0; t < T; ++t) {
            Lane<Real> pull = right[t];
            if (t > 0) {
                pull += coupling * h[t - 1].max(Real{0});
            }
            if (t + 1 < T) {
                pull += coupling * h[t + 1].max(Real{0});
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
void pass_cells(const Penalty& penalty, const std::vector<ScaleProducts<Real>>& products,
                std::vector<DenseMatrix<Real>>& H, Index begin, Index end) {
    const auto scales = static_cast<Index>(H.size());
    const Index rank = H.front().rows();
    const Index cells = end - begin;
    const auto graph = static_cast<Real>(penalty.graph);
    const auto smoothness = static_cast<Real>(penalty.smoothness);
    const auto anchor = static_cast<Real>(penalty.anchor);

    CellBlock<Real> h(scales, rank);
    CellBlock<Real> pull(scales, rank);                                                   // WᵀX + λ₁·HA
    std::vector<Lane<Real>> weight(static_cast<std::size_t>(scales), Lane<Real>::Zero()); // λ₁·deg
    for (Index t = 0; t < scales; ++t) {
        h.load(t, H[t].middleCols(begin, cells));
        pull.load(t,
                  products[t].WtX.middleCols(begin, cells) + graph * products[t].HA.middleCols(begin, cells));
        weight[t].head(cells) = graph * products[t].degree.segment(begin, cells).array();
    }

    ChainProblem<Real> chain(scales);
    for (Index k = 0; k < rank; ++k) {
        for (Index t = 0; t < scales; ++t) {
            const auto& WtW = products[t].WtW;
            const Lane<Real> now = h(t, k);
            Lane<Real> gradient = (weight[t] + anchor) * now - pull(t, k);
            for (Index l = 0; l < rank; ++l) {
                gradient += WtW(l, k) * h(t, l);
            }
            const Lane<Real> curvature = WtW(k, k) + Real{2} * weight[t] + anchor;
            const auto neighbours = static_cast<Real>(neighbour_count(t, scales));
            chain.diagonal[t] = curvature + neighbours * smoothness;
            chain.right[t] = curvature * now - gradient;
            chain.h[t] = now;
        }
        chain.solve(smoothness);
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
void pass_along_chain(const Penalty& penalty, const std::vector<ScaleProducts<Real>>& products,
                      std::vector<DenseMatrix<Real>>& H) {
    parallel_blocks(H.front().cols(), lanes,
                    [&](Index begin, Index end) { pass_cells(penalty, products, H, begin, end); });
}

template <class Real>
void pass_at_scale(const Penalty& penalty, const ScaleProducts<Real>& products, DenseMatrix<Real>& H,
                   const DenseMatrix<Real>* before, const DenseMatrix<Real>* after) {
    const auto graph = static_cast<Real>(penalty.graph);
    const auto smoothness = static_cast<Real>(penalty.smoothness);
    const auto neighbours = static_cast<Real>((before != nullptr ? 1 : 0) + (after != nullptr ? 1 : 0));
    const Real shared = neighbours * smoothness + static_cast<Real>(penalty.anchor);
    parallel_blocks(H.cols(), 256, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            const Real weight = graph * products.degree[j];
            auto h = H.col(j);
            for (Index k = 0; k < H.rows(); ++k) {
                Real gradient = products.WtW.col(k).dot(h) - products.WtX(k, j) + weight * h[k] -
                                graph * products.HA(k, j) + shared * h[k];
                for (const DenseMatrix<Real>* neighbour : {before, after}) {
                    if (neighbour != nullptr) {
                        gradient -= smoothness * (*neighbour)(k, j);
                    }
                }
                const Real curvature = products.WtW(k, k) + Real{2} * weight + shared;
                if (curvature > 0) {
                    h[k] = std::max(Real{0}, h[k] - gradient / curvature);
                }
            }
        }
    });
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void pass_along_chain(const Penalty&, const std::vector<ScaleProducts<Real>>&,                  \
                                   std::vector<DenseMatrix<Real>>&);                                         \
    template void pass_at_scale(const Penalty&, const ScaleProducts<Real>&, DenseMatrix<Real>&,              \
                                const DenseMatrix<Real>*, const DenseMatrix<Real>*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
