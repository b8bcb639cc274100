#include "assess/split_tree.hpp"

#include "assess/split_test.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace pnmf {
namespace {

constexpr Index most_tried = 12;     ///< ways to divide one node
constexpr double first_valley = 0.8; ///< asked of the division of all cells
/// Of the divisions after the first: that there are groups is known then.
constexpr double next_level = 0.05;

using Leaves = std::vector<Index>; ///< ascending

Leaves joined(const Leaves& a, const Leaves& b) {
    Leaves both;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
}

Leaves without(const Leaves& all, const Leaves& some) {
    Leaves rest;
    std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
    return rest;
}

struct Node {
    Leaves leaves;
    std::optional<std::array<Index, 2>> children{};
    double height = 0.0; ///< variance between the children
    double p_value = 0.0;
    bool rare = false;  ///< whether one of the children is a rare group
    double tried = 0.0; ///< ways to divide it
};

class Grower {
  public:
    Grower(const SplitCells& cells, const std::vector<Index>& leaf, const Matrix& centres,
           const std::vector<double>& size)
        : cells_(cells), leaf_(leaf), centres_(centres), size_(size) {}

    SplitTree grow() {
        Leaves all;
        for (Index l = 0; l < centres_.cols(); ++l) {
            if (size_[l] > 0.0) {
                all.push_back(l);
            }
        }
        nodes_.push_back({.leaves = all});
        for (const SplitShape shape : {SplitShape::one_mode, SplitShape::log_concave}) {
            for (Index node = 0; node < std::ssize(nodes_); ++node) { // grows
                if (!nodes_[node].children && nodes_[node].leaves.size() > 1) {
                    divide(node, shape);
                }
            }
        }
        return cuts();
    }

  private:
    double weight(const Leaves& leaves) const {
        double sum = 0.0;
        for (const Index l : leaves) {
            sum += size_[l];
        }
        return sum;
    }
    /// |A||B| / (|A| + |B|) · ‖a − b‖²: what Ward's criterion joins last.
    double between(const Leaves& a, const Leaves& b) const {
        const double first = weight(a);
        const double second = weight(b);
        return first * second / (first + second) * (centre(a) - centre(b)).squaredNorm();
    }
    Vector centre(const Leaves& leaves) const {
        Vector sum = Vector::Zero(centres_.rows());
        for (const Index l : leaves) {
            sum += size_[l] * centres_.col(l);
        }
        return sum / weight(leaves);
    }

    /// The branches of Ward's tree of some leaves, one of each division, the uppermost first.
    std::vector<Leaves> branches(const Leaves& leaves) const {
        std::vector<Leaves> groups;
        for (const Index l : leaves) {
            groups.push_back({l});
        }
        std::vector<Leaves> found; // lowest first
        while (groups.size() > 1) {
            std::size_t best[2] = {0, 1};
            double least = std::numeric_limits<double>::infinity();
            for (std::size_t i = 0; i < groups.size(); ++i) {
                for (std::size_t j = i + 1; j < groups.size(); ++j) {
                    if (const double height = between(groups[i], groups[j]); height < least) {
                        least = height;
                        best[0] = i;
                        best[1] = j;
                    }
                }
            }
            found.push_back(groups[best[1]]);
            found.push_back(groups[best[0]]);
            groups[best[0]] = joined(groups[best[0]], groups[best[1]]);
            groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(best[1]));
        }
        std::vector<Leaves> result;
        std::set<Leaves> seen;
        for (auto branch = found.rbegin(); branch != found.rend(); ++branch) {
            const Leaves rest = without(leaves, *branch);
            if (seen.insert(std::min(*branch, rest)).second) {
                result.push_back(*branch);
            }
        }
        return result;
    }

    SplitTester tester(const Leaves& leaves) const {
        std::vector<Index> members;
        std::vector<Index> leaf;
        std::vector<double> depth;
        for (Index j = 0; j < cells_.space.cols(); ++j) {
            if (std::binary_search(leaves.begin(), leaves.end(), leaf_[j])) {
                members.push_back(j);
                leaf.push_back(leaf_[j]);
                if (!cells_.depth.empty()) {
                    depth.push_back(cells_.depth[j]);
                }
            }
        }
        return {cells_.space(Eigen::all, members), std::move(leaf), centres_.cols(), std::move(depth),
                cells_.seed};
    }

    /// Children for a node, where a division passes.
    void divide(Index node, SplitShape shape) {
        const Leaves leaves = nodes_[node].leaves;
        const SplitTester cells = tester(leaves);
        double& tried = nodes_[node].tried;
        const double most = tried + static_cast<double>(most_tried);
        const double valley = node == 0 ? first_valley : 1.0;
        const double level = node == 0 ? cells_.level : next_level;
        for (const Leaves& branch : branches(leaves)) {
            if (tried >= most) {
                return;
            }
            std::vector<bool> second(static_cast<std::size_t>(centres_.cols()), false);
            for (const Index l : branch) {
                second[l] = true;
            }
            // Tarone 1990: what could not pass in the best of cases, none between, is not tried, and costs
            // the others nothing.
            const auto few = static_cast<double>(cells.smaller_side(second));
            if (std::pow(1.0 + valley, -few) * (tried + 1.0) >= level) {
                continue;
            }
            const SplitTest test = cells.test(second, {.shape = shape, .valley = valley});
            if (!test.tested) {
                continue; // no line tells the groups apart, or none is rare
            }
            tried += 1.0;
            const double p = std::min(1.0, test.p_value * tried);
            least_ = node == 0 ? std::min(least_, p) : least_;
            if (p < level) {
                const Leaves rest = without(leaves, branch);
                nodes_[node].height = between(branch, rest);
                nodes_[node].p_value = p;
                nodes_[node].rare = shape == SplitShape::log_concave;
                const Index first = std::ssize(nodes_);
                nodes_[node].children = {first, first + 1};
                nodes_.push_back({.leaves = branch});
                nodes_.push_back({.leaves = rest});
                return;
            }
        }
    }

    /// Clusters in the order of the tree.
    std::vector<Index> numbered(const std::set<Index>& open) const {
        std::vector<Index> cluster(static_cast<std::size_t>(centres_.cols()), 0);
        Index next = 0;
        std::vector<Index> waiting{0};
        while (!waiting.empty()) {
            const Node& node = nodes_[waiting.back()];
            const bool divided = open.contains(waiting.back());
            waiting.pop_back();
            if (divided) {
                waiting.push_back((*node.children)[1]);
                waiting.push_back((*node.children)[0]);
                continue;
            }
            for (const Index l : node.leaves) {
                cluster[l] = next;
            }
            ++next;
        }
        return cluster;
    }

    /// Divisions of the most variance first, those of rare groups last.
    static bool comes_before(const Node& a, const Node& b) {
        return a.rare != b.rare ? b.rare : a.height > b.height;
    }

    SplitTree cuts() const {
        SplitTree tree;
        tree.least_p = least_;
        std::set<Index> open; // nodes that are divided
        std::set<Index> ends{0};
        double p = 0.0;
        for (;;) {
            tree.cuts.push_back(numbered(open));
            tree.p_value.push_back(open.empty() ? least_ : p);
            Index best = -1;
            for (const Index node : ends) {
                if (nodes_[node].children && (best < 0 || comes_before(nodes_[node], nodes_[best]))) {
                    best = node;
                }
            }
            if (best < 0) {
                return tree;
            }
            if (!nodes_[best].rare) {
                tree.without_rare = std::ssize(tree.cuts) + 1;
            }
            ends.erase(best);
            open.insert(best);
            ends.insert((*nodes_[best].children)[0]);
            ends.insert((*nodes_[best].children)[1]);
            p = std::max(p, nodes_[best].p_value);
        }
    }

    const SplitCells& cells_;
    const std::vector<Index>& leaf_;
    const Matrix& centres_;
    const std::vector<double>& size_;
    std::vector<Node> nodes_;
    double least_ = 1.0;
};

} // namespace

SplitTree grow_splits(const SplitCells& cells, const std::vector<Index>& leaf, const Matrix& centres,
                      const std::vector<double>& size) {
    return Grower(cells, leaf, centres, size).grow();
}

} // namespace pnmf
