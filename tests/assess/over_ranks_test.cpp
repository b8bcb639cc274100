#include "support/thread_ranks.hpp"

#include <pnmf/assess/assess.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>

#include <gtest/gtest.h>

#include <cstring>

/// Ranks share out the clusters of scales and numbers of clusters: the assessment is that of one process.
namespace pnmf {
namespace {

constexpr Index scales = 5;
constexpr Index cells = 200;

/// Six groups, more blurred at each scale.
Matrix embedding(Index t) {
    Random random(static_cast<std::uint64_t>(7 + t));
    Matrix H(6, cells);
    for (Index j = 0; j < cells; ++j) {
        for (Index k = 0; k < 6; ++k) {
            H(k, j) = std::abs((j % 6 == k ? 1.0 : 0.0) + 0.1 * static_cast<double>(1 + t) * random.normal());
        }
    }
    return H;
}

/// Of ranks that hold some of the cells each; the first has none where there are several.
CellRange local_cells() {
    const Processes& ranks = all_processes();
    const auto first = [&](int r) {
        return ranks.count() == 1 ? cells * r : r == 0 ? 0 : cells * (r - 1) / (ranks.count() - 1);
    };
    return {first(ranks.place()), first(ranks.place() + 1) - first(ranks.place()), cells};
}

Matrix embedding_here(Index t) {
    return embedding(t).middleCols(local_cells().first, local_cells().count);
}

/// They must ask for the same scale at the same time.
Matrix divided_embedding(Index t) {
    Processes& ranks = all_processes();
    const Matrix mine = embedding_here(t);
    const std::vector<Index> counts = gather_one<Index>(ranks, mine.size());
    const std::vector<double> all = gather_to_all(
        ranks, std::span<const double>(mine.data(), static_cast<std::size_t>(mine.size())), counts);
    return Eigen::Map<const Matrix>(all.data(), mine.rows(), cells);
}

Embeddings divided_embeddings() {
    const auto on_one = [](Index t, int rank) {
        const Matrix H = divided_embedding(t);
        return rank == all_processes().place() ? H : Matrix();
    };
    return Embeddings(LocalEmbeddings{local_cells(), embedding_here, on_one});
}

/// The finest embedding as coordinates, and depths that differ.
Matrix depths() {
    Matrix depth(1, cells);
    for (Index j = 0; j < cells; ++j) {
        depth(0, j) = 0.1 * static_cast<double>(j % 7);
    }
    return depth;
}

SplitEvidence evidence() {
    return {.space = [](Index) { return embedding(0); }, .depth = [](Index) { return depths(); }};
}

SplitEvidence divided_evidence() {
    const auto nobody_asks = [](Index, int) { return Matrix(); };
    return {.space = Embeddings(
                LocalEmbeddings{local_cells(), [](Index) { return embedding_here(0); }, nobody_asks}),
            .depth = Embeddings(LocalEmbeddings{
                local_cells(),
                [](Index) { return Matrix(depths().middleCols(local_cells().first, local_cells().count)); },
                nobody_asks})};
}

/// Bit for bit: scores that were not computed are NaN.
void expect_same_bits(const std::vector<double>& found, const std::vector<double>& expected) {
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)), 0);
}

void expect_equal(const Resolutions& found, const Resolutions& expected) {
    EXPECT_EQ(found.recommended, expected.recommended);
    ASSERT_EQ(found.all.size(), expected.all.size());
    for (std::size_t r = 0; r < expected.all.size(); ++r) {
        const Resolution& one = found.all[r];
        const Resolution& other = expected.all[r];
        EXPECT_EQ(std::tuple(one.clusters, one.scale, one.labels, one.parent, one.share),
                  std::tuple(other.clusters, other.scale, other.labels, other.parent, other.share));
        expect_same_bits({one.modularity, one.stability, one.agreement, one.p_value},
                         {other.modularity, other.stability, other.agreement, other.p_value});
    }
}

void expect_equal(const Assessment& found, const Assessment& expected) {
    EXPECT_EQ(found.cluster_count, expected.cluster_count);
    EXPECT_EQ(found.clusters, expected.clusters);
    EXPECT_EQ(found.recommended, expected.recommended);
    EXPECT_EQ(found.notices, expected.notices);
    expect_same_bits(found.scores.silhouette, expected.scores.silhouette);
    expect_same_bits(found.scores.resampling, expected.scores.resampling);
    expect_same_bits(found.scores.stability, expected.scores.stability);
    expect_same_bits(found.scores.combined, expected.scores.combined);
    expect_equal(found.resolutions, expected.resolutions);
}

void expect_that_of_one_process(AssessOptions options, const std::vector<int>& counts) {
    const SplitEvidence all = evidence();
    options.evidence = options.graph != nullptr ? &all : nullptr;
    const Assessment expected = assess_scales(scales, embedding, {}, {}, options);
    for (const int count : counts) {
        SCOPED_TRACE(count);
        test::ThreadRanks ranks(count);
        ranks.run([&](int) {
            expect_equal(assess_scales(scales, embedding, {}, {}, options), expected);
            const SplitEvidence parts = divided_evidence();
            AssessOptions divided = options;
            divided.evidence = options.graph != nullptr ? &parts : nullptr;
            expect_equal(assess_scales(scales, divided_embeddings(), {}, {}, divided), expected);
        });
    }
}

TEST(AssessOverRanks, FindsTheResolutionsOfOneProcess) {
    const NeighborLists graph =
        symmetric_lists(cells, neighbor_edges(Points(embedding(0)), {.neighbors = 6}).edges);
    expect_that_of_one_process({.graph = &graph, .probed_cells = 100}, {2, 3, 4});
}

TEST(AssessOverRanks, FindsTheResolutionsOfOneProcessWhereKMeansSeesSomeCells) {
    const NeighborLists graph =
        symmetric_lists(cells, neighbor_edges(Points(embedding(0)), {.neighbors = 6}).edges);
    const ResolutionOptions options{
        .leaves = 9, .probed_cells = 80, .compared_cells = 60, .tested_cells = 120};
    const Resolutions expected = find_resolutions(scales, embedding, graph, evidence(), options);
    for (const int count : {1, 2, 3, 7}) {
        SCOPED_TRACE(count);
        test::ThreadRanks ranks(count);
        ranks.run([&](int) {
            expect_equal(find_resolutions(scales, embedding, graph, evidence(), options), expected);
            expect_equal(find_resolutions(scales, divided_embeddings(), graph, divided_evidence(), options),
                         expected);
        });
    }
}

TEST(AssessOverRanks, WithoutAGraphIsThatOfOneProcess) {
    expect_that_of_one_process({.most_clusters = 5, .probed_scales = 3, .resamples = 2}, {3});
}

TEST(AssessOverRanks, ClustersEachScaleOnOneRank) {
    for (const int count : {1, 3, 7}) { // more ranks than scales: some have nothing to do
        test::ThreadRanks ranks(count);
        std::vector<Index> clustered(static_cast<std::size_t>(count), 0);
        ranks.run([&](int r) {
            const auto counted = [&](const Matrix& H, const KMeansOptions& how) {
                ++clustered[static_cast<std::size_t>(r)];
                return kmeans(H, how);
            };
            assess_scales(scales, embedding, {}, {}, {.clusters = 6, .kmeans = counted});
        });
        for (int r = 0; r < count; ++r) {
            EXPECT_EQ(clustered[static_cast<std::size_t>(r)], (scales - r + count - 1) / count) << count;
        }
    }
}

} // namespace
} // namespace pnmf
