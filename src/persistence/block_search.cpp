#include "persistence/block_search.hpp"

#include "persistence/kruskal.hpp"
#include "persistence/union_find.hpp"

#include <iterator>
#include <limits>

namespace pnmf {

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

std::vector<Edge> merged_tree(Index cells, const std::vector<Edge>& tree, std::vector<Edge> others) {
    std::sort(others.begin(), others.end());
    std::vector<Edge> all;
    all.reserve(others.size() + tree.size());
    std::merge(others.begin(), others.end(), tree.begin(), tree.end(), std::back_inserter(all));
    return kruskal(cells, all);
}

std::vector<Edge> prim_tree(const Points& points, std::span<const Index> names, const std::vector<Index>& A,
                            const Matrix& lower) {
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
        edges.push_back(named_edge(points, names, A[newest], A[from[newest]]));
    }
    return edges;
}

std::vector<Edge> nearest_edges(const Points& points, std::span<const Index> names,
                                const std::vector<Index>& A, const std::vector<Index>& B,
                                const Matrix& lower) {
    std::vector<Edge> edges;
    for (Index b = 0; b < lower.cols(); ++b) {
        Index a = 0;
        lower.col(b).minCoeff(&a);
        edges.push_back(named_edge(points, names, A[a], B[b]));
    }
    return edges;
}

std::vector<std::vector<Index>> groups_of(const std::vector<Index>& cells) {
    std::vector<std::vector<Index>> groups;
    for (std::size_t k = 0; k < cells.size(); k += panel_cells) {
        const auto begin = cells.begin() + static_cast<std::ptrdiff_t>(k);
        const auto left = std::min<std::ptrdiff_t>(panel_cells, cells.end() - begin);
        groups.emplace_back(begin, begin + left);
    }
    return groups;
}

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

std::vector<std::vector<GroupPair>> plan_steps(Index first, Index second) {
    std::vector<std::vector<GroupPair>> steps;
    Index apart = 0;
    for (Index width = 2; first > 0 && apart < second; width = std::min<Index>(2 * width, 8)) {
        std::vector<GroupPair>& step = steps.emplace_back();
        for (const Index end = std::min(apart + width, second); apart < end; ++apart) {
            for (Index g = 0; g < first; ++g) {
                step.push_back({g, (g + apart) % second});
            }
        }
    }
    return steps;
}

Finding BlockSearch::run(const std::vector<Index>& A, const std::vector<Index>& B, bool same) {
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

/// Pairs whose cell of B stands to the right. Their bottlenecks follow from those of the column before:
/// the path to the next cell of B passes the gap between the two.
void BlockSearch::rightwards() {
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
void BlockSearch::leftwards() {
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

void BlockSearch::test(Index b, Index first, Index count) {
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

void BlockSearch::keep_light(Index b, Index first, Index count) {
    for (Index a = first; a < first + count; ++a) {
        if (lower_(a, b) <= limit_[a]) {
            const Edge edge = named_edge(bounds_.points(), names_, A_.cells[a], B_.cells[b]);
            if (bounds_.key_above(edge.length) <= limit_[a]) {
                finding_.edges.push_back(edge);
            }
        }
    }
    if (finding_.edges.size() >= full_) {
        keep_forest(finding_.edges);
    }
}

void BlockSearch::measure_far(Index b, Index first, Index count) {
    double limit = bounds_.key_below(finding_.largest);
    for (Index a = first; a < first + count; ++a) {
        if (lower_(a, b) + A_.width[a] + B_.width[b] >= limit) {
            const double d = bounds_.points().distance(A_.cells[a], B_.cells[b]);
            finding_.largest = std::max(finding_.largest, d);
            limit = bounds_.key_below(finding_.largest);
        }
    }
}

} // namespace pnmf
