#include "persistence/distinct_cells.hpp"
#include "persistence/searched_pairs.hpp"
#include "persistence/union_find.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

// Borůvka's algorithm: the shortest edge out of a component belongs to the tree. A device lists, for each
// cell, cells that are near it, with bounds; a cell's list is gone along as its component grows. A
// component's shortest edge is known when no cell of it can have a shorter one that is not in its list.

namespace pnmf {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Edge no_edge{infinity, 0, 0};
constexpr Index cells_at_a_time = 4096;

Eigen::Map<const Vector> sparse_cell(const SparseView<double>& X, Index cell) {
    return {X.value.data() + X.start[cell], X.start[cell + 1] - X.start[cell]};
}

/// Cells without negative coordinates are at most √(‖a‖² + ‖b‖²) apart, and just as far where they share no
/// feature: among counts that is so for very many pairs. A bound on all keys, less what rounding may take;
/// +∞ where a coordinate is negative.
double largest_possible_key(const Points& points) {
    const Index n = points.count();
    std::vector<double> squares(static_cast<std::size_t>(n), 0.0);
    std::vector<char> negative((static_cast<std::size_t>(n) + cells_at_a_time - 1) / cells_at_a_time, 0);
    parallel_blocks(n, cells_at_a_time, [&](Index begin, Index end) {
        for (Index a = begin; a < end; ++a) {
            const auto of_cell = [&](const auto& values) {
                squares[a] = values.squaredNorm();
                return values.size() > 0 && values.minCoeff() < 0.0;
            };
            const bool below = points.is_sparse() ? of_cell(sparse_cell(points.columns(), a))
                                                  : of_cell(points.dense().col(a));
            if (below) {
                negative[begin / cells_at_a_time] = 1;
                return;
            }
        }
    });
    if (n < 2 || std::find(negative.begin(), negative.end(), 1) != negative.end()) {
        return infinity;
    }
    std::nth_element(squares.begin(), squares.begin() + 1, squares.end(), std::greater<>());
    return (squares[0] + squares[1]) * (1.0 - 1e-12);
}

class SearchedTree {
  public:
    SearchedTree(const PairBounds& bounds, PairSearcher& searcher, SearchedLists lists)
        : bounds_(bounds), searcher_(searcher), n_(bounds.points().count()), lists_(std::move(lists)),
          sets_(n_), component_(size()), next_(size(), 0), first_(size(), no_edge), first_at_(size(), -1),
          scanned_(size(), 0), asked_(size(), -1) {}

    SpanningTree run() {
        tree_.cells = n_;
        join_duplicates();
        while (sets_.sets() > 1) {
            name_components();
            find_shortest();
            if (!join_certain()) {
                ask_again();
            }
        }
        std::sort(tree_.edges.begin(), tree_.edges.end());
        tree_.largest_distance = n_ > 1 ? largest_distance() : 0.0;
        return std::move(tree_);
    }

  private:
    std::size_t size() const { return static_cast<std::size_t>(n_); }

    Edge edge(Index a, Index b) const {
        return {bounds_.points().distance(a, b), std::min(a, b), std::max(a, b)};
    }

    /// Edges of length 0 from the first of equal cells to the others come before all that could replace them.
    void join_duplicates() {
        const std::vector<Index> first = first_equal_cells(bounds_.points());
        for (Index cell = 0; cell < n_; ++cell) {
            if (first[cell] != cell) {
                sets_.join(first[cell], cell);
                tree_.edges.push_back({0.0, first[cell], cell});
            }
        }
    }

    void name_components() {
        for (Index cell = 0; cell < n_; ++cell) {
            component_[cell] = static_cast<std::int32_t>(sets_.find(cell));
        }
    }

    /// The place of the first cell of a's list outside its component, `lists_.count` where there is none.
    Index next_outside(Index a, Index place) const {
        while (place < lists_.count) {
            const std::int32_t other = lists_.cell[a * lists_.count + place];
            if (other < 0) {
                return lists_.count;
            }
            if (component_[other] != component_[a]) {
                return place;
            }
            ++place;
        }
        return place;
    }

    /// The shortest edge out of each component that the lists know: first the first cells of all lists, then
    /// those that the bounds do not put behind these.
    void find_shortest() {
        shortest_.assign(size(), no_edge);
        own_.assign(size(), no_edge);
        parallel_blocks(n_, cells_at_a_time, [&](Index begin, Index end) {
            for (Index a = begin; a < end; ++a) {
                const Index place = next_outside(a, next_[a]);
                next_[a] = static_cast<std::int32_t>(place);
                if (place == lists_.count) {
                    continue;
                }
                if (first_at_[a] != place) {
                    first_[a] = edge(a, lists_.cell[a * lists_.count + place]);
                    first_at_[a] = static_cast<std::int32_t>(place);
                }
                own_[a] = first_[a];
            }
        });
        take_shortest();
        parallel_blocks(n_, cells_at_a_time, [&](Index begin, Index end) {
            for (Index a = begin; a < end; ++a) {
                const double limit = limit_of(a);
                for (Index place = next_outside(a, next_[a] + 1);
                     place < lists_.count && lists_.bound[a * lists_.count + place] <= limit;
                     place = next_outside(a, place + 1)) {
                    own_[a] = std::min(own_[a], edge(a, lists_.cell[a * lists_.count + place]));
                }
            }
        });
        take_shortest();
    }

    void take_shortest() {
        for (Index a = 0; a < n_; ++a) {
            Edge& shortest = shortest_[component_[a]];
            shortest = std::min(shortest, own_[a]);
        }
    }

    /// Edges with a larger key are longer than the shortest known out of a's component.
    double limit_of(Index a) const {
        const double length = shortest_[component_[a]].length;
        return length < infinity ? bounds_.key_above(length) : infinity;
    }

    /// Whether a cell may have an edge out of its component, shorter than those known, that is not listed.
    bool is_open(Index a) const {
        const bool all_known = scanned_[a] != 0 && next_[a] < lists_.count;
        return !all_known && lists_.beyond[a] <= limit_of(a);
    }

    /// Joins components by shortest edges that are certain; false where there are none.
    bool join_certain() {
        std::vector<char> open(size(), 0);
        for (Index a = 0; a < n_; ++a) {
            if (is_open(a)) {
                open[component_[a]] = 1;
            }
        }
        bool joined = false;
        for (Index c = 0; c < n_; ++c) {
            if (component_[c] != c || open[c] != 0) {
                continue;
            }
            const Edge& edge = shortest_[c];
            if (sets_.join(edge.i, edge.j)) { // two components may have the same one
                tree_.edges.push_back(edge);
                joined = true;
            }
        }
        step_ += joined ? 1 : 0;
        return joined;
    }

    /// New lists for the cells that stand in the way, outside their components; of the largest component
    /// none: the others' edges do. A cell whose new list is open as well has many cells as far as the nearest
    /// outside: there all are measured.
    void ask_again() {
        std::vector<Index> cells_of(size(), 0);
        for (const std::int32_t component : component_) {
            ++cells_of[component];
        }
        const auto largest =
            static_cast<std::int32_t>(std::max_element(cells_of.begin(), cells_of.end()) - cells_of.begin());
        std::vector<std::int32_t> asked;
        for (Index a = 0; a < n_; ++a) {
            if (component_[a] == largest || !is_open(a)) {
                continue;
            }
            if (asked_[a] == step_) {
                scan(a);
            } else {
                asked_[a] = step_;
                asked.push_back(static_cast<std::int32_t>(a));
            }
        }
        if (!asked.empty()) {
            replace_lists(asked,
                          searcher_.search({.cells = asked, .group = component_, .count = lists_.count}));
        }
    }

    void replace_lists(const std::vector<std::int32_t>& cells, const SearchedLists& found) {
        parallel_blocks(std::ssize(cells), cells_at_a_time, [&](Index begin, Index end) {
            for (Index q = begin; q < end; ++q) {
                const std::int32_t a = cells[q];
                std::copy_n(found.cell.begin() + q * found.count, found.count,
                            lists_.cell.begin() + a * lists_.count);
                std::copy_n(found.bound.begin() + q * found.count, found.count,
                            lists_.bound.begin() + a * lists_.count);
                lists_.beyond[a] = found.beyond[q];
                next_[a] = 0;
                first_at_[a] = -1;
                scanned_[a] = 0;
            }
        });
    }

    /// A list of one: the nearest cell outside, by canonical distances to all.
    void scan(Index a) {
        std::vector<Edge> best(static_cast<std::size_t>((n_ + cells_at_a_time - 1) / cells_at_a_time),
                               no_edge);
        parallel_blocks(n_, cells_at_a_time, [&](Index begin, Index end) {
            Edge& shortest = best[begin / cells_at_a_time];
            for (Index b = begin; b < end; ++b) {
                if (component_[b] != component_[a]) {
                    shortest = std::min(shortest, edge(a, b));
                }
            }
        });
        const Edge shortest = *std::min_element(best.begin(), best.end());
        const Index at = a * lists_.count;
        lists_.cell[at] = static_cast<std::int32_t>(shortest.i == a ? shortest.j : shortest.i);
        std::fill_n(lists_.cell.begin() + at + 1, lists_.count - 1, -1);
        lists_.bound[at] = bounds_.key_below(shortest.length);
        lists_.beyond[a] = lists_.bound[at];
        next_[a] = 0;
        first_[a] = shortest;
        first_at_[a] = 0;
        scanned_[a] = 1;
    }

    double farthest_from(Index a) const {
        std::vector<double> farthest(static_cast<std::size_t>((n_ + cells_at_a_time - 1) / cells_at_a_time),
                                     0.0);
        parallel_blocks(n_, cells_at_a_time, [&](Index begin, Index end) {
            double& there = farthest[begin / cells_at_a_time];
            for (Index b = begin; b < end; ++b) {
                there = std::max(there, bounds_.points().distance(a, b));
            }
        });
        return *std::max_element(farthest.begin(), farthest.end());
    }

    /// Over all pairs: cells that reach no farther than a pair that was measured are left out. Of very many
    /// cells that may reach farther, by the bounds, those that may reach farthest are measured.
    double largest_distance() {
        const auto& reach = lists_.reach;
        const Index start = std::max_element(reach.begin(), reach.end()) - reach.begin();
        double largest = farthest_from(start);
        if (bounds_.key_above(largest) >= largest_possible_key(bounds_.points())) {
            return largest;
        }
        std::vector<std::int32_t> cells;
        for (Index a = 0; a < n_; ++a) {
            if (a != start && reach[a] >= bounds_.key_below(largest)) {
                cells.push_back(static_cast<std::int32_t>(a));
            }
        }
        if (cells.empty()) {
            return largest;
        }
        const SearchedLists far = searcher_.search({.cells = cells, .count = lists_.count, .farthest = true});
        for (Index q = 0; q < std::ssize(cells); ++q) {
            for (Index place = q * far.count; place < (q + 1) * far.count && far.cell[place] >= 0 &&
                                              far.bound[place] >= bounds_.key_below(largest);
                 ++place) {
                largest = std::max(largest, bounds_.points().distance(cells[q], far.cell[place]));
            }
        }
        return measured_rest(cells, far, largest);
    }

    /// The rest of the cells whose lists of the farthest leave a farther one open, the farthest first.
    double measured_rest(const std::vector<std::int32_t>& cells, const SearchedLists& far,
                         double largest) const {
        std::vector<std::pair<double, std::int32_t>> open;
        for (Index q = 0; q < std::ssize(cells); ++q) {
            open.emplace_back(-far.beyond[q], cells[q]);
        }
        std::sort(open.begin(), open.end());
        constexpr double most_work = 5e10; // coordinates compared: seconds
        const Points& points = bounds_.points();
        const double of_cell = points.is_sparse() ? static_cast<double>(points.columns().nonzeros())
                                                  : static_cast<double>(points.dense().size());
        const auto most = static_cast<std::size_t>(most_work / std::max(1.0, of_cell));
        for (std::size_t i = 0; i < std::min(open.size(), most + 1); ++i) {
            if (-open[i].first < bounds_.key_below(largest)) {
                break;
            }
            largest = std::max(largest, farthest_from(open[i].second));
        }
        return largest;
    }

    const PairBounds& bounds_;
    PairSearcher& searcher_;
    Index n_;
    SearchedLists lists_;
    UnionFind sets_;
    SpanningTree tree_;
    std::vector<std::int32_t> component_; ///< of each cell, a cell of it
    std::vector<std::int32_t> next_;      ///< place in a cell's list up to which others are in its component
    std::vector<Edge> first_;             ///< to the cell at that place,
    std::vector<std::int32_t> first_at_;  ///< as long as it is this one
    std::vector<char> scanned_;           ///< the list holds the nearest cell outside alone
    std::vector<std::int32_t> asked_;     ///< step at which the device was asked last
    std::vector<Edge> own_;               ///< shortest known edge of each cell out of its component
    std::vector<Edge> shortest_;          ///< the same of each component
    std::int32_t step_ = 0;
};

} // namespace

SpanningTree searched_tree(const PairBounds& bounds, PairSearcher& searcher, SearchedLists lists) {
    return SearchedTree(bounds, searcher, std::move(lists)).run();
}

} // namespace pnmf
