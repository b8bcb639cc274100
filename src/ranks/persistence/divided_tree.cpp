#include "persistence/block_search.hpp"
#include "persistence/distinct_cells.hpp"
#include "ranks/persistence/divided_search.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>

// The search of spanning_tree.cpp where each process has its own points. Every process has the tree. It looks
// at the pairs of its own cells, then at those with the cells of the processes it meets, and improves its
// copy of the tree on the way. After each meeting the processes tell each other which edges came in. Half of
// a circle of meetings brings every pair of processes together.
//
// Of cells with the same coordinates a process looks at the first of its own. The others hang on the first
// such cell of all processes, and with the total order on edges there is no other way: the first of them at
// distance 0 is at the end of the smallest edge of each.

namespace pnmf {
namespace {

using Panel = PairBounds::Panel;

class DividedTreeSearch {
  public:
    explicit DividedTreeSearch(const DividedPoints& points)
        : points_(points), processes_(points.processes()), meeting_(points) {
        tree_.cells = points.count();
        std::vector<char> is_first(static_cast<std::size_t>(meeting_.own()), 1);
        if (meeting_.own() > 0) {
            first_ = first_equal_cells(meeting_.points());
            for (Index cell = 0; cell < meeting_.own(); ++cell) {
                is_first[cell] = first_[cell] == cell ? 1 : 0;
            }
        }
        std::vector<Index> counts;
        for (const CellRange& range : points.ranges()) {
            counts.push_back(range.count);
        }
        is_first_ = gather_to_all(processes_, std::span<const char>(is_first), counts);
    }

    SpanningTree run() {
        start();
        for (Index step = 0; step <= processes_.count() / 2; ++step) {
            meeting_.meet(step);
            SpanningTree known = tree_;
            if (meeting_.own() > 0 && (step == 0 || meeting_.visitor().count > 0)) {
                look_at(step);
            }
            agree(std::move(known));
        }
        hang_others();
        return std::move(tree_);
    }

  private:
    /// The cells of a process that are the first with their coordinates there, in an order drawn at random:
    /// the same on every process. As numbers of points that begin with those of this process at `offset`.
    std::vector<std::vector<Index>> groups_of_rank(const CellRange& range, Index offset) const {
        std::vector<Index> cells;
        for (Index cell = 0; cell < range.count; ++cell) {
            if (is_first_[range.first + cell] != 0) {
                cells.push_back(offset + cell);
            }
        }
        shuffle(cells, Random(static_cast<std::uint64_t>(range.first)));
        return groups_of(cells);
    }

    /// Cells of all processes that every other one is tied to at first, ascending.
    std::vector<Index> hubs() const {
        std::vector<Index> mine;
        const auto groups = groups_of_rank(points_.local(), points_.local().first);
        const Index share = panel_cells * points_.local().count / points_.count() + 1;
        if (!groups.empty()) {
            mine.assign(groups.front().begin(),
                        groups.front().begin() + std::min<Index>(share, std::ssize(groups.front())));
        }
        std::vector<Index> all = gather_any(processes_, mine);
        std::sort(all.begin(), all.end());
        return all;
    }

    /// A first tree: that of the hubs by Prim's algorithm, and each other cell tied to its nearest hub.
    void start() {
        const std::vector<Index> hub = hubs();
        const auto hubs = std::ssize(hub);
        std::vector<Index> names(hub);
        std::vector<Index> hub_numbers(hub.size());
        std::iota(hub_numbers.begin(), hub_numbers.end(), Index{0});
        const Points points = points_.beside_own(hub);
        std::vector<Index> others; // own cells that are no hubs
        for (Index cell = 0; cell < meeting_.own(); ++cell) {
            names.push_back(points_.local().first + cell);
            if (first_[cell] == cell && !std::binary_search(hub.begin(), hub.end(), names.back())) {
                others.push_back(hubs + cell);
            }
        }
        const PairBounds bounds(points);
        std::vector<std::vector<Index>> groups = groups_of(others);
        if (processes_.place() == 0) {
            groups.push_back(hub_numbers);
        }
        std::vector<std::vector<Edge>> found(groups.size());
        std::vector<double> largest(groups.size(), 0.0);
        parallel_for(std::ssize(groups), [&](Index g) {
            Panel A;
            Panel B;
            Matrix lower;
            bounds.gather(hub_numbers, A);
            bounds.gather(groups[g], B);
            bounds.lower_bounds(A, B, lower);
            found[g] = groups[g] == hub_numbers ? prim_tree(points, names, A.cells, lower)
                                                : nearest_edges(points, names, A.cells, B.cells, lower);
            Index far_a = 0;
            Index far_b = 0;
            lower.maxCoeff(&far_a, &far_b);
            largest[g] = points.distance(A.cells[far_a], B.cells[far_b]);
        });
        std::vector<Edge> mine;
        for (std::size_t g = 0; g < found.size(); ++g) {
            mine.insert(mine.end(), found[g].begin(), found[g].end());
            tree_.largest_distance = std::max(tree_.largest_distance, largest[g]);
        }
        tree_.edges = gather_any(processes_, mine);
        std::sort(tree_.edges.begin(), tree_.edges.end());
        tree_.largest_distance = most_of(processes_, tree_.largest_distance);
    }

    /// The pairs of own cells, or those with the visitor's.
    void look_at(Index step) {
        const Points points = meeting_.points();
        const PairBounds bounds(points);
        const std::vector<Index> names = meeting_.names();
        auto own = groups_of_rank(points_.local(), 0);
        if (step == 0) {
            take(bounds, names, own, own, plan_steps(std::ssize(own)), true);
            return;
        }
        auto others = groups_of_rank(meeting_.visitor(), meeting_.own());
        if (2 * step == processes_.count()) { // they meet twice, and each looks at half of the pairs
            const bool lower = points_.local().first < meeting_.visitor().first;
            auto& halved = lower ? others : own;
            const auto half = halved.begin() + std::ssize(halved) / 2;
            lower ? halved.erase(half, halved.end()) : halved.erase(halved.begin(), half);
        }
        take(bounds, names, own, others, plan_steps(std::ssize(own), std::ssize(others)), false);
    }

    void take(const PairBounds& bounds, const std::vector<Index>& names, std::vector<std::vector<Index>>& A,
              std::vector<std::vector<Index>>& B, const std::vector<std::vector<GroupPair>>& steps,
              bool inside) {
        for (const std::vector<GroupPair>& step : steps) {
            const Bottlenecks bottlenecks(tree_.cells, tree_.edges, 0, // the first cell is always in the tree
                                          [&](double length) { return bounds.key_above(length); });
            const auto sort_groups = [&](std::vector<std::vector<Index>>& groups) {
                parallel_for(std::ssize(groups), [&](Index g) {
                    std::sort(groups[g].begin(), groups[g].end(), [&](Index a, Index b) {
                        return bottlenecks.place(names[a]) < bottlenecks.place(names[b]);
                    });
                });
            };
            sort_groups(A);
            if (!inside) {
                sort_groups(B);
            }
            std::vector<Finding> findings(step.size());
            parallel_for(std::ssize(step), [&](Index k) {
                const auto& [first, second] = step[k];
                findings[k] = BlockSearch(bounds, names, bottlenecks, tree_.largest_distance)
                                  .run(A[first], B[second], inside && first == second);
            });
            std::vector<Edge> found;
            for (Finding& finding : findings) {
                found.insert(found.end(), finding.edges.begin(), finding.edges.end());
                tree_.largest_distance = std::max(tree_.largest_distance, finding.largest);
                finding.edges = {};
            }
            tree_.edges = merged_tree(tree_.cells, tree_.edges, std::move(found));
        }
    }

    /// From the tree that all processes knew and the edges that each has found since: the tree of all.
    void agree(SpanningTree known) {
        std::vector<Edge> found;
        std::set_difference(tree_.edges.begin(), tree_.edges.end(), known.edges.begin(), known.edges.end(),
                            std::back_inserter(found));
        tree_.edges = merged_tree(tree_.cells, known.edges, gather_any(processes_, found));
        tree_.largest_distance = most_of(processes_, tree_.largest_distance);
    }

    /// Cells that are not the first with their coordinates: each is tied to the first of all at distance 0.
    void hang_others() {
        std::vector<Index> nearest(first_.size()); // of own cells, the first at distance 0
        std::iota(nearest.begin(), nearest.end(), points_.local().first);
        for (const Edge& edge : tree_.edges) {
            const Index own = edge.j - points_.local().first;
            if (edge.length == 0.0 && own >= 0 && own < points_.local().count) {
                nearest[own] = std::min(nearest[own], edge.i);
            }
        }
        std::vector<Edge> ties;
        for (Index cell = 0; cell < std::ssize(first_); ++cell) {
            if (first_[cell] != cell) {
                ties.push_back({0.0, nearest[first_[cell]], points_.local().first + cell});
            }
        }
        const std::vector<Edge> all = gather_any(processes_, ties);
        tree_.edges.insert(tree_.edges.end(), all.begin(), all.end());
        std::sort(tree_.edges.begin(), tree_.edges.end());
    }

    const DividedPoints& points_;
    Processes& processes_;
    Meeting meeting_;
    std::vector<Index> first_;   ///< of own cells, counted from the first of these
    std::vector<char> is_first_; ///< of all cells
    SpanningTree tree_;
};

} // namespace

SpanningTree divided_spanning_tree(const DividedPoints& points) {
    return DividedTreeSearch(points).run();
}

} // namespace pnmf
