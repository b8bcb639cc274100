#include "persistence/balanced_edges.hpp"
#include "persistence/neighbors.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

namespace pnmf {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

template <class Call>
void refused(Call call, const char* reason) {
    EXPECT_THAT(call, ThrowsMessage<InputError>(HasSubstr(reason)));
}

/// Two types far apart in the first coordinate, in batches that stand apart in the last one.
struct TwoTypes {
    Matrix X;
    std::vector<Index> type;
    std::vector<Index> batch;
};

TwoTypes two_types(Index cells, Index batches, double shift, std::uint64_t seed = 4) {
    TwoTypes made{.X = test::uniform_cloud(4, cells, seed), .type = {}, .batch = {}};
    for (Index j = 0; j < cells; ++j) {
        made.type.push_back(j % 2);
        made.batch.push_back(j / 2 % batches);
        made.X(0, j) += 10.0 * static_cast<double>(j % 2);
        made.X(3, j) = shift * static_cast<double>(made.batch.back());
    }
    return made;
}

/// The definition of the header, word for word: all distances, sorted for each cell and batch.
class SlowTwin {
  public:
    SlowTwin(const Points& points, const std::vector<Index>& batch, Index of_each)
        : D_(points.table()), batch_(batch), n_(points.count()), r_(of_each),
          m_(*std::max_element(batch.begin(), batch.end()) + 1) {
        same_.assign(static_cast<std::size_t>(m_), 0);
        for (const Index b : batch) {
            ++same_[static_cast<std::size_t>(b)];
        }
        for (const Index size : same_) {
            common_ = std::min({common_, r_, size - 1});
        }
    }

    std::set<std::pair<Index, Index>> pairs() const {
        std::set<std::pair<Index, Index>> found;
        for (Index i = 0; i < n_; ++i) {
            for (Index b = 0; b < m_; ++b) {
                for (const Index j : nearest(i, b, r_)) {
                    found.emplace(std::min(i, j), std::max(i, j));
                }
            }
        }
        return found;
    }

    double length(Index i, Index j) const {
        const double d = D_(i, j);
        if (batch_[i] == batch_[j]) {
            return d;
        }
        const double square = d * d - 0.5 * (shift(i, batch_[j]) + shift(j, batch_[i]));
        const double least = std::min(D_(i, nearest(i, batch_[i], 1)[0]), D_(j, nearest(j, batch_[j], 1)[0]));
        return std::min(d, std::max(least, std::sqrt(std::max(0.0, square))));
    }

  private:
    std::vector<Index> nearest(Index i, Index b, Index count) const {
        std::vector<Index> cells;
        for (Index j = 0; j < n_; ++j) {
            if (j != i && batch_[j] == b) {
                cells.push_back(j);
            }
        }
        std::stable_sort(cells.begin(), cells.end(), [&](Index p, Index q) { return D_(i, p) < D_(i, q); });
        cells.resize(static_cast<std::size_t>(std::min(count, same_[static_cast<std::size_t>(b)] - 1)));
        return cells;
    }
    bool mutual(Index i, Index b) const {
        for (const Index j : nearest(i, b, r_)) {
            const std::vector<Index> back = nearest(j, batch_[i], r_);
            if (std::find(back.begin(), back.end(), i) != back.end()) {
                return b != batch_[i];
            }
        }
        return false;
    }
    double mean_square(Index i, Index b) const {
        double sum = 0.0;
        for (const Index j : nearest(i, b, common_)) {
            sum += D_(i, j) * D_(i, j);
        }
        return sum / static_cast<double>(common_);
    }
    double shift(Index i, Index b) const {
        std::vector<Index> near = nearest(i, batch_[i], 15);
        near.push_back(i);
        std::vector<double> seen = seen_by(near, b);
        if (seen.empty()) {
            std::vector<Index> all;
            for (Index j = 0; j < n_; ++j) {
                if (batch_[j] == batch_[i]) {
                    all.push_back(j);
                }
            }
            seen = seen_by(all, b);
        }
        std::sort(seen.begin(), seen.end());
        return std::max(0.0, seen[(seen.size() - 1) / 2]);
    }
    std::vector<double> seen_by(const std::vector<Index>& cells, Index b) const {
        std::vector<double> seen;
        for (const Index j : cells) {
            if (mutual(j, b)) {
                seen.push_back(mean_square(j, b) - mean_square(j, batch_[j]));
            }
        }
        return seen;
    }

    Matrix D_;
    const std::vector<Index>& batch_;
    Index n_;
    Index r_;
    Index m_;
    Index common_ = std::numeric_limits<Index>::max();
    std::vector<Index> same_;
};

TEST(BalancedEdges, AreThoseOfTheirDefinition) {
    for (const auto& [cells, batches, neighbors] : {std::tuple<Index, Index, Index>{50, 2, 8}, {45, 3, 5}}) {
        const TwoTypes data = two_types(cells, batches, 3.0);
        const Points points(data.X);
        const BalancedEdges found = balanced_edges(points, data.batch, neighbors);
        EXPECT_EQ(found.of_each, batches == 2 ? 4 : 3);
        const SlowTwin twin(points, data.batch, found.of_each);
        const auto pairs = twin.pairs();
        std::size_t known = 0;
        for (const Edge& edge : found.edges.edges) {
            known += pairs.contains({edge.i, edge.j}) ? 1 : 0;
            EXPECT_NEAR(edge.length, twin.length(edge.i, edge.j), 1e-12);
        }
        EXPECT_EQ(known, pairs.size());
        EXPECT_EQ(minimum_spanning_tree(found.edges).edges.size(), static_cast<std::size_t>(cells - 1));
    }
}

/// Cells that edges shorter than ε join with cell 0.
std::vector<bool> joined_with_first(const SortedEdges& edges, double epsilon) {
    std::vector<bool> joined(static_cast<std::size_t>(edges.cells), false);
    joined[0] = true;
    for (bool grew = true; grew;) {
        grew = false;
        for (const Edge& edge : edges.edges) {
            if (edge.length < epsilon && joined[edge.i] != joined[edge.j]) {
                joined[edge.i] = joined[edge.j] = true;
                grew = true;
            }
        }
    }
    return joined;
}

TEST(BalancedEdges, JoinTypesBeforeBatchesThoughBatchesAreFartherApart) {
    const TwoTypes data = two_types(80, 2, 30.0); // types are 10 apart, batches 30
    const Points points(data.X);
    const BalancedEdges found = balanced_edges(points, data.batch, 8);
    const SpanningTree tree = minimum_spanning_tree(found.edges);
    const double last = tree.edges.back().length; // what joins the last two components
    EXPECT_NEAR(last, 10.0, 1.5);
    const std::vector<bool> joined = joined_with_first(found.edges, last);
    for (std::size_t j = 0; j < joined.size(); ++j) {
        EXPECT_EQ(joined[j], data.type[j] == data.type[0]) << "cell " << j;
    }
    // Without batches the last two components are the batches.
    EXPECT_NEAR(minimum_spanning_tree(points).edges.back().length, 30.0, 0.5);
}

TEST(BalancedEdges, ATypeOfOneBatchIsNotDrawnToAnother) {
    TwoTypes data = two_types(80, 2, 30.0);
    for (std::size_t j = 0; j < data.type.size(); ++j) {
        if (data.type[j] == 1) { // the second type is in the first batch alone
            data.X(3, static_cast<Index>(j)) = 0.0;
            data.batch[j] = 0;
        }
    }
    const BalancedEdges found = balanced_edges(Points(data.X), data.batch, 8);
    const double last = minimum_spanning_tree(found.edges).edges.back().length;
    EXPECT_GT(last, 8.0);
    const std::vector<bool> joined = joined_with_first(found.edges, last);
    for (std::size_t j = 0; j < joined.size(); ++j) {
        EXPECT_EQ(joined[j], data.type[j] == data.type[0]) << "cell " << j;
    }
}

TEST(BalancedEdges, DoNotDependOnThreadsOrOnTheNumbersOfBatches) {
    const TwoTypes data = two_types(300, 3, 2.0);
    const Points points(data.X);
    const std::vector<Edge> edges = balanced_edges(points, data.batch, 9).edges.edges;
    const int threads = thread_count();
    for (const int count : {1, 3}) {
        set_thread_count(count);
        EXPECT_EQ(balanced_edges(points, data.batch, 9).edges.edges, edges);
    }
    set_thread_count(threads);
    std::vector<Index> renamed;
    for (const Index b : data.batch) {
        renamed.push_back(2 - b);
    }
    EXPECT_EQ(balanced_edges(points, renamed, 9).edges.edges, edges);
}

TEST(BalancedEdges, OfSparsePointsAreThoseOfDenseOnes) {
    const SparseMatrix<double> X = test::sparse_cloud(30, 60, 0.3, 2);
    std::vector<Index> batch;
    for (Index j = 0; j < 60; ++j) {
        batch.push_back(j % 2);
    }
    EXPECT_EQ(balanced_edges(Points(X), batch, 6).edges.edges,
              balanced_edges(Points(to_dense(X)), batch, 6).edges.edges);
}

TEST(BalancedEdges, OfEqualCellsAreDefined) {
    const Matrix X = Matrix::Constant(3, 12, 1.0);
    const std::vector<Index> batch{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
    const BalancedEdges found = balanced_edges(Points(X), batch, 4);
    for (const Edge& edge : found.edges.edges) {
        EXPECT_EQ(edge.length, 0.0);
    }
}

TEST(BalancedEdges, RefuseBatchesThatCannotBeBalanced) {
    const Points points(test::uniform_cloud(2, 6, 1));
    refused([&] { balanced_edges(points, {0, 0, 0, 0, 0, 0}, 2); }, "one batch");
    refused([&] { balanced_edges(points, {0, 0, 0, 1, 1}, 2); }, "each of the 6 cells, got 5");
    refused([&] { balanced_edges(points, {0, 0, 0, 1, 1, 2}, 2); }, "batch 3 has 1 cell");
    refused([&] { balanced_edges(points, {0, 0, 0, 0, 2, 2}, 2); }, "batch 2 has no cell");
    refused([&] { balanced_edges(points, {0, 0, 0, 1, 1, -1}, 2); }, "numbered from 0");
    refused([&] { balanced_edges(points, {0, 0, 0, 1, 1, 1}, 6); }, "less than the 6 cells");
}

TEST(BalancedDistances, KeepTheNearestOfEachBatchAndTakeTheirDistanceAway) {
    const TwoTypes data = two_types(60, 2, 30.0);
    const Points points(data.X);
    Matrix distances = points.table().leftCols(4); // the first cells as if they were new
    const Matrix known = distances;
    balance_distances(distances, data.batch, 6);
    for (Index j = 0; j < 4; ++j) {
        for (Index b = 0; b < 2; ++b) {
            std::vector<double> kept;
            std::vector<double> all;
            for (Index i = 0; i < 60; ++i) {
                if (data.batch[static_cast<std::size_t>(i)] == b) {
                    all.push_back(known(i, j));
                    if (std::isfinite(distances(i, j))) {
                        kept.push_back(known(i, j));
                        EXPECT_LT(distances(i, j), 2.0) << "batches are 30 apart";
                    }
                }
            }
            std::sort(all.begin(), all.end());
            std::sort(kept.begin(), kept.end());
            ASSERT_EQ(kept.size(), 3U);
            EXPECT_TRUE(std::equal(kept.begin(), kept.end(), all.begin()));
        }
    }
}

TEST(NeighborsAmongSome, AreThoseOfAllWhereAllAreTried) {
    for (const test::Cloud& cloud : test::all_clouds(40)) {
        const Points points(cloud.X);
        std::vector<Index> all(static_cast<std::size_t>(points.count()));
        std::iota(all.begin(), all.end(), Index{0});
        EXPECT_EQ(exact_neighbors(points, 3, all).index, exact_neighbors(points, 3).index) << cloud.name;
    }
}

} // namespace
} // namespace pnmf
