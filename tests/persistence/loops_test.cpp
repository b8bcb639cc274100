#include "persistence/loops.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/persistence/distances.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <tuple>

namespace pnmf {
namespace {

using Interval = std::pair<double, double>;

std::vector<Interval> intervals(const std::vector<Loop>& loops) {
    std::vector<Interval> found;
    for (const Loop& loop : loops) {
        found.emplace_back(loop.birth, loop.death);
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// The slow twin: the matrix of boundaries of all edges and triangles, reduced column by column, modulo 2.
std::vector<Interval> by_boundaries(const Matrix& D) {
    using Simplex = std::vector<Index>;
    std::vector<std::tuple<double, std::size_t, Simplex>> order;
    const Index n = D.rows();
    for (Index a = 0; a < n; ++a) {
        order.emplace_back(0.0, 1, Simplex{a});
        for (Index b = a + 1; b < n; ++b) {
            order.emplace_back(D(a, b), 2, Simplex{a, b});
            for (Index c = b + 1; c < n; ++c) {
                order.emplace_back(std::max({D(a, b), D(a, c), D(b, c)}), 3, Simplex{a, b, c});
            }
        }
    }
    std::sort(order.begin(), order.end());
    std::map<Simplex, std::size_t> place;
    for (std::size_t s = 0; s < order.size(); ++s) {
        place[std::get<2>(order[s])] = s;
    }
    std::map<std::size_t, std::set<std::size_t>> column_with_low;
    std::vector<Interval> found;
    for (std::size_t s = 0; s < order.size(); ++s) {
        const Simplex& simplex = std::get<2>(order[s]);
        std::set<std::size_t> column;
        for (std::size_t leave = 0; simplex.size() > 1 && leave < simplex.size(); ++leave) {
            Simplex face = simplex;
            face.erase(face.begin() + static_cast<std::ptrdiff_t>(leave));
            column.insert(place.at(face));
        }
        while (!column.empty() && column_with_low.contains(*column.rbegin())) {
            for (const std::size_t row : std::set(column_with_low.at(*column.rbegin()))) {
                if (!column.erase(row)) {
                    column.insert(row);
                }
            }
        }
        if (column.empty()) {
            continue;
        }
        const std::size_t low = *column.rbegin();
        column_with_low[low] = column;
        if (simplex.size() == 3 && std::get<0>(order[s]) > std::get<0>(order[low])) {
            found.emplace_back(std::get<0>(order[low]), std::get<0>(order[s]));
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// What the cocycle says of the edges of a closed way, in order; edges longer than `reach` are not there.
int around(const Loop& loop, const std::vector<Index>& cycle) {
    std::map<std::pair<Index, Index>, int> value;
    for (const CocycleEdge& edge : loop.cocycle) {
        value[{edge.i, edge.j}] = edge.value;
    }
    int sum = 0;
    for (std::size_t k = 0; k < cycle.size(); ++k) {
        const Index a = cycle[k];
        const Index b = cycle[(k + 1) % cycle.size()];
        const auto found = value.find(std::minmax(a, b));
        sum += found == value.end() ? 0 : a < b ? found->second : -found->second;
    }
    return ((sum % cocycle_prime) + cocycle_prime) % cocycle_prime;
}

Matrix circle(Index points) {
    Matrix X(2, points);
    for (Index j = 0; j < points; ++j) {
        const double angle = 2.0 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(points);
        X.col(j) << std::cos(angle), std::sin(angle);
    }
    return X;
}

TEST(Loops, AreThoseOfTheMatrixOfBoundaries) {
    for (const Index cells : {1, 2, 3, 4, 5, 12, 24}) {
        for (const auto& [name, X] : test::all_clouds(cells)) {
            const Matrix D = Points(X).table();
            EXPECT_EQ(intervals(h1_diagram(D)), by_boundaries(D)) << name << ", " << cells;
        }
    }
    EXPECT_TRUE(h1_diagram(Matrix(0, 0)).empty());
}

TEST(Loops, OfASquareIsBornAtItsSideAndDiesAtItsDiagonal) {
    Matrix X(2, 4);
    X << 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0;
    const std::vector<Loop> loops = h1_diagram(Points(X).table());
    ASSERT_EQ(loops.size(), 1U);
    EXPECT_EQ(loops[0].birth, 1.0);
    EXPECT_EQ(loops[0].death, std::sqrt(2.0));
}

TEST(Loops, CocyclesVanishAroundTrianglesAndNotAroundTheLoop) {
    for (const auto& [name, X] : test::all_clouds(30)) {
        const Matrix D = Points(X).table();
        for (const Loop& loop : h1_diagram(D)) {
            const std::vector<Index> cycle = cycle_of(loop, D);
            ASSERT_GE(cycle.size(), 4U) << name;
            for (std::size_t k = 0; k < cycle.size(); ++k) {
                EXPECT_LE(D(cycle[k], cycle[(k + 1) % cycle.size()]), loop.birth) << name;
            }
            EXPECT_NE(around(loop, cycle), 0) << name;
            for (Index a = 0; a < D.rows(); ++a) {
                for (Index b = a + 1; b < D.rows(); ++b) {
                    for (Index c = b + 1; c < D.rows(); ++c) {
                        if (std::max({D(a, b), D(a, c), D(b, c)}) < loop.death) {
                            EXPECT_EQ(around(loop, {a, b, c}), 0) << name;
                        }
                    }
                }
            }
        }
    }
}

TEST(Loops, GoRoundACircleOnce) {
    const Matrix D = Points(circle(40)).table();
    const std::vector<Loop> loops = h1_diagram(D);
    ASSERT_EQ(loops.size(), 1U);
    EXPECT_EQ(cycle_of(loops[0], D).size(), 40U);
}

TEST(Loops, RefuseWhatIsNoTableOfDistances) {
    EXPECT_THROW(h1_diagram(Matrix::Zero(2, 3)), InputError);
    Matrix D = Points(circle(5)).table();
    D(1, 2) = 7.0;
    EXPECT_THROW(h1_diagram(D), InputError);
    D(2, 1) = 7.0;
    EXPECT_NO_THROW(h1_diagram(D));
    D(1, 2) = D(2, 1) = -1.0;
    EXPECT_THROW(h1_diagram(D), InputError);
}

} // namespace
} // namespace pnmf
