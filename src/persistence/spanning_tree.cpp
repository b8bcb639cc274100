#include <pnmf/linalg/sampling.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include "over_ranks.hpp"
#include "persistence/bottlenecks.hpp"
#include "persistence/distinct_cells.hpp"
#include "persistence/kruskal.hpp"
#include "persistence/pair_bounds.hpp"
#include "persistence/union_find.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

// One pass over all pairs. A spanning tree is kept; a pair can change it only when it is no longer than the
// longest tree edge between its two cells (the cycle property). The pairs come in blocks of two groups of
// cells: a product bounds their distances from below, `Bottlenecks` knows the longest tree edges, and the few
// pairs that the comparison leaves are measured by `distance()` and merged into the tree by Kruskal's
// algorithm.
//
// The groups are drawn at random and each step looks at about as many pairs as all steps before it, so each
// step leaves about n pairs (Karger, Klein & Tarjan 1995: a tree of the pairs seen, a fraction q of all, is
// beaten by about n/q pairs). The result does not depend on the draw or on the steps: with a total order on
// edges the minimum spanning tree is unique.

namespace pnmf {
namespace {

using Panel = PairBounds::Panel;

Edge make_edge(const Points& points, Index a, Index b) {
    return {points.distance(a, b), std::min(a, b), std::max(a, b)};
}

/// Kruskal's algorithm on few edges, at a cost that does not depend on the number of all cells.
void keep_forest(std::vector<Edge>& edges) {
    std::sort(edges.begin(), edges.end());
    std::vector<Index> cells;
    for (const Edge& edge : edges) {
        cells.push_back(edge.i);
        cells.push_back(edge.j);
    }
    std::sort(cells.begin(), cells.end());
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    const auto rank = [&](Index cell) {
        return std::lower_bound(cells.begin(), cells.end(), cell) - cells.begin();
    };
    UnionFind sets(static_cast<Index>(cells.size()));
    std::erase_if(edges, [&](const Edge& edge) { return !sets.join(rank(edge.i), rank(edge.j)); });
}

/// What a block of pairs brings: edges that may belong to the tree, and the largest distance seen if it
/// exceeds the largest known before.
struct Finding {
    std::vector<Edge> edges;
    double largest = 0.0;
};

/// Looks through one block of pairs, the cells of A × those of B, both in the order of their places.
class BlockSearch {
  public:
    BlockSearch(const PairBounds& bounds, const Bottlenecks& bottlenecks, double largest)
        : bounds_(bounds), bottlenecks_(bottlenecks) {
        finding_.largest = largest;
    }

    Finding run(const std::vector<Index>& A, const std::vector<Index>& B, bool same) {
        bounds_.gather(A, A_);
        bounds_.gather(B, B_);
        bounds_.lower_bounds(A_, B_, lower_);
        limit_.resize(lower_.rows());
        largest_width_ = A_.width.maxCoeff();
        rightwards();
        if (!same) {
            leftwards();
        }
        return std::move(finding_);
    }

  private:
    Index place(const Panel& panel, Index k) const { return bottlenecks_.place(panel.cells[k]); }

    /// Pairs whose cell of B stands to the right. Their bottlenecks follow from those of the column before:
    /// the path to the next cell of B passes the gap between the two.
    void rightwards() {
        Index count = 0;
        for (Index b = 0; b < lower_.cols(); ++b) {
            const Index here = place(B_, b);
            if (count > 0) {
                const double gap = bottlenecks_.between(place(B_, b - 1), here);
                limit_.head(count) = limit_.head(count).cwiseMax(gap);
            }
            for (; count < lower_.rows() && place(A_, count) < here; ++count) {
                limit_[count] = bottlenecks_.between(place(A_, count), here);
            }
            test(b, 0, count);
        }
    }

    /// Pairs whose cell of B stands to the left.
    void leftwards() {
        const Index rows = lower_.rows();
        Index first = rows;
        for (Index b = lower_.cols() - 1; b >= 0; --b) {
            const Index here = place(B_, b);
            if (first < rows) {
                const double gap = bottlenecks_.between(here, place(B_, b + 1));
                limit_.tail(rows - first) = limit_.tail(rows - first).cwiseMax(gap);
            }
            for (; first > 0 && place(A_, first - 1) > here; --first) {
                limit_[first - 1] = bottlenecks_.between(here, place(A_, first - 1));
            }
            test(b, first, rows - first);
        }
    }

    void test(Index b, Index first, Index count) {
        if (count == 0) {
            return;
        }
        const auto column = lower_.col(b).segment(first, count);
        if ((column - limit_.segment(first, count)).minCoeff() <= 0.0) {
            keep_light(b, first, count);
        }
        if (column.maxCoeff() + largest_width_ + B_.width[b] >= bounds_.key_below(finding_.largest)) {
            measure_far(b, first, count);
        }
    }

    void keep_light(Index b, Index first, Index count) {
        for (Index a = first; a < first + count; ++a) {
            if (lower_(a, b) <= limit_[a]) {
                const Edge edge = make_edge(bounds_.points(), A_.cells[a], B_.cells[b]);
                if (bounds_.key_above(edge.length) <= limit_[a]) {
                    finding_.edges.push_back(edge);
                }
            }
        }
        if (finding_.edges.size() >= full_) {
            keep_forest(finding_.edges);
        }
    }

    void measure_far(Index b, Index first, Index count) {
        double limit = bounds_.key_below(finding_.largest);
        for (Index a = first; a < first + count; ++a) {
            if (lower_(a, b) + A_.width[a] + B_.width[b] >= limit) {
                const double d = bounds_.points().distance(A_.cells[a], B_.cells[b]);
                finding_.largest = std::max(finding_.largest, d);
                limit = bounds_.key_below(finding_.largest);
            }
        }
    }

    static constexpr std::size_t full_ = 8 * panel_cells;
    const PairBounds& bounds_;
    const Bottlenecks& bottlenecks_;
    Panel A_;
    Panel B_;
    Matrix lower_;
    Vector limit_; ///< key of the longest tree edge from each cell of A to the cell of B
    double largest_width_ = 0.0;
    Finding finding_;
};

/// Two groups whose pairs are looked through together; equal for the pairs inside a group.
struct GroupPair {
    Index first = 0;
    Index second = 0;
};

/// The steps: pairs of groups, as many in each step as in all before, at most eight for each group.
/// Groups stand in a circle; a step takes those a certain number of groups apart.
std::vector<std::vector<GroupPair>> plan_steps(Index groups) {
    std::vector<std::vector<GroupPair>> steps;
    Index apart = 0;
    for (Index width = 2; apart <= groups / 2; width = std::min<Index>(2 * width, 8)) {
        std::vector<GroupPair>& step = steps.emplace_back();
        for (const Index end = apart + width; apart < end && apart <= groups / 2; ++apart) {
            const bool counted_twice = apart > 0 && 2 * apart == groups;
            for (Index g = 0; g < (counted_twice ? groups / 2 : groups); ++g) {
                step.push_back({g, (g + apart) % groups});
            }
        }
    }
    return steps;
}

class TreeSearch {
  public:
    TreeSearch(const Points& points, std::vector<Index> cells) : bounds_(points), cells_(std::move(cells)) {
        shuffle(cells_, Random(0)); // any draw gives the same tree
        for (std::size_t k = 0; k < cells_.size(); k += panel_cells) {
            const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(k);
            const auto left = std::min<std::ptrdiff_t>(panel_cells, cells_.end() - begin);
            groups_.emplace_back(begin, begin + left);
        }
    }

    SpanningTree run() {
        start();
        for (const std::vector<GroupPair>& step : plan_steps(static_cast<Index>(groups_.size()))) {
            take(step);
        }
        return std::move(tree_);
    }

  private:
    const Points& points() const { return bounds_.points(); }

    /// A first tree: that of the first group by Prim's algorithm, and each other cell tied to its nearest in
    /// the group, all by the bounds. Any tree will do; a good one leaves less to the steps.
    void start() {
        tree_.cells = points().count();
        std::vector<std::vector<Edge>> found(groups_.size());
        std::vector<double> largest(groups_.size(), 0.0);
        parallel_for(static_cast<Index>(groups_.size()), [&](Index g) {
            Panel A;
            Panel B;
            Matrix lower;
            bounds_.gather(groups_.front(), A);
            bounds_.gather(groups_[g], B);
            bounds_.lower_bounds(A, B, lower);
            found[g] = g == 0 ? prim(A.cells, lower) : nearest(A.cells, B.cells, lower);
            Index far_a = 0;
            Index far_b = 0;
            lower.maxCoeff(&far_a, &far_b);
            largest[g] = points().distance(A.cells[far_a], B.cells[far_b]);
        });
        for (const std::vector<Edge>& edges : found) {
            tree_.edges.insert(tree_.edges.end(), edges.begin(), edges.end());
        }
        std::sort(tree_.edges.begin(), tree_.edges.end());
        tree_.largest_distance = *std::max_element(largest.begin(), largest.end());
    }

    std::vector<Edge> nearest(const std::vector<Index>& A, const std::vector<Index>& B,
                              const Matrix& lower) const {
        std::vector<Edge> edges;
        for (Index b = 0; b < lower.cols(); ++b) {
            Index a = 0;
            lower.col(b).minCoeff(&a);
            edges.push_back(make_edge(points(), A[a], B[b]));
        }
        return edges;
    }

    std::vector<Edge> prim(const std::vector<Index>& cells, const Matrix& lower) const {
        const Index n = lower.cols();
        const double infinity = std::numeric_limits<double>::infinity();
        Vector key = Vector::Constant(n, infinity); // to the tree so far; +∞ as well once in it
        std::vector<Index> from(static_cast<std::size_t>(n), 0);
        std::vector<bool> in_tree(static_cast<std::size_t>(n), false);
        std::vector<Edge> edges;
        Index newest = 0;
        for (Index step = 1; step < n; ++step) {
            in_tree[newest] = true;
            key[newest] = infinity;
            for (Index j = 0; j < n; ++j) {
                if (!in_tree[j] && lower(j, newest) < key[j]) {
                    key[j] = lower(j, newest);
                    from[j] = newest;
                }
            }
            key.minCoeff(&newest);
            edges.push_back(make_edge(points(), cells[newest], cells[from[newest]]));
        }
        return edges;
    }

    void take(const std::vector<GroupPair>& step) {
        const Bottlenecks bottlenecks(points().count(), tree_.edges, cells_.front(),
                                      [this](double length) { return bounds_.key_above(length); });
        parallel_for(static_cast<Index>(groups_.size()), [&](Index g) {
            std::sort(groups_[g].begin(), groups_[g].end(),
                      [&](Index a, Index b) { return bottlenecks.place(a) < bottlenecks.place(b); });
        });
        std::vector<Finding> findings(step.size());
        over_items_of_rank(communicator(), static_cast<Index>(step.size()), [&](Index k) {
            const auto& [first, second] = step[k];
            findings[k] = BlockSearch(bounds_, bottlenecks, tree_.largest_distance)
                              .run(groups_[first], groups_[second], first == second);
        });
        merge(findings);
    }

    void merge(std::vector<Finding>& findings) {
        std::vector<Edge> found;
        for (Finding& finding : findings) {
            found.insert(found.end(), finding.edges.begin(), finding.edges.end());
            tree_.largest_distance = std::max(tree_.largest_distance, finding.largest);
            finding.edges = {};
        }
        Communicator& ranks = communicator();
        if (ranks.size() > 1) {
            keep_forest(found); // what joins nothing here joins nothing anywhere
            found = gather_any(ranks, found);
            tree_.largest_distance = most_of(ranks, tree_.largest_distance);
        }
        std::sort(found.begin(), found.end());
        std::vector<Edge> all;
        all.reserve(found.size() + tree_.edges.size());
        std::merge(found.begin(), found.end(), tree_.edges.begin(), tree_.edges.end(),
                   std::back_inserter(all));
        tree_.edges = kruskal(points().count(), all);
    }

    PairBounds bounds_;
    std::vector<Index> cells_;
    std::vector<std::vector<Index>> groups_;
    SpanningTree tree_;
};

} // namespace

SpanningTree minimum_spanning_tree(const Points& points) {
    // Duplicates have the distances of the first of them to all other cells, so the tree of the distinct
    // cells and an edge of length 0 from the first to each other one is the tree of all: in the total order
    // no other edge comes before these.
    const std::vector<Index> first = first_equal_cells(points);
    std::vector<Index> distinct;
    std::vector<Edge> ties;
    for (Index cell = 0; cell < points.count(); ++cell) {
        if (first[cell] == cell) {
            distinct.push_back(cell);
        } else {
            ties.push_back({0.0, first[cell], cell});
        }
    }
    SpanningTree tree = TreeSearch(points, distinct).run();
    tree.edges.insert(tree.edges.end(), ties.begin(), ties.end());
    std::sort(tree.edges.begin(), tree.edges.end());
    return tree;
}

} // namespace pnmf
