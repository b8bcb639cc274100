#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/spanning_tree.hpp>

#include "cells/shared_work.hpp"
#include "persistence/block_search.hpp"
#include "persistence/bottlenecks.hpp"
#include "persistence/distinct_cells.hpp"
#include "persistence/pair_bounds.hpp"

#include <algorithm>

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

class TreeSearch {
  public:
    TreeSearch(const Points& points, std::vector<Index> cells) : bounds_(points), cells_(std::move(cells)) {
        shuffle(cells_, Random(0)); // any draw gives the same tree
        groups_ = groups_of(cells_);
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
            found[g] = g == 0 ? prim_tree(points(), {}, A.cells, lower)
                              : nearest_edges(points(), {}, A.cells, B.cells, lower);
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

    void take(const std::vector<GroupPair>& step) {
        const Bottlenecks bottlenecks(points().count(), tree_.edges, cells_.front(),
                                      [this](double length) { return bounds_.key_above(length); });
        parallel_for(static_cast<Index>(groups_.size()), [&](Index g) {
            std::sort(groups_[g].begin(), groups_[g].end(),
                      [&](Index a, Index b) { return bottlenecks.place(a) < bottlenecks.place(b); });
        });
        std::vector<Finding> findings(step.size());
        over_shared_items(static_cast<Index>(step.size()), [&](Index k) {
            const auto& [first, second] = step[k];
            findings[k] = BlockSearch(bounds_, {}, bottlenecks, tree_.largest_distance)
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
        Processes& processes = all_processes();
        if (processes.count() > 1) {
            keep_forest(found); // what joins nothing here joins nothing anywhere
            found = gather_any(processes, found);
            tree_.largest_distance = most_of(processes, tree_.largest_distance);
        }
        tree_.edges = merged_tree(points().count(), tree_.edges, std::move(found));
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
