#include <pnmf/assess/domains.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/persistence/neighbor_edges.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace pnmf {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr Index side = 20;

Matrix grid_places() {
    Matrix places(2, side * side);
    for (Index j = 0; j < places.cols(); ++j) {
        places.col(j) << static_cast<double>(j / side), static_cast<double>(j % side);
    }
    return places;
}

NeighborLists lists_of(const Matrix& places) {
    return symmetric_lists(places.cols(), neighbor_edges(Points(places), {.neighbors = 8}).edges);
}

TEST(MoransI, IsOneForWhatIsSmoothMinusOneForACheckerboardAndZeroForWhatIsConstant) {
    const Matrix places = grid_places();
    Matrix values(3, places.cols());
    for (Index j = 0; j < places.cols(); ++j) {
        const auto parity = static_cast<double>((j / side + j % side) % 2);
        values.col(j) << places(0, j), parity, 7.0;
    }
    const NeighborLists four =
        symmetric_lists(places.cols(), neighbor_edges(Points(places), {.neighbors = 4}).edges);
    const Vector found = morans_i(values, four, 2); // of these two neighbours, all are beside the cell
    EXPECT_GT(found[0], 0.9);
    EXPECT_NEAR(found[1], -1.0, 1e-9);
    EXPECT_EQ(found[2], 0.0);
}

TEST(SmoothLabels, TakeASingleCellIntoItsNeighbourhoodAndLeaveABorder) {
    const NeighborLists places = lists_of(grid_places());
    std::vector<Index> halves;
    for (Index j = 0; j < side * side; ++j) {
        halves.push_back(j / side < side / 2 ? 0 : 1);
    }
    std::vector<Index> labels = halves;
    labels[3 * side + 7] = 1;
    EXPECT_EQ(smooth_labels(labels, places, 8), halves);
}

TEST(DomainScale, IsTheCoarsestAtWhichProgramsAreHalfAsDistinct) {
    EXPECT_EQ(domain_scale({8.0, 7.0, 4.0, 3.9, 1.0}), 2);
    EXPECT_EQ(domain_scale({8.0, 8.0}), 1);
    EXPECT_EQ(domain_scale({8.0, 3.0}), 0);
}

/// Two noisy programs that change from strip to strip.
Matrix striped(double noise, std::uint64_t seed) {
    Random random(seed);
    Matrix H(3, side * side);
    for (Index j = 0; j < H.cols(); ++j) {
        const Index strip = j / side / 5;
        H.col(j) << (strip == 0 ? 1.0 : 0.0), (strip == 1 || strip == 3 ? 5.0 : 0.0), 3.0 * (strip == 3);
        H.col(j) += noise * Vector::NullaryExpr(3, [&] { return random.uniform(); });
    }
    return H;
}

TEST(Domains, AreTheStripsOfATissue) {
    const Matrix H = striped(0.5, 1);
    const auto embedding = [&](Index) { return H; };
    const NeighborLists places = lists_of(grid_places());
    std::vector<Index> strips;
    for (Index j = 0; j < side * side; ++j) {
        strips.push_back(j / side / 5);
    }
    const Domains found = find_domains({0.5, 1.5}, Embeddings(embedding), places, {.domains = 4});
    EXPECT_EQ(found.count, 4);
    EXPECT_EQ(found.scale, 1) << "both are as distinct";
    EXPECT_GT(adjusted_rand_index(strips, found.labels[1]), 0.95);
    EXPECT_THAT(found.coherence, Each(testing::Gt(0.8)));
    EXPECT_EQ(found.neighbors[0], 0.0);
    const Domains counted = find_domains({0.5, 1.5}, Embeddings(embedding), places);
    EXPECT_GT(adjusted_rand_index(strips, counted.labels[1]), 0.7);
}

TEST(Domains, AreOneWhereNothingChangesFromPlaceToPlace) {
    Random random(3);
    const Matrix H = Matrix::NullaryExpr(4, side * side, [&] { return random.normal(); });
    const auto embedding = [&](Index) { return H; };
    EXPECT_EQ(find_domains({0.5}, Embeddings(embedding), lists_of(grid_places())).count, 1);
}

TEST(Domains, RefuseMoreOfThemThanCells) {
    const auto embedding = [](Index) { return striped(0.5, 1); };
    EXPECT_THAT(
        [&] { find_domains({1.5}, Embeddings(embedding), lists_of(grid_places()), {.domains = 401}); },
        ThrowsMessage<InputError>(HasSubstr("between 1 and the number of cells, 400, got 401")));
}

} // namespace
} // namespace pnmf
