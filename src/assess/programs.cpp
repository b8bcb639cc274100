#include "cells/cell_sums.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "linalg/arrays_on_disk.hpp"
#include "linalg/decompositions.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/error.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace pnmf {
namespace {

constexpr Index sparse_genes_at_once = 16;
constexpr Index genes_at_once = 256;
constexpr Index cells_at_once = 512;
constexpr Index cells_of_item = 8192;

/// Σ_j x_gj u_kj, Σ_j x_gj and Σ_j x_gj² of each gene.
struct GeneSums {
    Matrix with_usages; ///< p × d
    Vector sum;
    Vector squares;
};

/// Of sparse data. Usages are of all cells; where processes hold some of them, each goes on where the process
/// before has come to.
template <class Real>
GeneSums sparse_sums_of(const DataMatrix<Real>& X, const Matrix& usages) {
    const SparseView<Real> genes = X.rows(); // the transpose of X: a column of it is a gene
    const Index d = usages.rows();
    const Index first = X.local().first;
    Matrix all = Matrix::Zero(d + 2, genes.cols); // with usages, sum, squares
    const std::span<double> numbers(all.data(), static_cast<std::size_t>(all.size()));
    sum_along_cells<double>(X.processes(), numbers, d + 2, [&](Index from, Index to) {
        parallel_blocks(to - from, sparse_genes_at_once, [&](Index begin, Index end) {
            for (Index g = from + begin; g < from + end; ++g) {
                Vector products = all.col(g).head(d);
                for (auto e = genes.start[g]; e < genes.start[g + 1]; ++e) {
                    const double x = genes.value[e];
                    products += x * usages.col(first + genes.row[e]);
                    all(d, g) += x;
                    all(d + 1, g) += x * x;
                }
                all.col(g).head(d) = products;
            }
        });
    });
    return {all.topRows(d).transpose(), all.row(d).transpose(), all.row(d + 1).transpose()};
}

/// Columns with usages, sum and squares of genes [begin, end), over the cells [from, to) of X. Usages begin
/// at the first cell of X.
template <class Real, class Usages>
Matrix sums_of_block(const DenseView<Real>& X, const Usages& usages, Index begin, Index end, Index from,
                     Index to) {
    const Index d = usages.rows();
    Matrix sums = Matrix::Zero(end - begin, d + 2);
    for (Index j = from; j < to; j += cells_at_once) {
        const Index cells = std::min(cells_at_once, to - j);
        const Matrix part = X.block(begin, j, end - begin, cells).template cast<double>();
        sums.leftCols(d).noalias() += part * usages.middleCols(j, cells).transpose();
        sums.col(d) += part.rowwise().sum();
        sums.col(d + 1) += part.rowwise().squaredNorm();
    }
    return sums;
}

/// Of dense data: over blocks of cells and along the tree of these. Usages are of all cells.
template <class Real>
GeneSums dense_sums_of(const DataMatrix<Real>& X, const Matrix& usages) {
    const DenseView<Real> values = X.dense();
    const auto held = usages.middleCols(X.local().first, X.local().count);
    const Index d = usages.rows();
    const Index pieces = pieces_for_threads((X.features() + genes_at_once - 1) / genes_at_once);
    const auto of_node = [&](const BlockSlab& slab, const BlockNode& node) {
        Matrix sums(X.features(), d + 2);
        parallel_blocks(X.features(), genes_at_once, [&](Index begin, Index end) {
            sums.middleRows(begin, end - begin) = sum_of_node<Matrix>(node, pieces, [&](Index b) {
                return sums_of_block(values, held, begin, end, slab.begin(b), slab.end(b));
            });
        });
        return sums;
    };
    const Matrix all = sum_over_cells<double>(X.processes(), X.cells(), X.features(), d + 2, of_node);
    return {all.leftCols(d), all.col(d), all.col(d + 1)};
}

/// The pseudo-inverse of U Uᵀ.
Matrix inverse_of_products(const Matrix& usages) {
    const SymmetricEigen parts = symmetric_eigen(product_over_cells(usages));
    const Vector& values = parts.values;
    constexpr double negligible = 1e-10;
    const double least = negligible * std::max(0.0, values.maxCoeff());
    const Vector inverse = values.unaryExpr([&](double x) { return x > least ? 1.0 / x : 0.0; });
    return parts.vectors * inverse.asDiagonal() * parts.vectors.transpose();
}

Matrix unit_columns(Matrix W) {
    for (Index k = 0; k < W.cols(); ++k) {
        const double length = W.col(k).norm();
        W.col(k) /= length > 0.0 ? length : 1.0;
    }
    return W;
}

/// Follows paths from one scale to the next in one direction, for as long as one goes on.
class Follower {
  public:
    Follower(const std::function<Matrix(Index)>& basis, Index from)
        : basis_(basis), before_(unit_columns(basis(from))),
          component_(static_cast<std::size_t>(before_.cols())) {
        std::iota(component_.begin(), component_.end(), Index{0});
    }

    /// To scale t, a neighbour of the present one. `end(program, merges_into)` for each path that stops.
    template <class End>
    void step(Index t, const End& end) {
        Matrix after = unit_columns(basis_(t));
        const Matrix cosine = before_.transpose() * after;
        const std::vector<Index> match = optimal_assignment(-cosine);
        std::vector<Index> owner(match.size(), -1);
        std::vector<Index> next(component_.size(), -1);
        for (std::size_t k = 0; k < component_.size(); ++k) {
            if (component_[k] >= 0) {
                const Index to = match[static_cast<std::size_t>(component_[k])];
                if (cosine(component_[k], to) >= same_program) {
                    next[k] = to;
                    owner[static_cast<std::size_t>(to)] = static_cast<Index>(k);
                }
            }
        }
        for (std::size_t k = 0; k < component_.size(); ++k) {
            if (component_[k] >= 0 && next[k] < 0) {
                Index nearest = 0;
                const double best = cosine.row(component_[k]).maxCoeff(&nearest);
                end(static_cast<Index>(k), best >= alike ? owner[static_cast<std::size_t>(nearest)] : -1);
            }
        }
        component_ = std::move(next);
        before_ = std::move(after);
    }

    std::size_t programs() const { return component_.size(); }
    bool any_alive() const {
        return std::any_of(component_.begin(), component_.end(), [](Index c) { return c >= 0; });
    }

  private:
    const std::function<Matrix(Index)>& basis_;
    Matrix before_;                ///< unit columns of the present scale
    std::vector<Index> component_; ///< of the present scale, for each program; −1: its path has ended
};

} // namespace

Matrix program_usages(const Matrix& W, const Matrix& H) {
    const Vector size =
        W.colwise().sum(); // named: within the product it would be summed again for every cell
    Matrix usages;
    resize_on_disk(usages, H.rows(), H.cols());
    parallel_blocks(H.cols(), cells_of_item, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            usages.col(j) = size.asDiagonal() * H.col(j);
            const double sum = usages.col(j).sum();
            usages.col(j) /= sum > 0.0 ? sum : 1.0;
        }
    });
    return usages;
}

template <class Real>
Matrix program_scores(const DataMatrix<Real>& X, const Matrix& usages) {
    require(usages.cols() == X.cells(), "usages have {} cells and the data {}", usages.cols(), X.cells());
    const GeneSums sums = X.is_sparse() ? sparse_sums_of(X, usages) : dense_sums_of(X, usages);
    const auto n = static_cast<double>(X.cells());
    const Vector mean = sums.sum / n;
    const Matrix centred = sums.with_usages - mean * sum_of_cells(usages).transpose();
    Vector inverse_deviation(mean.size());
    for (Index g = 0; g < mean.size(); ++g) {
        const double square = sums.squares[g] / n;
        const double variance = square - mean[g] * mean[g];
        // What is left of equal values is rounding.
        constexpr double rounding = 1e-12;
        inverse_deviation[g] = variance > rounding * square ? 1.0 / std::sqrt(variance) : 0.0;
    }
    return inverse_deviation.asDiagonal() * (centred * inverse_of_products(usages));
}

std::vector<ProgramPath> follow_programs(Index scales, const std::function<Matrix(Index)>& basis, Index from,
                                         const std::vector<double>& weight) {
    require(
        from >= 0 && from < scales && std::ssize(weight) == scales,
        "programs are followed from one of the {} scales, each with a weight; got scale {} and {} weights",
        scales, from, weight.size());
    Follower coarser(basis, from);
    Follower finer(basis, from);
    std::vector<ProgramPath> paths(coarser.programs(), {.first = 0, .last = scales - 1});
    for (Index t = from + 1; t < scales && coarser.any_alive(); ++t) {
        coarser.step(t, [&](Index k, Index merges_into) {
            paths[static_cast<std::size_t>(k)].last = t - 1;
            paths[static_cast<std::size_t>(k)].merges_into = merges_into;
        });
    }
    for (Index t = from - 1; t >= 0 && finer.any_alive(); --t) {
        finer.step(t, [&](Index k, Index) { paths[static_cast<std::size_t>(k)].first = t + 1; });
    }
    const double all = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (ProgramPath& path : paths) {
        const double found =
            std::accumulate(weight.begin() + path.first, weight.begin() + path.last + 1, 0.0);
        path.persistence = found / all;
    }
    return paths;
}

Vector variance_between(const Matrix& usages, const std::vector<Index>& clusters) {
    require(std::ssize(clusters) == usages.cols(), "there are {} cells and {} labels", usages.cols(),
            clusters.size());
    const Vector mean = usages.rowwise().mean();
    const Index count = clusters.empty() ? 0 : *std::max_element(clusters.begin(), clusters.end()) + 1;
    Matrix sum = Matrix::Zero(usages.rows(), count);
    Vector size = Vector::Zero(count);
    Vector all = Vector::Zero(usages.rows());
    for (Index j = 0; j < usages.cols(); ++j) {
        const Vector from_mean = usages.col(j) - mean;
        const Index cluster = clusters[static_cast<std::size_t>(j)];
        sum.col(cluster) += from_mean;
        size[cluster] += 1.0;
        all += from_mean.cwiseAbs2();
    }
    const Vector between = sum.array().square().matrix() * size.cwiseMax(1.0).cwiseInverse();
    constexpr double rounding = 1e-24; // of squares: what is left of equal usages
    const Vector squares = usages.rowwise().squaredNorm();
    return (all.array() > rounding * squares.array()).select(between.array() / all.array(), 0.0).min(1.0);
}

std::vector<Index> order_of_programs(const std::vector<double>& persistence,
                                     const std::vector<double>& between_clusters,
                                     const std::vector<double>& mean_usage) {
    std::vector<Index> order(persistence.size());
    std::iota(order.begin(), order.end(), Index{0});
    const auto key = [&](Index k) {
        const auto at = static_cast<std::size_t>(k);
        return std::pair(persistence[at] * between_clusters[at], mean_usage[at]);
    };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return key(a) > key(b); });
    return order;
}

std::vector<double> depth_correlation(const Matrix& usages, const std::vector<double>& counts) {
    require(std::ssize(counts) == usages.cols(), "there are {} cells and {} counts", usages.cols(),
            counts.size());
    const Eigen::Map<const Vector> given(counts.data(), std::ssize(counts));
    const Vector depth = given.array() - given.mean();
    std::vector<double> result;
    Vector usage(usages.cols());
    for (Index k = 0; k < usages.rows(); ++k) {
        parallel_blocks(usages.cols(), cells_of_item, [&](Index begin, Index end) {
            usage.segment(begin, end - begin) = usages.row(k).segment(begin, end - begin).transpose();
        });
        usage.array() -= std::accumulate(usage.begin(), usage.end(), 0.0) / static_cast<double>(usage.size());
        const double lengths = usage.norm() * depth.norm();
        result.push_back(lengths > 0.0 ? usage.dot(depth) / lengths : 0.0);
    }
    return result;
}

std::vector<std::vector<Index>> top_genes(const DenseMatrix<float>& scores, Index count) {
    std::vector<std::vector<Index>> lists;
    const Index listed = std::min(count, scores.rows());
    for (Index k = 0; k < scores.cols(); ++k) {
        std::vector<Index> order(static_cast<std::size_t>(scores.rows()));
        std::iota(order.begin(), order.end(), Index{0});
        std::partial_sort(order.begin(), order.begin() + listed, order.end(), [&](Index a, Index b) {
            return scores(a, k) != scores(b, k) ? scores(a, k) > scores(b, k) : a < b;
        });
        order.resize(static_cast<std::size_t>(listed));
        lists.push_back(std::move(order));
    }
    return lists;
}

template Matrix program_scores(const DataMatrix<float>&, const Matrix&);
template Matrix program_scores(const DataMatrix<double>&, const Matrix&);

} // namespace pnmf
