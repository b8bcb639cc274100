#include "support/clouds.hpp"
#include "support/sweep_bytes.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/run.hpp>

#include <gtest/gtest.h>

/// Runs of which each rank has some of the cells.
namespace pnmf::test {
namespace {

template <class Real>
void expect_the_run_of_one_process(const std::vector<int>& counts) {
    constexpr Index cells = 5200; // six blocks
    const SparseMatrix<double> X = sparse_cloud(40, cells, 0.3, 6);
    const DataMatrix<double> data(X);
    const Matrix space = principal_components(data, 4).coordinates(data);
    RunOptions options{.fit = {.rank = 3, .filtration = {.neighbors = 4}, .scale_error = 0.3},
                       .space = &space,
                       .clusters = 3};
    options.fit.filtration.scales.max_scales = 3;
    options.fit.solver.max_sweeps = 4;
    options.fit.solver.tolerance = 0.0; // nothing is frozen
    const auto expected = run_fit<Real>(DataView(view_of(X)), options);
    const std::string fingerprint = run_fingerprint(expected.prepared.options, DataView(view_of(X)), &space);
    for (const int count : counts) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            RunOptions mine = options;
            mine.part = share_of_rank(cells, communicator());
            const SparseMatrix<double> part = columns_of(X, *mine.part);
            const auto found = run_fit<Real>(DataView(view_of(part)), mine);
            EXPECT_EQ(found.result.factors.W, expected.result.factors.W);
            EXPECT_EQ(found.result.factors.H, expected.result.factors.H);
            EXPECT_EQ(found.result.trace.back().total(), expected.result.trace.back().total());
            EXPECT_EQ(found.result.scale_error, expected.result.scale_error);
            EXPECT_EQ(found.assessment.clusters, expected.assessment.clusters);
            EXPECT_EQ(found.assessment.programs.scores, expected.assessment.programs.scores);
            EXPECT_EQ(found.scales_of_sweep, found.prepared.problem().scales());
            EXPECT_EQ(std::vector<Index>(found.bytes_of_sweep.begin(), found.bytes_of_sweep.end()),
                      sweep_bytes(found.prepared.problem(), 3, share(usual_blocks(cells), count),
                                  options.fit.solver.embedding_passes));
            EXPECT_EQ(run_fingerprint(found.prepared.options, DataView(view_of(part)), &space, mine.part),
                      fingerprint);
        });
    }
}

TEST(DividedRun, HasTheBitsOfOneProcess) {
    expect_the_run_of_one_process<float>({2, 3, 7});
}

TEST(DividedRun, HasTheBitsOfOneProcessInDoublePrecision) {
    expect_the_run_of_one_process<double>({3});
}

/// What `gather_for_run` says of data of which each rank has its share, and whether they are divided after
/// it.
std::pair<std::string, bool> gathered(double share_filled, bool has_space, Precision precision) {
    constexpr Index cells = 5200;
    const SparseMatrix<double> X = sparse_cloud(10, cells, share_filled, 6);
    ThreadRanks ranks(3);
    std::vector<std::pair<std::string, bool>> found(3);
    ranks.run([&](int r) {
        Dataset data;
        data.part = share_of_rank(cells, communicator());
        data.X = columns_of(X, *data.part);
        if (has_space) {
            data.space = Space{.name = "pca:1", .coordinates = Matrix::Zero(1, cells)};
        }
        const std::string why = gather_for_run(data, precision);
        EXPECT_EQ(std::get<SparseMatrix<double>>(data.X).cols, data.part ? data.part->count : cells);
        found[static_cast<std::size_t>(r)] = {why, data.part.has_value()};
    });
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(found[2], found[0]);
    return found[0];
}

TEST(DividedRun, CellsAreBroughtTogetherWhereARunNeedsAllOfThem) {
    const auto parts = std::pair<std::string, bool>("", true);
    EXPECT_EQ(gathered(0.2, true, Precision::full), parts);
    EXPECT_EQ(gathered(0.45, true, Precision::single), parts);
    EXPECT_EQ(gathered(0.2, false, Precision::full),
              (std::pair<std::string, bool>("distances are measured in the values themselves", false)));
    EXPECT_EQ(gathered(0.45, true, Precision::full).first.substr(0, 12), "so many of t");
    EXPECT_FALSE(gathered(0.45, true, Precision::full).second);
}

TEST(DividedRun, RefusesPartsThatWouldBecomeDense) {
    constexpr Index cells = 5200;
    const SparseMatrix<double> X = sparse_cloud(10, cells, 0.6, 6);
    const Matrix space = uniform_cloud(2, cells, 1);
    ThreadRanks ranks(2);
    ranks.run([&](int) {
        RunOptions options{.fit = {.rank = 2, .filtration = {.neighbors = 4}}, .space = &space};
        options.part = share_of_rank(cells, communicator());
        const SparseMatrix<double> part = columns_of(X, *options.part);
        EXPECT_THROW(run_fit<float>(DataView(view_of(part)), options), InputError);
    });
}

} // namespace
} // namespace pnmf::test
