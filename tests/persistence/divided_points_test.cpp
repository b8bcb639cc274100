#include "divided_points.hpp"

#include "ranks/linalg/divided_columns.hpp"
#include "support/clouds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

/// Columns and points of which each rank has some arrive where they are asked for.
namespace pnmf::test {
namespace {

DividedColumns columns_in(const DividedPoints& points) {
    return {std::get<DenseView<double>>(points.mine()), points.local(), points.processes()};
}

TEST(DividedColumns, AreFetchedMovedAndGathered) {
    const Matrix X = uniform_cloud(3, 1500, 2);
    on_ranks(X, {1, 2, 3, 7}, [&](const DividedPoints& points) {
        const DividedColumns columns = columns_in(points);
        const Index rank = columns.processes().place();
        std::vector<Index> some;
        for (Index a = 0; a < 40 * rank; ++a) { // the first rank wants none
            some.push_back((a * 977 + rank) % 1500);
        }
        EXPECT_EQ(columns.fetch(some), X(Eigen::all, some));
        std::sort(some.begin(), some.end());
        EXPECT_EQ(columns.fetch(some), X(Eigen::all, some));
        const Matrix all = columns.gathered(columns.processes().count() - 1);
        EXPECT_EQ(all.cols(), rank + 1 == columns.processes().count() ? 1500 : 0);
        EXPECT_EQ(columns.gathered(), X);
    });
}

TEST(DividedColumns, SumsOfRowsHaveTheBitsOfOneMatrix) {
    for (const Index rows : {1, 2, 5, 7, 30}) {
        const Matrix X = uniform_cloud(rows, 1501, 2);
        const Vector mean = view_of(X).rowwise().mean();
        const Vector squares = X.rowwise().squaredNorm();
        on_ranks(X, {1, 3, 4}, [&](const DividedPoints& points) {
            const DividedColumns columns = columns_in(points);
            EXPECT_EQ(columns.of_rows([](const Matrix& some) { return Vector(some.rowwise().mean()); }),
                      mean);
            EXPECT_EQ(
                columns.of_rows([](const Matrix& some) { return Vector(some.rowwise().squaredNorm()); }),
                squares);
        });
    }
}

/// All coordinates.
Matrix written_out(const Points& points) {
    Matrix X(points.dimensions(), points.count());
    for (Index j = 0; j < points.count(); ++j) {
        points.coordinates(j, X.col(j));
    }
    return X;
}

/// `X` as it is, and its dense form.
template <class Values>
void expect_points_where_they_are_asked_for(const Values& X, const Matrix& dense) {
    on_ranks(X, {1, 2, 3, 7}, [&](const DividedPoints& points) {
        const Index rank = points.processes().place();
        const Index n = points.count();
        std::vector<Index> some;
        for (Index a = 0; a < 40 * rank; ++a) { // the first rank wants none
            some.push_back((a * 977 + rank) % n);
        }
        for (int turn = 0; turn < 2; ++turn) {
            const auto found = points.fetch(some);
            ASSERT_EQ(found.has_value(), rank > 0);
            if (found) {
                EXPECT_EQ(found->is_sparse(), points.is_sparse());
                EXPECT_EQ(written_out(*found), dense(Eigen::all, some));
            }
            std::sort(some.begin(), some.end());
        }
        std::vector<Index> beside{n - 1, rank, 3};
        const Points both = points.beside_own(beside);
        for (Index cell = points.local().first; cell < points.local().past(); ++cell) {
            beside.push_back(cell);
        }
        EXPECT_EQ(written_out(both), dense(Eigen::all, beside));
        EXPECT_EQ(written_out(points.gathered(Metric::euclidean)), dense);
    });
}

TEST(DividedPoints, AreFetchedPutBesideOthersAndGathered) {
    const Matrix dense = uniform_cloud(3, 1500, 2);
    expect_points_where_they_are_asked_for(dense, dense);
    const SparseMatrix<double> sparse = sparse_cloud(9, 1500, 0.15, 2); // some cells have no entries
    expect_points_where_they_are_asked_for(sparse, to_dense(sparse));
}

template <class Values>
void expect_to_meet_all(const Values& X, const Matrix& dense) {
    on_ranks(X, {1, 2, 3, 7}, [&](const DividedPoints& points) {
        Meeting meeting(points);
        std::vector<Index> met;
        const Index size = points.processes().count();
        for (Index step = 0; step <= size; ++step) { // at last it is alone again
            meeting.meet(step);
            const std::vector<Index> names = meeting.names();
            if (meeting.count() > 0) {
                EXPECT_EQ(written_out(meeting.points()), dense(Eigen::all, names));
            }
            const auto visitors = names.begin() + (step == 0 ? 0 : meeting.own());
            met.insert(met.end(), visitors, names.end());
        }
        std::sort(met.begin(), met.end());
        std::vector<Index> all(static_cast<std::size_t>(points.count()));
        std::iota(all.begin(), all.end(), Index{0});
        EXPECT_EQ(met, all);
    });
}

TEST(DividedPoints, OfARankMeetThoseOfAllOthers) {
    const Matrix dense = uniform_cloud(3, 1500, 2);
    expect_to_meet_all(dense, dense);
    const SparseMatrix<double> sparse = sparse_cloud(9, 1500, 0.15, 2);
    expect_to_meet_all(sparse, to_dense(sparse));
}

} // namespace
} // namespace pnmf::test
