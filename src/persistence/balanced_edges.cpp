#include "persistence/balanced_edges.hpp"
#include "persistence/neighbor_tree.hpp"
#include "persistence/neighbors.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

constexpr Index fewest_of_a_batch = 3;  // BBKNN's number
constexpr Index cells_for_a_shift = 15; // of its own batch, over which the shift of a cell is taken

using CellLists = std::vector<std::vector<Index>>;

CellLists cells_of_batches(const std::vector<Index>& batch) {
    CellLists cells(static_cast<std::size_t>(*std::max_element(batch.begin(), batch.end()) + 1));
    for (std::size_t j = 0; j < batch.size(); ++j) {
        cells[static_cast<std::size_t>(batch[j])].push_back(static_cast<Index>(j));
    }
    return cells;
}

/// The middle value, of two middle ones the smaller: no rounding.
double median(std::vector<double>& values) {
    const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double mean_of_squares(const Eigen::Ref<const Vector>& distances) {
    return distances.squaredNorm() / static_cast<double>(distances.size());
}

/// What the search in all batches found.
class Search {
  public:
    Search(const Points& points, const std::vector<Index>& batch, Index of_each)
        : points_(points), batch_(batch), cells_(cells_of_batches(batch)), of_each_(of_each) {
        const Index n = points.count();
        smallest_ = of_each;
        for (const auto& cells : cells_) {
            smallest_ = std::min<Index>(smallest_, std::ssize(cells) - 1);
        }
        own_.resize(static_cast<std::size_t>(n));
        nearest_own_.resize(n);
        for (const auto& cells : cells_) {
            const Index most = std::ssize(cells) - 1; // a cell is not its own neighbour
            const Index kept = std::min(of_each, most);
            Neighbors all =
                exact_neighbors(points, std::min(std::max(of_each, cells_for_a_shift), most), cells);
            for (const Index j : cells) {
                const Index tried = std::min(cells_for_a_shift, all.index.rows());
                own_[static_cast<std::size_t>(j)].assign(all.index.col(j).begin(),
                                                         all.index.col(j).begin() + tried);
                nearest_own_[j] = all.distance(0, j);
            }
            found_.push_back({all.index.topRows(kept), all.distance.topRows(kept)});
        }
        find_shifts();
    }

    Index batches() const { return std::ssize(cells_); }

    double length(Index i, Index j) const { return shortened(i, j, points_.distance(i, j)); }

    /// All edges, ascending, each once; `cut` gets by how much each edge between batches was shortened.
    std::vector<Edge> edges(std::vector<double>& cut) const {
        std::vector<Edge> edges;
        for (const Neighbors& in_batch : found_) {
            for (Index i = 0; i < in_batch.index.cols(); ++i) {
                for (Index r = 0; r < in_batch.index.rows(); ++r) {
                    const Index j = in_batch.index(r, i);
                    const double d = in_batch.distance(r, i);
                    const double length = shortened(i, j, d);
                    edges.push_back({length, std::min(i, j), std::max(i, j)});
                    if (batch_[i] != batch_[j]) {
                        cut.push_back(d - length);
                    }
                }
            }
        }
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
        return edges;
    }

    /// Cells with a mutual neighbour in every other batch.
    double anchored_share() const {
        const Index n = points_.count();
        Index count = 0;
        for (Index i = 0; i < n; ++i) {
            count += anchored_.col(i).count() == batches() - 1 ? 1 : 0;
        }
        return static_cast<double>(count) / static_cast<double>(n);
    }

  private:
    bool is_neighbor(Index i, Index j) const { // whether j is among the nearest of i
        const auto list = found_[static_cast<std::size_t>(batch_[j])].index.col(i);
        return std::find(list.begin(), list.end(), j) != list.end();
    }

    /// d² between cell i and batch b, beyond what it is within its own batch.
    double seen_shift(Index i, Index b) const {
        const auto mean = [&](Index of) {
            return mean_of_squares(found_[static_cast<std::size_t>(of)].distance.col(i).head(smallest_));
        };
        return mean(b) - mean(batch_[i]);
    }

    void find_shifts() {
        const Index n = points_.count();
        anchored_.setConstant(batches(), n, false);
        Matrix seen = Matrix::Zero(batches(), n);
        parallel_blocks(n, 256, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
                for (Index b = 0; b < batches(); ++b) {
                    const auto list = found_[static_cast<std::size_t>(b)].index.col(i);
                    anchored_(b, i) = b != batch_[i] && std::any_of(list.begin(), list.end(), [&](Index j) {
                                          return is_neighbor(j, i);
                                      });
                    seen(b, i) = anchored_(b, i) ? seen_shift(i, b) : 0.0;
                }
            }
        });
        const Matrix of_batches = shifts_of_batches(seen);
        shift_.resize(batches(), n);
        parallel_blocks(n, 256, [&](Index begin, Index end) {
            std::vector<double> near;
            for (Index i = begin; i < end; ++i) {
                for (Index b = 0; b < batches(); ++b) {
                    near.clear();
                    if (anchored_(b, i)) {
                        near.push_back(seen(b, i));
                    }
                    for (const Index j : own_[static_cast<std::size_t>(i)]) {
                        if (anchored_(b, j)) {
                            near.push_back(seen(b, j));
                        }
                    }
                    shift_(b, i) = std::max(0.0, near.empty() ? of_batches(b, batch_[i]) : median(near));
                }
            }
        });
    }

    /// The median shift of the cells of each batch (columns) towards each other one (rows). The two nearest
    /// cells of two batches are mutual neighbours, so there is one.
    Matrix shifts_of_batches(const Matrix& seen) const {
        Matrix shifts = Matrix::Zero(batches(), batches());
        for (Index a = 0; a < batches(); ++a) {
            for (Index b = 0; b < batches(); ++b) {
                std::vector<double> all;
                for (const Index i : cells_[static_cast<std::size_t>(a)]) {
                    if (anchored_(b, i)) {
                        all.push_back(seen(b, i));
                    }
                }
                shifts(b, a) = all.empty() ? 0.0 : median(all);
            }
        }
        return shifts;
    }

    /// ℓ of the pair at distance d; the same bits for (i, j) and (j, i).
    double shortened(Index i, Index j, double d) const {
        if (batch_[i] == batch_[j]) {
            return d;
        }
        const double square = d * d - 0.5 * (shift_(batch_[j], i) + shift_(batch_[i], j));
        const double least = std::min(nearest_own_[i], nearest_own_[j]);
        return std::min(d, std::max(least, std::sqrt(std::max(0.0, square))));
    }

    const Points& points_;
    const std::vector<Index>& batch_;
    CellLists cells_;
    Index of_each_;
    Index smallest_ = 0;           ///< neighbours that every cell has in every batch
    std::vector<Neighbors> found_; ///< of all cells, in each batch
    CellLists own_;                ///< nearest cells of its own batch, of each cell
    Vector nearest_own_;
    DenseMatrix<bool> anchored_; ///< batches × cells: a mutual neighbour there
    Matrix shift_;               ///< δ, batches × cells
};

} // namespace

void check_batches(const std::vector<Index>& batch, Index cells) {
    require(std::ssize(batch) == cells, "there must be a batch for each of the {} cells, got {}", cells,
            batch.size());
    require(std::all_of(batch.begin(), batch.end(), [](Index b) { return b >= 0; }),
            "batches are numbered from 0, got one below it");
    const CellLists lists = cells_of_batches(batch);
    require(lists.size() > 1, "all {} cells are of one batch: there is nothing to balance", cells);
    for (std::size_t b = 0; b < lists.size(); ++b) {
        require(lists[b].size() > 1, "batch {} has {}: each needs at least 2 cells", b + 1,
                lists[b].empty() ? "no cell" : "1 cell");
    }
}

Index neighbors_of_each_batch(Index neighbors, Index batches) {
    return std::max(fewest_of_a_batch, (neighbors + batches - 1) / batches);
}

BalancedEdges balanced_edges(const Points& points, const std::vector<Index>& batch, Index neighbors) {
    const Index n = points.count();
    check_batches(batch, n);
    require(neighbors >= 1 && neighbors < n,
            "the number of neighbours must be at least 1 and less than the {} cells, got {}", n, neighbors);
    const Index batches = *std::max_element(batch.begin(), batch.end()) + 1;
    const Index of_each = neighbors_of_each_batch(neighbors, batches);
    const Search search(points, batch, of_each);
    std::vector<double> cut;
    std::vector<Edge> edges = search.edges(cut);
    const SpanningTree tree = neighbor_tree(points, edges);
    std::vector<std::pair<Index, Index>> known;
    for (const Edge& edge : edges) {
        known.emplace_back(edge.i, edge.j);
    }
    std::sort(known.begin(), known.end());
    for (const Edge& edge : tree.edges) {
        if (!std::binary_search(known.begin(), known.end(), std::pair(edge.i, edge.j))) {
            edges.push_back({search.length(edge.i, edge.j), edge.i, edge.j});
        }
    }
    return {.edges = sorted_edges(n, std::move(edges)),
            .batches = batches,
            .of_each = of_each,
            .shift = cut.empty() ? 0.0 : median(cut),
            .anchored = search.anchored_share()};
}

void balance_distances(Matrix& distances, const std::vector<Index>& batch, Index neighbors) {
    check_batches(batch, distances.rows());
    const CellLists cells = cells_of_batches(batch);
    const Index of_each = neighbors_of_each_batch(neighbors, std::ssize(cells));
    Index smallest = of_each;
    for (const auto& of_batch : cells) {
        smallest = std::min<Index>(smallest, std::ssize(of_batch) - 1);
    }
    parallel_for(distances.cols(), [&](Index j) {
        auto column = distances.col(j);
        const Vector known = column;
        column.setConstant(std::numeric_limits<double>::infinity());
        const double nearest = known.minCoeff();
        CellLists kept = cells;
        Vector mean(std::ssize(cells));
        for (Index b = 0; b < mean.size(); ++b) {
            std::vector<Index>& list = kept[static_cast<std::size_t>(b)];
            const Index count = std::min<Index>(of_each, std::ssize(list));
            std::partial_sort(list.begin(), list.begin() + count, list.end(), [&](Index p, Index q) {
                return std::pair(known[p], p) < std::pair(known[q], q);
            });
            list.resize(static_cast<std::size_t>(count));
            mean[b] = mean_of_squares(known(list).head(smallest));
        }
        for (Index b = 0; b < mean.size(); ++b) {
            for (const Index i : kept[static_cast<std::size_t>(b)]) {
                const double square = known[i] * known[i] - (mean[b] - mean.minCoeff());
                column[i] = std::min(known[i], std::max(nearest, std::sqrt(std::max(0.0, square))));
            }
        }
    });
}

} // namespace pnmf
