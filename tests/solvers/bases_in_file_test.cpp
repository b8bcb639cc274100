#include "support/paths.hpp"
#include "support/problems.hpp"

#include <pnmf/solvers/initial.hpp>
#include <pnmf/solvers/solver.hpp>

#include <gtest/gtest.h>

namespace pnmf {
namespace {

/// The bases of all scales, wherever they are.
template <class Real>
std::vector<DenseMatrix<Real>> bases(const Factors<Real>& factors) {
    std::vector<DenseMatrix<Real>> result;
    for (Index t = 0; t < factors.scales(); ++t) {
        DenseMatrix<Real> buffer;
        result.push_back(factors.basis(t, buffer));
    }
    return result;
}

template <class Real>
void expect_same(const Factors<Real>& in_file, const Factors<Real>& in_memory) {
    ASSERT_TRUE(in_file.file.has_value());
    EXPECT_FALSE(in_memory.file.has_value());
    for (const DenseMatrix<Real>& W : in_file.W) {
        EXPECT_EQ(W.size(), 0); // nothing was left in memory
    }
    EXPECT_EQ(bases(in_file), in_memory.W);
    EXPECT_EQ(in_file.H, in_memory.H);
}

template <class Real>
class BasesInAFile : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(BasesInAFile, Reals);

TYPED_TEST(BasesInAFile, GiveTheBitsOfBasesInMemory) {
    const test::TemporaryFolder folder;
    const auto owned = test::random_problem<TypeParam>({.cells = 40, .scales = 30}, {1.0, 1.0, 0.1}, 3);
    const Problem<TypeParam> problem = owned.problem();
    const Pair<TypeParam> pair = seed_pair(*owned.X, 3);
    for (const SolverOptions& options :
         {SolverOptions{.tolerance = 0.0, .max_sweeps = 12},
          SolverOptions{.extrapolate = false, .tolerance = 0.0, .max_sweeps = 5},
          SolverOptions{.algorithm = Algorithm::reference, .max_sweeps = 2},
          SolverOptions{.algorithm = Algorithm::paper, .max_sweeps = 2}}) {
        auto in_file =
            start_solver(problem, options, nested_start(problem, pair, {.bases_in = folder.path()}));
        auto in_memory = start_solver(problem, options, nested_start(problem, pair));
        expect_same(in_file.current, in_memory.current);
        run_solver(problem, options, in_file);
        run_solver(problem, options, in_memory);
        expect_same(in_file.current, in_memory.current);
        EXPECT_EQ(in_file.trace.back().total(), in_memory.trace.back().total());
        EXPECT_EQ(sum(kkt_residuals(problem, in_file.current, BasisForm::unit_columns)).certificate(),
                  sum(kkt_residuals(problem, in_memory.current, BasisForm::unit_columns)).certificate());
        normalize_column_sums(in_file.current);
        normalize_column_sums(in_memory.current);
        expect_same(in_file.current, in_memory.current);
    }
    expect_same(broadcast_start(problem, pair, folder.path()), broadcast_start(problem, pair));
    expect_same(chained_start(problem, pair, 1e-3, {}, folder.path()), chained_start(problem, pair));
}

/// Enough scales for several levels of the start and for groups that share a product.
TYPED_TEST(BasesInAFile, GiveTheSameBitsAtManyScales) {
    const test::TemporaryFolder folder;
    const auto owned = test::random_problem<TypeParam>({.cells = 150, .scales = 140}, {1.0, 1.0, 0.1}, 4);
    const Problem<TypeParam> problem = owned.problem();
    const Pair<TypeParam> pair = seed_pair(*owned.X, 3);
    ASSERT_GT(scales_at_once(problem.scales(), problem.cells(), !problem.X->is_sparse()), 1);
    const SolverOptions options{.tolerance = 0.0, .max_sweeps = 6};
    for (const double tolerance : {1e-3, 100.0}) { // levels that are swept, and levels that are not
        auto in_file =
            start_solver(problem, options,
                         nested_start(problem, pair, {.tolerance = tolerance, .bases_in = folder.path()}));
        auto in_memory =
            start_solver(problem, options, nested_start(problem, pair, {.tolerance = tolerance}));
        run_solver(problem, options, in_file);
        run_solver(problem, options, in_memory);
        expect_same(in_file.current, in_memory.current);
    }
}

} // namespace
} // namespace pnmf
