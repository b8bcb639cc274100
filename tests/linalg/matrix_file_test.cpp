#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/parallel.hpp>

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>

namespace pnmf {
namespace {

using ::testing::HasSubstr;

template <class Real>
DenseMatrix<Real> numbers(Index t) {
    return DenseMatrix<Real>::NullaryExpr(
        5, 3, [&](Index i, Index j) { return static_cast<Real>(100 * t + 10 * i + j) / Real{7}; });
}

template <class Real>
void fill(MatrixFile<Real>& file, Index count) {
    parallel_for(count, [&](Index t) { file.write(t, numbers<Real>(t)); });
}

template <class Real>
void expect_filled(const MatrixFile<Real>& file, Index count) {
    for (Index t = count - 1; t >= 0; --t) {
        DenseMatrix<Real> found;
        file.read(t, found);
        EXPECT_EQ(found, numbers<Real>(t)) << t;
    }
}

template <class Real>
class MatrixFiles : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MatrixFiles, Reals);

TYPED_TEST(MatrixFiles, GiveBackTheBitsAndLeaveNothing) {
    const test::TemporaryFolder folder;
    {
        MatrixFile<TypeParam> file(folder.path(), 20, 5, 3);
        fill(file, 20);
        expect_filled(file, 20);
        EXPECT_TRUE(std::filesystem::is_empty(folder.path())); // it has no name
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TYPED_TEST(MatrixFiles, AreCopiedWithTheirContentsAndMovedWithTheirFile) {
    const test::TemporaryFolder folder;
    MatrixFile<TypeParam> file(folder.path(), 4, 5, 3);
    fill(file, 4);
    MatrixFile<TypeParam> copy(file);
    MatrixFile<TypeParam> assigned(folder.path(), 4, 5, 3);
    assigned = file;
    MatrixFile<TypeParam> of_other_shape(folder.path(), 1, 2, 2);
    of_other_shape = file;
    file.write(2, DenseMatrix<TypeParam>::Zero(5, 3));
    expect_filled(copy, 4);
    expect_filled(assigned, 4);
    expect_filled(of_other_shape, 4);
    const MatrixFile<TypeParam> moved(std::move(copy));
    expect_filled(moved, 4);
    std::swap(file, assigned);
    expect_filled(file, 4);
}

TEST(MatrixFile, SaysWhichFolderRefusesBeforeAnythingIsWritten) {
    EXPECT_THROW(MatrixFile<double>("/nowhere/at/all", 1, 1, 1), SystemError);
    const test::TemporaryFolder folder;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 1000; // as a full disk would
    setrlimit(RLIMIT_FSIZE, &small);
    std::string message = "no error";
    try {
        MatrixFile<double>(folder.path(), 10, 100, 100);
    } catch (const SystemError& e) {
        message = e.what();
    }
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_THAT(message, HasSubstr(folder.path().string() + ": a temporary file cannot be given its size"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

} // namespace
} // namespace pnmf
