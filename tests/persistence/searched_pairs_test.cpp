#include "persistence/candidate_ranking.hpp"
#include "persistence/neighbor_candidates.hpp"
#include "persistence/searched_pairs.hpp"
#include "solvers/device.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

/// A device whose products are wrong by up to a share of the key, and which knows it.
class InexactSearcher final : public PairSearcher {
  public:
    InexactSearcher(const Points& points, Metric metric, double error, Index most)
        : points_(points), metric_(metric), error_(error), most_(most),
          all_(static_cast<std::size_t>(points.count())) {
        std::iota(all_.begin(), all_.end(), 0);
    }

    Index most() const override { return most_; }

    SearchedLists search(const PairQuery& query) override {
        ++searches;
        farthest_searches += query.farthest ? 1 : 0;
        SearchedLists lists;
        lists.count = query.count;
        for (const Index a : query.cells) {
            std::vector<std::pair<double, std::int32_t>> others;
            double reach = 0.0;
            for (const std::int32_t b : query.among.empty() ? all_ : query.among) {
                reach = a == b ? reach : std::max(reach, upper(a, b));
                const bool counts = query.group.empty() ? a != b : query.group[a] != query.group[b];
                if (counts) {
                    others.emplace_back(query.farthest ? -upper(a, b) : lower(a, b), b);
                }
            }
            std::sort(others.begin(), others.end());
            constexpr double infinity = std::numeric_limits<double>::infinity();
            for (Index r = 0; r < query.count; ++r) {
                const bool there = r < std::ssize(others);
                const double key = there ? others[r].first : infinity;
                lists.cell.push_back(there ? others[r].second : -1);
                lists.bound.push_back(query.farthest ? -key : key);
            }
            lists.beyond.push_back(lists.bound.back());
            if (query.reach) {
                lists.reach.push_back(reach);
            }
        }
        return lists;
    }

    int searches = 0;
    int farthest_searches = 0;

  private:
    double key(Index a, Index b) const {
        const double d = points_.distance(a, b);
        return metric_ == Metric::cosine ? 2.0 * d : d * d;
    }
    /// Between 0 and 1, the same for a pair every time.
    static double wrong(Index a, Index b) {
        const auto mixed =
            static_cast<std::uint64_t>(std::min(a, b) * 7919 + std::max(a, b)) * 0x9e3779b97f4a7c15ULL;
        return static_cast<double>(mixed >> 11U) * 0x1p-53;
    }
    double lower(Index a, Index b) const { return key(a, b) * (1.0 - 1e-14 - error_ * wrong(a, b)); }
    double upper(Index a, Index b) const { return key(a, b) * (1.0 + 1e-14 + error_ * wrong(a, b)); }

    const Points& points_;
    Metric metric_;
    double error_;
    Index most_;
    std::vector<std::int32_t> all_;
};

void expect_exact(const Points& points, Index k, PairSearcher& searcher, const std::string& name) {
    SCOPED_TRACE(name);
    std::vector<std::int32_t> all(static_cast<std::size_t>(points.count()));
    std::iota(all.begin(), all.end(), 0);
    const PairBounds bounds(points);
    const SearchedLists lists =
        searcher.search({.cells = all, .count = std::min(searched_count(k), searcher.most()), .reach = true});
    const Neighbors found = searched_neighbors(bounds, lists, k);
    const Neighbors expected = exact_neighbors(points, k);
    EXPECT_EQ(found.index, expected.index);
    EXPECT_EQ(found.distance, expected.distance);
    const SpanningTree tree = searched_tree(bounds, searcher, lists);
    const SpanningTree exact = minimum_spanning_tree(points);
    EXPECT_EQ(tree.cells, exact.cells);
    EXPECT_EQ(tree.edges, exact.edges);
    EXPECT_EQ(tree.largest_distance, exact.largest_distance);
}

TEST(SearchedPairs, OfAnInexactDeviceAreExact) {
    for (const double error : {0.0, 1e-3, 0.4}) {
        for (const Index most : {4, 32}) {
            for (const auto& [name, X] : test::all_clouds(150)) {
                const Points points(X);
                InexactSearcher searcher(points, Metric::euclidean, error, most);
                expect_exact(points, 6, searcher, fmt::format("{}, error {}, {} listed", name, error, most));
            }
        }
        const Points cosine(test::uniform_cloud(5, 120, 7).array() + 0.25, Metric::cosine);
        InexactSearcher of_cosine(cosine, Metric::cosine, error, 8);
        expect_exact(cosine, 5, of_cosine, "cosine");
        const Points sparse(test::sparse_cloud(50, 200, 0.1, 21));
        InexactSearcher of_sparse(sparse, Metric::euclidean, error, 8);
        expect_exact(sparse, 5, of_sparse, "sparse");
    }
}

/// Clusters so far apart that no list of few neighbours leaves its own: the device must be asked again, and
/// not often.
TEST(SearchedPairs, AskAgainOnlyForWhatTheListsLeaveOpen) {
    Matrix X = test::uniform_cloud(3, 200, 3);
    for (Index j = 0; j < X.cols(); ++j) {
        X(0, j) += 50.0 * static_cast<double>(j % 5);
    }
    const Points points(X);
    InexactSearcher searcher(points, Metric::euclidean, 1e-3, 32);
    const TreeAndNeighbors found = searched_tree_and_neighbors(points, 4, searcher);
    EXPECT_EQ(found.tree.edges, minimum_spanning_tree(points).edges);
    EXPECT_TRUE(found.tree_is_exact());
    EXPECT_EQ(found.neighbors->edges, neighbor_edges(points, {.neighbors = 4}).edges);
    EXPECT_GE(searcher.searches, 2);
    EXPECT_LE(searcher.searches, 6);
}

/// Cells of counts that share no feature are all equally far apart, and none can be farther: no search and no
/// measuring of all pairs is needed to know the largest distance.
TEST(SearchedPairs, KnowHowFarCellsOfCountsCanBe) {
    SparseMatrix<double> X = test::sparse_cloud(60, 400, 0.05, 5);
    for (Index j = 0; j < X.cols; ++j) {
        Eigen::Map<Vector> cell(X.value.data() + X.start[j], X.start[j + 1] - X.start[j]);
        cell /= cell.size() > 0 ? cell.norm() : 1.0;
    }
    const Points points(X);
    InexactSearcher searcher(points, Metric::euclidean, 1e-2, 8);
    std::vector<std::int32_t> all(400);
    std::iota(all.begin(), all.end(), 0);
    const SearchedLists lists = searcher.search({.cells = all, .count = 8, .reach = true});
    const SpanningTree tree = searched_tree(PairBounds(points), searcher, lists);
    EXPECT_DOUBLE_EQ(tree.largest_distance, minimum_spanning_tree(points).largest_distance);
    EXPECT_EQ(tree.edges, minimum_spanning_tree(points).edges);
    EXPECT_EQ(searcher.farthest_searches, 0);
}

std::vector<std::vector<double>> nearest_by(const Points& points, Index k,
                                            const std::function<void(const CandidateVisitor&)>& search) {
    std::vector<std::vector<double>> nearest(static_cast<std::size_t>(points.count()));
    const CandidateRanking ranking(points);
    search([&](Index cell, std::span<const std::int32_t> candidates) {
        EXPECT_EQ(std::count(candidates.begin(), candidates.end(), cell), 0);
        for (const auto& [distance, other] : ranking.nearest(cell, candidates, k)) {
            nearest[cell].push_back(distance);
        }
    });
    return nearest;
}

/// The device finds neighbours as near as those that the CPU finds among the same cells, however few it looks
/// at; all, if it looks at all.
TEST(SearchedPairs, OfNearClustersAreThoseThatTheCpuFinds) {
    constexpr Index k = 5;
    for (const auto& [name, X] : test::all_clouds(300)) {
        SCOPED_TRACE(name);
        const Points points(X);
        const SearchSpace space = search_space(points, clustered_search.dimension, basis_sample, 1);
        InexactSearcher searcher(points, Metric::euclidean, 1e-7, 32);
        for (const Index looked_at : {20, 100, 1000}) {
            const ClusterSettings settings{.in_a_list = 20, .looked_at = looked_at};
            const auto found = nearest_by(points, k, [&](const CandidateVisitor& visit) {
                visit_clustered_candidates(space, 32, settings, 1, visit, &searcher);
            });
            EXPECT_EQ(found, nearest_by(points, k, [&](const CandidateVisitor& visit) {
                          visit_clustered_candidates(space, 32, settings, 1, visit);
                      }));
            if (looked_at == 1000) {
                EXPECT_EQ(found, nearest_by(points, k, [&](const CandidateVisitor& visit) {
                              visit_screened_candidates(space, 299, visit);
                          }));
            }
        }
    }
}

TEST(SearchedPairs, OfADeviceAreAllPairsUpToASizeThenClusters) {
    EXPECT_EQ(chosen_search_of_device(NeighborSearch::automatic, largest_search_of_all_pairs),
              NeighborSearch::exact);
    EXPECT_EQ(chosen_search_of_device(NeighborSearch::automatic, largest_search_of_all_pairs + 1),
              NeighborSearch::clustered);
    EXPECT_EQ(chosen_search_of_device(NeighborSearch::exact, 10 * largest_search_of_all_pairs),
              NeighborSearch::exact);
}

TEST(SearchedPairs, AskedForMoreNeighboursThanThereAreAreRefused) {
    const Points points(test::uniform_cloud(2, 5, 24));
    InexactSearcher searcher(points, Metric::euclidean, 0.0, 32);
    EXPECT_THROW(searched_tree_and_neighbors(points, 5, searcher), InputError);
}

class CudaPairs : public ::testing::Test {
  public:
    void SetUp() override {
        const DeviceFacts facts = facts_of(Device::cuda);
        if (!facts.found) {
            GTEST_SKIP() << (facts.built ? facts.reason : "this build has no code for CUDA devices");
        }
    }
};

TEST_F(CudaPairs, AreThoseOfTheCpu) {
    for (const auto& [name, X] : test::all_clouds(700)) {
        const Points points(X);
        for (const Index k : {1, 7, 40}) {
            expect_exact(points, k, *device_row(Device::cuda).searcher(points),
                         fmt::format("{}, {} neighbours", name, k));
        }
    }
    const Points cosine(test::uniform_cloud(5, 900, 7).array() + 0.25, Metric::cosine);
    expect_exact(cosine, 9, *device_row(Device::cuda).searcher(cosine), "cosine");
}

/// Every kind of points once, few enough for tools that watch every access to memory.
TEST_F(CudaPairs, OfFewCellsAreThoseOfTheCpu) {
    const Points dense(test::uniform_cloud(6, 300, 12));
    expect_exact(dense, 7, *device_row(Device::cuda).searcher(dense), "dense");
    const Points cosine(test::uniform_cloud(5, 200, 7).array() + 0.25, Metric::cosine);
    expect_exact(cosine, 5, *device_row(Device::cuda).searcher(cosine), "cosine");
    const Points wide(test::uniform_cloud(203, 300, 8));
    expect_exact(wide, 9, *device_row(Device::cuda).searcher(wide), "many coordinates");
    const Points sparse(test::sparse_cloud(300, 260, 0.1, 21));
    expect_exact(sparse, 12, *device_row(Device::cuda).searcher(sparse), "sparse");
}

/// More coordinates than are kept in float: TF32 and its wider bounds.
TEST_F(CudaPairs, OfManyCoordinatesAreThoseOfTheCpu) {
    const Points sparse(test::sparse_cloud(700, 3000, 0.1, 21));
    expect_exact(sparse, 12, *device_row(Device::cuda).searcher(sparse), "sparse");
    const Points dense(test::uniform_cloud(203, 2500, 8));
    expect_exact(dense, 15, *device_row(Device::cuda).searcher(dense), "dense");
    const Points far(test::uniform_cloud(130, 600, 9).array() * 1e60 + 1e63);
    expect_exact(far, 5, *device_row(Device::cuda).searcher(far), "large numbers far from 0");
}

/// Several panels of queries and blocks of others.
TEST_F(CudaPairs, OfManyCellsAreThoseOfTheCpu) {
    const Points points(test::uniform_cloud(6, 40000, 10));
    expect_exact(points, 8, *device_row(Device::cuda).searcher(points), "40000 cells");
}

TEST_F(CudaPairs, AreTheSameBitsAgain) {
    const Points points(test::uniform_cloud(150, 9000, 11));
    std::vector<std::int32_t> all(9000);
    std::iota(all.begin(), all.end(), 0);
    const PairQuery query{.cells = all, .count = 32, .reach = true};
    const SearchedLists first = device_row(Device::cuda).searcher(points)->search(query);
    const SearchedLists second = device_row(Device::cuda).searcher(points)->search(query);
    EXPECT_EQ(first.cell, second.cell);
    EXPECT_EQ(first.bound, second.bound);
    EXPECT_EQ(first.reach, second.reach);
}

} // namespace
} // namespace pnmf
