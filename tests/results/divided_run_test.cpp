#include "support/clouds.hpp"
#include "support/paths.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/run/run.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

/// Runs of which each rank has some of the cells.
namespace pnmf::test {
namespace {

/// Each rank has H of its cells.
template <class Real>
void expect_part(const Factors<Real>& found, const Factors<Real>& all, const CellRange& range) {
    EXPECT_EQ(found.W, all.W);
    ASSERT_EQ(found.scales(), all.scales());
    for (std::size_t t = 0; t < all.H.size(); ++t) {
        EXPECT_EQ(found.H[t], all.H[t].middleCols(range.first, range.count)) << t;
    }
}

/// `X`: 5,200 cells, which are eight blocks; sparse or dense.
template <class Real, class Values>
void expect_the_run_of_one_process(const Values& X, const std::vector<int>& counts, bool has_space = true) {
    const DataMatrix<double> data(X);
    const Index cells = data.cells();
    const Matrix space = principal_components(data, 4).coordinates(data);
    RunOptions options{.fit = {.rank = 3, .filtration = {.neighbors = 4}, .scale_error = 0.3},
                       .space = has_space ? &space : nullptr,
                       .clusters = 3};
    options.fit.filtration.scales.max_scales = 3;
    options.fit.solver.max_sweeps = 4;
    options.fit.solver.tolerance = 0.0; // nothing is frozen
    const auto expected = run_fit<Real>(DataView(view_of(X)), options);
    const TemporaryFolder folder;
    const std::string fingerprint =
        run_fingerprint(expected.prepared.options, DataView(view_of(X)), options.space);
    for (const int count : counts) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            RunOptions mine = options;
            mine.local = local_range(cells, all_processes());
            const Values part = columns_of(X, *mine.local);
            const Matrix my_space = space.middleCols(mine.local->first, mine.local->count);
            mine.space = has_space ? &my_space : nullptr;
            auto found = run_fit<Real>(DataView(view_of(part)), mine);
            expect_part(found.result.factors, expected.result.factors, *mine.local);
            EXPECT_EQ(found.result.effective_rank, expected.result.effective_rank);
            keep_embeddings(found, folder.path());
            EXPECT_EQ(found.result.embeddings.has_value(), all_processes().place() == 0);
            for (Index t = 0; found.result.embeddings && t < expected.result.factors.scales(); ++t) {
                DenseMatrix<Real> buffer;
                EXPECT_EQ(found.result.embedding(t, buffer), expected.result.factors.H[t]) << t;
            }
            EXPECT_EQ(found.result.trace.back().total(), expected.result.trace.back().total());
            EXPECT_EQ(found.result.scale_error, expected.result.scale_error);
            EXPECT_EQ(found.assessment.clusters, expected.assessment.clusters);
            EXPECT_EQ(found.assessment.programs.scores, expected.assessment.programs.scores);
            EXPECT_EQ(found.scales_of_sweep, found.prepared.problem().scales());
            EXPECT_EQ(std::ssize(found.bytes_of_sweep), count);
            EXPECT_EQ(
                run_fingerprint(found.prepared.options, DataView(view_of(part)), mine.space, mine.local),
                fingerprint);
        });
    }
}

TEST(DividedRun, HasTheBitsOfOneProcess) {
    expect_the_run_of_one_process<float>(sparse_cloud(40, 5200, 0.3, 6), {2, 3, 11});
}

TEST(DividedRun, HasTheBitsOfOneProcessInDoublePrecision) {
    expect_the_run_of_one_process<double>(sparse_cloud(40, 5200, 0.3, 6), {3});
}

TEST(DividedRun, OfDenseDataHasTheBitsOfOneProcess) {
    expect_the_run_of_one_process<float>(uniform_cloud(20, 5200, 6), {2, 3, 4, 11});
}

TEST(DividedRun, OfDenseDataHasTheBitsOfOneProcessInDoublePrecision) {
    expect_the_run_of_one_process<double>(uniform_cloud(20, 5200, 6), {3});
}

TEST(DividedRun, WithDistancesInDenseDataHasTheBitsOfOneProcess) {
    expect_the_run_of_one_process<float>(uniform_cloud(20, 5200, 6), {2, 7}, false);
}

TEST(DividedRun, WithDistancesInSparseDataHasTheBitsOfOneProcess) {
    expect_the_run_of_one_process<float>(sparse_cloud(40, 5200, 0.3, 6), {2, 7}, false);
    expect_the_run_of_one_process<double>(sparse_cloud(40, 5200, 0.3, 6), {3}, false);
    expect_the_run_of_one_process<float>(sparse_cloud(20, 5200, 0.6, 6), {3}, false); // becomes dense
}

TEST(DividedRun, OfSparseDataThatBecomeDenseHasTheBitsOfOneProcess) {
    expect_the_run_of_one_process<float>(sparse_cloud(20, 5200, 0.6, 6), {3});
}

/// A run in a folder that is asked to stop after some reports; none is not asked.
class StoppedRun {
  public:
    StoppedRun() : X(sparse_cloud(20, cells, 0.3, 6)) {
        const DataMatrix<double> data(X);
        space = principal_components(data, 3).coordinates(data);
        options.fit = {.rank = 2, .filtration = {.neighbors = 4}};
        options.fit.filtration.scales.max_scales = 3;
        options.fit.solver.max_sweeps = 4;
        options.space = &space;
        options.clusters = 2;
    }

    /// The file that is left, or H of the recommended scale where it was not stopped.
    void run(const std::filesystem::path& path, FolderUse use, std::optional<Index> reports) const {
        const bool host = all_processes().place() == 0;
        RunFolder folder(path, use, host ? FolderRole::host : FolderRole::guest);
        RunOptions mine = options;
        mine.folder = &folder;
        SparseMatrix<double> part = X;
        Matrix my_space = space;
        if (all_processes().count() > 1) {
            mine.local = local_range(cells, all_processes());
            part = columns_of(X, *mine.local);
            my_space = space.middleCols(mine.local->first, mine.local->count);
        }
        mine.space = &my_space;
        Index seen = 0;
        const RunObserver observer{.progress = [&](const RunProgress& report) {
            seen += report.stage == Stage::starting || report.sweep != nullptr ? 1 : 0;
            return !reports || seen < *reports;
        }};
        if (reports) {
            EXPECT_THROW(run_fit<float>(DataView(view_of(part)), mine, observer), Interrupted);
        } else {
            const auto found = run_fit<float>(DataView(view_of(part)), mine, observer);
            expect_part(found.result.factors, whole().result.factors, found.prepared.X->local());
        }
    }

  private:
    static constexpr Index cells = 5200;

    const Run<float>& whole() const {
        static const Run<float> run = [this] {
            const ProcessesScope alone(one_process());
            return run_fit<float>(DataView(view_of(X)), options);
        }();
        return run;
    }

    SparseMatrix<double> X;
    Matrix space;
    RunOptions options;
};

std::string bytes_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

TEST(DividedRun, IsSavedAsThatOfOneProcessAndGoesOnWithAnyNumberOfRanks) {
    const StoppedRun run;
    for (const Index reports : {2, 6}) { // while the start is chained, and between sweeps
        SCOPED_TRACE(reports);
        const TemporaryFolder folder;
        run.run(folder / "one", FolderUse::fresh, reports);
        ThreadRanks three(3);
        three.run([&](int) { run.run(folder / "three", FolderUse::fresh, reports); });
        EXPECT_EQ(bytes_of(folder / "three" / "checkpoint.bin"), bytes_of(folder / "one" / "checkpoint.bin"));
        ThreadRanks two(2);
        two.run([&](int) { run.run(folder / "three", FolderUse::resume, {}); });
        run.run(folder / "three", FolderUse::resume, {});
    }
}

} // namespace
} // namespace pnmf::test
