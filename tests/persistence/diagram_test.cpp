#include "support/clouds.hpp"
#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <queue>

namespace pnmf {
namespace {

/// Components of the graph with an edge where distance < ε, by walking through it.
std::vector<Index> walk_components(const Points& points, double epsilon) {
    std::vector<Index> component(static_cast<std::size_t>(points.count()), -1);
    Index next = 0;
    for (Index start = 0; start < points.count(); ++start) {
        if (component[start] >= 0) {
            continue;
        }
        std::queue<Index> open({start});
        component[start] = next;
        while (!open.empty()) {
            const Index cell = open.front();
            open.pop();
            for (Index other = 0; other < points.count(); ++other) {
                if (component[other] < 0 && points.distance(cell, other) < epsilon) {
                    component[other] = next;
                    open.push(other);
                }
            }
        }
        ++next;
    }
    return component;
}

TEST(Diagram, BettiNumbersAndComponentsAreThoseOfTheGraphWithStrictThreshold) {
    for (const auto& [name, X] : test::all_clouds(40)) {
        const Points points(X);
        const SpanningTree tree = minimum_spanning_tree(points);
        const Diagram diagram = h0_diagram(tree);
        std::vector<double> scales{1e-12, tree.largest_distance + 1.0};
        for (const double death : diagram.deaths) {
            if (death > 0.0) {
                scales.insert(scales.end(), {0.999 * death, death, std::nextafter(death, 1e300)});
            }
        }
        for (const double epsilon : scales) {
            const auto expected = walk_components(points, epsilon);
            EXPECT_EQ(components(tree, epsilon), expected) << name;
            EXPECT_EQ(betti0(diagram, epsilon), 1 + *std::max_element(expected.begin(), expected.end()))
                << name;
        }
    }
}

TEST(Diagram, BettiNumberIsAskedForAtPositiveScalesOnly) {
    const Diagram diagram{{1.0}};
    EXPECT_THROW(betti0(diagram, 0.0), InputError);
    EXPECT_THROW(betti0(diagram, -1.0), InputError);
}

TEST(MergeTree, JoinsTheClustersThatTheGraphJoins) {
    for (const auto& [name, X] : test::all_clouds(50)) {
        const SpanningTree tree = minimum_spanning_tree(Points(X));
        const std::vector<Merge> merges = merge_tree(tree);
        ASSERT_EQ(merges.size(), 49U);
        std::vector<std::vector<Index>> members(50);
        for (Index cell = 0; cell < 50; ++cell) {
            members[cell] = {cell};
        }
        for (std::size_t m = 0; m < merges.size(); ++m) {
            const Merge& merge = merges[m];
            ASSERT_LT(merge.left, merge.right);
            std::vector<Index> joined = members[merge.left];
            joined.insert(joined.end(), members[merge.right].begin(), members[merge.right].end());
            EXPECT_EQ(static_cast<Index>(joined.size()), merge.size);
            members.push_back(joined);
            // Where the next merge is higher, clusters are components just above this height.
            if (m + 1 == merges.size() || merges[m + 1].height > merge.height) {
                const auto component = components(tree, std::nextafter(merge.height, 1e300));
                for (const Index cell : joined) {
                    EXPECT_EQ(component[cell], component[joined.front()]) << name;
                }
                EXPECT_EQ(std::count(component.begin(), component.end(), component[joined.front()]),
                          merge.size)
                    << name;
            }
        }
    }
}

TEST(MergeTree, IsALinkageThatSciPyAcceptsWithTheHeightsOfItsOwn) {
    const test::TemporaryFolder folder;
    std::ofstream(folder / "check.py") << R"(
import sys, numpy as np
from scipy.cluster.hierarchy import linkage, is_valid_linkage
for k in range(int(sys.argv[2])):
    X, Z = (np.loadtxt(f"{sys.argv[1]}/{what}{k}", ndmin=2) for what in ("points", "tree"))
    assert is_valid_linkage(Z), k
    assert np.allclose(Z[:, 2], linkage(X, "single")[:, 2], rtol=1e-12, atol=1e-12), k
)";
    const std::vector<test::Cloud> clouds = test::all_clouds(80);
    for (std::size_t k = 0; k < clouds.size(); ++k) {
        std::ofstream points(folder / ("points" + std::to_string(k)));
        std::ofstream tree(folder / ("tree" + std::to_string(k)));
        points.precision(17);
        tree.precision(17);
        points << clouds[k].X.transpose() << '\n';
        for (const Merge& merge : merge_tree(minimum_spanning_tree(Points(clouds[k].X)))) {
            tree << merge.left << ' ' << merge.right << ' ' << merge.height << ' ' << merge.size << '\n';
        }
    }
    const auto result = test::run_command("/usr/bin/python3 " + (folder / "check.py").string() + " " +
                                          folder.path().string() + " " + std::to_string(clouds.size()));
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

} // namespace
} // namespace pnmf
