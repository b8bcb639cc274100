#include <pnmf/persistence/spanning_tree.hpp>

#include <algorithm>
#include <limits>

namespace pnmf {

SpanningTree minimum_spanning_tree(const Points& points) {
    const Index n = points.count();
    SpanningTree tree;
    tree.cells = n;
    Vector row(n);
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<Edge> nearest(static_cast<std::size_t>(n), Edge{infinity, 0, 0}); // to the tree so far
    std::vector<bool> in_tree(static_cast<std::size_t>(n), false);
    Index newest = 0;
    for (Index step = 1; step < n; ++step) {
        in_tree[newest] = true;
        points.distances_from(newest, row);
        Index next = -1;
        for (Index j = 0; j < n; ++j) {
            tree.largest_distance = std::max(tree.largest_distance, row[j]);
            if (in_tree[j]) {
                continue;
            }
            nearest[j] = std::min(nearest[j], Edge{row[j], std::min(newest, j), std::max(newest, j)});
            if (next < 0 || nearest[j] < nearest[next]) {
                next = j;
            }
        }
        tree.edges.push_back(nearest[next]);
        newest = next;
    }
    std::sort(tree.edges.begin(), tree.edges.end());
    return tree;
}

} // namespace pnmf
