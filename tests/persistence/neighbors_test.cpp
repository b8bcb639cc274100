#include "persistence/neighbors.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pnmf {
namespace {

void expect_brute_force(const Points& points, Index k, const std::string& name) {
    const Neighbors found = exact_neighbors(points, k);
    ASSERT_EQ(found.index.rows(), k);
    ASSERT_EQ(found.index.cols(), points.count());
    for (Index cell = 0; cell < points.count(); ++cell) {
        std::vector<std::pair<double, Index>> all;
        for (Index other = 0; other < points.count(); ++other) {
            if (other != cell) {
                all.emplace_back(points.distance(cell, other), other);
            }
        }
        std::sort(all.begin(), all.end());
        for (Index r = 0; r < k; ++r) {
            ASSERT_EQ(found.distance(r, cell), all[r].first) << name << ", cell " << cell << ", rank " << r;
            ASSERT_EQ(found.index(r, cell), all[r].second) << name << ", cell " << cell << ", rank " << r;
        }
    }
}

TEST(Neighbors, EqualThoseFoundBySortingAllDistances) {
    for (const auto& [name, X] : test::all_clouds(400)) {
        for (const Index k : {1, 7, 399}) {
            expect_brute_force(Points(X), k, name);
        }
        expect_brute_force(Points(X.array() + 0.25, Metric::cosine), 5, name + ", cosine");
    }
    expect_brute_force(Points(test::sparse_cloud(50, 600, 0.1, 21)), 10, "sparse");
}

TEST(Neighbors, OfAUsersDistancesEqualThoseFoundBySorting) {
    const Points points(test::lattice_cloud(2, 70, 5, 22));
    Matrix distances(70, 70);
    for (Index i = 0; i < 70; ++i) {
        points.distances_from(i, distances.col(i));
    }
    expect_brute_force(Points::from_distances(distances), 9, "own distances");
}

TEST(Neighbors, DoNotDependOnTheNumberOfThreads) {
    const int before = thread_count();
    const Points points(test::lattice_cloud(4, 900, 5, 23));
    set_thread_count(1);
    const Neighbors one = exact_neighbors(points, 12);
    for (const int threads : {2, 4, 16}) {
        set_thread_count(threads);
        const Neighbors more = exact_neighbors(points, 12);
        EXPECT_EQ(more.index, one.index);
        EXPECT_EQ(more.distance, one.distance);
    }
    set_thread_count(before);
}

TEST(Neighbors, AskedForMoreThanThereAreAreRefused) {
    const Points points(test::uniform_cloud(2, 5, 24));
    EXPECT_THROW(exact_neighbors(points, 5), InputError);
    EXPECT_THROW(exact_neighbors(points, 0), InputError);
}

} // namespace
} // namespace pnmf
