#include <pnmf/solvers/embed.hpp>

#include <pnmf/error.hpp>
#include <pnmf/model/objective.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace pnmf {
namespace {

/// Cells that stop together. Few, so that a slow one does not hold up many.
constexpr Index block_size = 32;

/// Passes between two looks at the certificate, which costs as much as a pass.
constexpr Index passes_between_looks = 4;

template <class Real>
void check_cells(const DataMatrix<Real>& X) {
    const auto check = [](Real value, Index i, Index j) {
        require(std::isfinite(value) && value >= Real{0},
                "X must hold finite values, at least 0, got {} at feature {}, cell {}", value, i + 1, j + 1);
    };
    if (X.is_sparse()) {
        const SparseView<Real> columns = X.columns();
        for (Index j = 0; j < columns.cols; ++j) {
            for (auto e = columns.start[j]; e < columns.start[j + 1]; ++e) {
                check(columns.value[e], columns.row[e], j);
            }
        }
        return;
    }
    const DenseView<Real> dense = X.dense();
    for (Index j = 0; j < dense.cols(); ++j) {
        for (Index i = 0; i < dense.rows(); ++i) {
            check(dense(i, j), i, j);
        }
    }
}

template <class Real>
void check_embedding(const DataMatrix<Real>& X, const DenseMatrix<Real>& W, const Penalty& penalty,
                     const StoredNeighbours<Real>* neighbours, const EmbedOptions& options) {
    require(W.cols() > 0 && W.rows() == X.features(),
            "the basis must have a row for each of the {} features and at least one column, it is {} x {}",
            X.features(), W.rows(), W.cols());
    require(W.allFinite() && (W.array() >= Real{0}).all(), "values of the basis must be finite and >= 0");
    require(std::isfinite(penalty.graph) && penalty.graph >= 0.0, "lambda1 must be finite and >= 0, got {}",
            penalty.graph);
    require(std::isfinite(penalty.anchor) && penalty.anchor >= 0.0, "lambda3 must be finite and >= 0, got {}",
            penalty.anchor);
    require(options.tolerance > 0.0, "the tolerance must be positive, got {}", options.tolerance);
    require(options.max_passes > 0, "the limit of passes must be positive, got {}", options.max_passes);
    check_cells(X);
    require(neighbours == nullptr ||
                (neighbours->HA.rows() == W.cols() && neighbours->HA.cols() == X.cells() &&
                 neighbours->degree.size() == X.cells()),
            "the sums over stored cells must be rank x new cells, {} x {}", W.cols(), X.cells());
}

/// The products of cells [begin, end), with zeros for the graph term where there is none.
template <class Real>
ScaleProducts<Real> products_of_block(const DenseMatrix<Real>& WtX, const DenseMatrix<Real>& WtW,
                                      const StoredNeighbours<Real>* neighbours, Index begin, Index end) {
    const Index cells = end - begin;
    ScaleProducts<Real> products;
    products.WtX = WtX.middleCols(begin, cells);
    products.WtW = WtW;
    products.HA = DenseMatrix<Real>::Zero(WtX.rows(), cells);
    products.degree = DenseVector<Real>::Zero(cells);
    if (neighbours != nullptr) {
        products.HA = neighbours->HA.middleCols(begin, cells);
        products.degree = neighbours->degree.segment(begin, cells);
    }
    return products;
}

/// How the descent on one block of cells ended.
struct BlockEnd {
    Index passes = 0;
    double residual = 0.0;
};

/// One step for each row of each cell in turn: h ← [h − g/q]₊, g the half gradient at the newest values and
/// q = (WᵀW)_kk + 2λ₁·deg + λ₃. The objective cannot rise. Cost 2nd².
template <class Real>
void step_rows(const ScalePenalty& penalty, const ScaleProducts<Real>& products, DenseMatrix<Real>& H) {
    const auto graph = static_cast<Real>(penalty.graph);
    const auto anchor = static_cast<Real>(penalty.anchor);
    for (Index j = 0; j < H.cols(); ++j) {
        const Real weight = graph * products.degree[j];
        auto h = H.col(j);
        for (Index k = 0; k < H.rows(); ++k) {
            const Real gradient = products.WtW.col(k).dot(h) - products.WtX(k, j) + weight * h[k] -
                                  graph * products.HA(k, j) + anchor * h[k];
            const Real curvature = products.WtW(k, k) + Real{2} * weight + anchor;
            if (curvature > 0) {
                h[k] = std::max(Real{0}, h[k] - gradient / curvature);
            }
        }
    }
}

/// The stored cells do not move, so their sums HA stay as they are: unlike in a fit the passes need no new
/// products, and the pass's majorisation by 2D is only a shorter step.
template <class Real>
BlockEnd descend(const ScalePenalty& penalty, const ScaleProducts<Real>& products, DenseMatrix<Real>& H,
                 double tolerance, Index max_passes) {
    BlockEnd end;
    while (true) {
        end.residual = movement_H<Real>(penalty, products, H, nullptr, nullptr).ratio();
        if (end.residual <= tolerance || end.passes >= max_passes) {
            return end;
        }
        for (Index i = 0; i < passes_between_looks && end.passes < max_passes; ++i, ++end.passes) {
            step_rows(penalty, products, H);
        }
    }
}

template <class Real>
double relative_error(const DataMatrix<Real>& X, const DenseMatrix<Real>& WtX, const DenseMatrix<Real>& WtW,
                      const DenseMatrix<Real>& H) {
    const double size = X.squared_norm();
    if (!(size > 0.0)) {
        return 0.0;
    }
    const double rest = size - 2.0 * inner_product(WtX, H) + inner_product(WtW, gram_of_rows(H));
    return std::sqrt(std::max(0.0, rest) / size);
}

} // namespace

Matrix distances_to_new(const Points& points, Index stored) {
    return distances_to_new(points, stored, 0, points.count() - stored);
}

Matrix distances_to_new(const Points& points, Index stored, Index begin, Index end) {
    require(stored >= 0 && begin >= 0 && begin <= end && stored + end <= points.count(),
            "there are {} points, {} cannot be stored ones and {} to {} new ones", points.count(), stored,
            begin, end);
    Matrix distances(stored, end - begin);
    parallel_for(end - begin, [&](Index j) {
        for (Index i = 0; i < stored; ++i) {
            distances(i, j) = points.distance(i, stored + begin + j);
        }
    });
    return distances;
}

template <class Real>
StoredNeighbours<Real> stored_neighbours(const Matrix& distances, const EdgeWeight& weight,
                                         const DenseMatrix<Real>& H, std::optional<Index> neighbors) {
    require(distances.rows() == H.cols(), "distances are to {} stored cells, embeddings are of {}",
            distances.rows(), H.cols());
    const Index stored = distances.rows();
    const Index used = std::min(stored, neighbors.value_or(stored));
    StoredNeighbours<Real> sums;
    sums.HA.setZero(H.rows(), distances.cols());
    sums.degree.setZero(distances.cols());
    parallel_for(distances.cols(), [&](Index j) {
        std::vector<Index> nearest(static_cast<std::size_t>(stored));
        std::iota(nearest.begin(), nearest.end(), Index{0});
        if (used < stored) {
            std::partial_sort(nearest.begin(), nearest.begin() + used, nearest.end(), [&](Index a, Index b) {
                return std::pair(distances(a, j), a) < std::pair(distances(b, j), b);
            });
        }
        for (Index i = 0; i < used; ++i) {
            const Index cell = nearest[static_cast<std::size_t>(i)];
            const auto a = static_cast<Real>(weight(distances(cell, j)));
            if (a > Real{0}) {
                sums.HA.col(j) += a * H.col(cell);
                sums.degree[j] += a;
            }
        }
    });
    return sums;
}

template <class Real>
EmbeddedCells<Real> embed_cells(const DataMatrix<Real>& X, const DenseMatrix<Real>& W, const Penalty& penalty,
                                const StoredNeighbours<Real>* neighbours, const EmbedOptions& options) {
    check_embedding(X, W, penalty, neighbours, options);
    const DenseMatrix<Real> WtX = X.transposed_times(W);
    const DenseMatrix<Real> WtW = gram_of_columns(W);
    // A residual is a difference of numbers that are each rounded.
    const double tolerance =
        std::max(options.tolerance, 64.0 * static_cast<double>(std::numeric_limits<Real>::epsilon()));

    EmbeddedCells<Real> result;
    result.H.setZero(W.cols(), X.cells());
    const Index blocks = (X.cells() + block_size - 1) / block_size;
    std::vector<BlockEnd> ends(static_cast<std::size_t>(blocks));
    parallel_for(blocks, [&](Index b) {
        const Index begin = b * block_size;
        const Index end = std::min(begin + block_size, X.cells());
        DenseMatrix<Real> H = DenseMatrix<Real>::Zero(W.cols(), end - begin);
        ends[static_cast<std::size_t>(b)] =
            descend(single_scale(penalty), products_of_block(WtX, WtW, neighbours, begin, end), H, tolerance,
                    options.max_passes);
        result.H.middleCols(begin, end - begin) = H;
    });
    for (const BlockEnd& end : ends) {
        result.passes = std::max(result.passes, end.passes);
        result.residual = std::max(result.residual, end.residual);
    }
    result.converged = result.residual <= tolerance;
    result.relative_error = relative_error(X, WtX, WtW, result.H);
    return result;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template StoredNeighbours<Real> stored_neighbours(const Matrix&, const EdgeWeight&,                      \
                                                      const DenseMatrix<Real>&, std::optional<Index>);       \
    template EmbeddedCells<Real> embed_cells(const DataMatrix<Real>&, const DenseMatrix<Real>&,              \
                                             const Penalty&, const StoredNeighbours<Real>*,                  \
                                             const EmbedOptions&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
