#include "support/clouds.hpp"
#include "support/paths.hpp"
#include "support/problems.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/score_result.hpp>
#include <pnmf/run/checkpoint.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <memory>

namespace pnmf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Rings whose recommended scale is not the finest.
Matrix rings() {
    return simulate_circles({.points = 5, .noise_dimensions = 6, .seed = 3}).X;
}

RunOptions quick() {
    RunOptions options{.fit = {.rank = 3}, .clusters = 4};
    options.fit.solver.max_sweeps = 20;
    return options;
}

TEST(RunFit, RecommendsTheScaleThatItsAssessmentRecommends) {
    const DataValues X = rings();
    const auto run = run_fit<double>(X, quick());
    const auto& H = run.result.factors.H;
    const Assessment twin =
        assess_scales(run.result.scales.size(), [&](Index t) { return H[static_cast<std::size_t>(t)]; },
                      run.result.scales.epsilon, h0_diagram(*run.prepared.tree).deaths, {.clusters = 4});
    ASSERT_GT(twin.recommended, 0) << "data that tell a recommendation from none";
    EXPECT_EQ(run.assessment.recommended, twin.recommended);
    EXPECT_EQ(&run.embedding(), &H[static_cast<std::size_t>(twin.recommended)]);
    EXPECT_EQ(run.assessment.clusters, twin.clusters);
}

TEST(RunFit, IsStoredWithTheRecommendationOfItsAssessment) {
    const DataValues X = rings();
    auto run = run_fit<double>(X, quick());
    for (const Index recommended : {run.assessment.recommended, Index{2}}) {
        run.assessment.recommended = recommended;
        const AnnDataFile file = result_file(Dataset{}, run.prepared, run.result, run.assessment);
        EXPECT_EQ(std::get<std::int64_t>(find(file.uns, "pnmf/recommended")->value), recommended);
        EXPECT_EQ(file.obsm.at("X_pnmf"), Matrix(run.embedding().transpose()));
        EXPECT_EQ(file.varm.at("pnmf_W"), run.result.factors.W[static_cast<std::size_t>(recommended)]);
    }
}

TEST(RunFit, HasTheFactorsOfFit) {
    const DataValues X = rings();
    const auto run = run_fit<float>(X, quick());
    const auto alone = fit<float>(X, quick().fit);
    EXPECT_EQ(run.result.factors.H, alone.factors.H);
    EXPECT_EQ(run.result.factors.W, alone.factors.W);
}

TEST(RunFit, RefusesMoreClustersThanCellsBeforeTheWork) {
    const DataValues X = rings();
    for (const Index clusters : {0, 21}) {
        EXPECT_THAT([&] { run_fit<double>(X, {.clusters = clusters}); },
                    ThrowsMessage<InputError>(HasSubstr("between 1 and the number of cells, 20")));
    }
}

/// Rings with as many scales as a start of three levels has.
RunOptions long_start(Start start) {
    RunOptions options{.fit = {.rank = 2, .start = start}, .clusters = 2, .checkpoint_every = 1e9};
    options.fit.solver.max_sweeps = 2;
    return options;
}

/// Stops the run at its `count`-th report of a stage.
RunObserver stop_at(Stage stage, Index count) {
    return {.progress = [stage, count, seen = Index{0}](const RunProgress& progress) mutable {
        return progress.stage != stage || seen++ < count;
    }};
}

template <class Real>
void expect_same_run(const Run<Real>& a, const Run<Real>& b) {
    EXPECT_EQ(a.result.factors.H, b.result.factors.H);
    EXPECT_EQ(a.result.factors.W, b.result.factors.W);
    ASSERT_EQ(a.result.trace.size(), b.result.trace.size());
    for (std::size_t i = 0; i < a.result.trace.size(); ++i) {
        EXPECT_EQ(a.result.trace[i].total(), b.result.trace[i].total());
    }
    EXPECT_EQ(a.assessment.recommended, b.assessment.recommended);
}

TEST(RunFit, StoppedAnywhereInItsStartGoesOnToTheSameBits) {
    const DataValues X = simulate_circles({.points = 13, .noise_dimensions = 4, .seed = 3}).X;
    for (const Start start : {Start::nested, Start::chained}) {
        RunOptions options = long_start(start);
        const auto whole = run_fit<double>(X, options);
        Index stops = 0;
        for (Index at = 1; at < 400; at += at < 8 ? 1 : 3) {
            const test::TemporaryFolder folder;
            bool stopped = false;
            {
                RunFolder saved(folder / "run");
                options.folder = &saved;
                try {
                    run_fit<double>(X, options, stop_at(Stage::starting, at));
                } catch (const Interrupted& e) {
                    stopped = true;
                    EXPECT_TRUE(e.saved());
                    EXPECT_THAT(e.what(), HasSubstr("while the start was made, and saved"));
                }
            }
            if (!stopped) {
                break;
            }
            ++stops;
            EXPECT_TRUE(saved_in_start(folder / "run" / "checkpoint.bin"));
            RunFolder again(folder / "run", FolderUse::resume);
            options.folder = &again;
            expect_same_run(run_fit<double>(X, options), whole);
        }
        EXPECT_GE(stops, 10) << "in the chain, and in the sweeps of more than one level";
    }
}

TEST(RunFit, FewScalesThatStandForAllAreFoundAgainWhereverARunWasStopped) {
    const DataValues X = simulate_circles({.points = 13, .noise_dimensions = 4, .seed = 3}).X;
    const Matrix space = 2.0 * std::get<Matrix>(X).topRows(3);
    RunOptions options = long_start(Start::nested);
    options.fit.scale_error = 0.02;
    options.fit.solver.max_sweeps = 20;
    options.fit.solver.tolerance = 0.0;
    options.space = &space;
    const auto whole = run_fit<double>(X, options);
    ASSERT_TRUE(whole.prepared.kept.has_value());
    EXPECT_LT(whole.result.scales.size(), whole.result.scales.available) << "some are left out";
    EXPECT_GT(whole.result.scales.size(), 9) << "some were added";
    EXPECT_NE(whole.prepared.kept->smoothness.front(), whole.prepared.kept->smoothness.back());
    for (const Stage stage : {Stage::starting, Stage::sweeping}) {
        Index stops = 0;
        for (Index at = 1; at < 400; at += 7) {
            const test::TemporaryFolder folder;
            bool stopped = false;
            {
                RunFolder saved(folder / "run");
                options.folder = &saved;
                try {
                    run_fit<double>(X, options, stop_at(stage, at));
                } catch (const Interrupted& e) {
                    stopped = true;
                    EXPECT_TRUE(e.saved());
                }
            }
            if (!stopped) {
                break;
            }
            ++stops;
            RunFolder again(folder / "run", FolderUse::resume);
            options.folder = &again;
            const auto resumed = run_fit<double>(X, options);
            expect_same_run(resumed, whole);
            EXPECT_EQ(resumed.prepared.kept->position, whole.prepared.kept->position);
        }
        EXPECT_GE(stops, 2) << static_cast<int>(stage);
    }
}

TEST(RunFit, ARunThatCannotFitIsRefusedBeforeItBegins) {
    const DataValues X = Matrix(Matrix::Random(3, 4000).cwiseAbs()); // all pairs: 128 MB
    RunOptions options{.fit = {.rank = 2}, .memory = 60e6};
    bool began = false;
    const RunObserver observer{.progress = [&](const RunProgress&) {
        began = true;
        return false;
    }};
    EXPECT_THAT([&] { run_fit<double>(X, options, observer); },
                ThrowsMessage<InputError>(HasSubstr("distances of all pairs of 4000 cells")));
    EXPECT_FALSE(began);
}

TEST(RunFit, TheTableOfFilledDataIsCountedBeforeItIsMade) {
    RunOptions options{.fit = {.rank = 2}, .memory = 1e6};
    const DataValues filled = test::sparse_cloud(5000, 100, 0.5, 3);
    EXPECT_THAT([&] { run_fit<double>(filled, options); },
                ThrowsMessage<InputError>(HasSubstr("4 MB for the data as a table")));
    const DataValues sparse = test::sparse_cloud(5000, 100, 0.1, 3);
    EXPECT_THAT([&] { run_fit<double>(sparse, options); },
                ThrowsMessage<InputError>(testing::Not(HasSubstr("table"))));
}

TEST(RunFit, StoppedAfterASweepGoesOnToTheSameBits) {
    const DataValues X = rings();
    RunOptions options = quick();
    options.fit.solver.tolerance = 0.0;
    const auto whole = run_fit<float>(X, options);
    const test::TemporaryFolder folder;
    {
        RunFolder saved(folder / "run");
        options.folder = &saved;
        // The first report of the stage comes before its first sweep.
        EXPECT_THAT([&] { run_fit<float>(X, options, stop_at(Stage::sweeping, 4)); },
                    ThrowsMessage<Interrupted>("interrupted after sweep 4 and saved"));
    }
    RunFolder again(folder / "run", FolderUse::resume);
    options.folder = &again;
    std::size_t past = 0;
    const auto resumed = run_fit<float>(
        X, options, {.past = [&](const std::vector<Objective>& sweeps) { past = sweeps.size(); }});
    EXPECT_EQ(past, 5U);
    expect_same_run(resumed, whole);
}

TEST(RunFit, WithoutAFolderIsStoppedUnsaved) {
    const DataValues X = rings();
    for (const Stage stage : {Stage::starting, Stage::sweeping}) {
        try {
            run_fit<double>(X, quick(), stop_at(stage, 2));
            FAIL() << "not stopped";
        } catch (const Interrupted& e) {
            EXPECT_FALSE(e.saved());
        }
    }
}

TEST(RunFit, ReportsItsStagesInOrderWithAFractionThatNeverFalls) {
    const DataValues X = rings();
    std::vector<Stage> stages;
    double fraction = 0.0;
    std::vector<std::string> notices;
    RunObserver observer;
    observer.notice = [&](const std::string& text) { notices.push_back(text); };
    observer.progress = [&](const RunProgress& progress) {
        if (stages.empty() || stages.back() != progress.stage) {
            stages.push_back(progress.stage);
        }
        EXPECT_GE(progress.fraction, fraction) << "though the residual may rise for a while";
        EXPECT_LE(progress.fraction, 1.0);
        fraction = progress.fraction;
        return true;
    };
    const auto run = run_fit<double>(X, quick(), observer);
    EXPECT_THAT(stages, ElementsAre(Stage::preparing, Stage::starting, Stage::sweeping, Stage::assessing));
    EXPECT_GT(fraction, 0.0);
    EXPECT_THAT(notices, testing::Contains(HasSubstr("20 scales, finest")));
    ASSERT_EQ(run.seconds.size(), 4U);
    EXPECT_EQ(run.seconds[2].stage, "sweeps");
    EXPECT_GT(run.peak_bytes, 0.0);
}

TEST(RunFit, KeepsToItsMemoryOrSaysWhatNeedsLess) {
    const DataValues X = rings();
    RunOptions options = quick();
    const auto free = run_fit<double>(X, options);
    EXPECT_GT(free.plan.bytes, 0.0) << "planned against what the system has free";
    options.memory = 64e9;
    const auto planned = run_fit<double>(X, options);
    EXPECT_GT(planned.plan.bytes, 0.0);
    expect_same_run(planned, free);
    options.memory = 1e6;
    try {
        run_fit<double>(X, options);
        FAIL() << "a megabyte is enough";
    } catch (const RemediableError& e) {
        EXPECT_EQ(e.remedy(), Remedy::need_less_memory);
        EXPECT_THAT(e.what(), HasSubstr("this run needs"));
    }
}

TEST(RunFolder, IsHeldByOneRunAtATime) {
    const test::TemporaryFolder folder;
    auto first = std::make_unique<RunFolder>(folder / "run");
    first->make(0.0);
    EXPECT_THAT([&] { RunFolder second(folder / "run"); },
                ThrowsMessage<InputError>(HasSubstr("another run works in this folder")));
    first.reset();
    RunFolder second(folder / "run");
    second.make(0.0);
}

TEST(RunFolder, KeepsWhatIsThereUnlessToldOtherwise) {
    const test::TemporaryFolder folder;
    const auto remedy_of = [&](FolderUse use) {
        try {
            RunFolder run(folder / "run", use);
            return Remedy::none;
        } catch (const RemediableError& e) {
            return e.remedy();
        }
    };
    EXPECT_EQ(remedy_of(FolderUse::fresh), Remedy::none);
    EXPECT_FALSE(std::filesystem::exists(folder / "run"));
    std::filesystem::create_directory(folder / "run");
    write_text(folder / "run" / "result.h5ad", "a result");
    EXPECT_EQ(remedy_of(FolderUse::fresh), Remedy::overwrite);
    EXPECT_EQ(remedy_of(FolderUse::overwrite), Remedy::none);
    write_text(folder / "run" / "checkpoint.bin", "a checkpoint");
    EXPECT_EQ(remedy_of(FolderUse::fresh), Remedy::resume_or_overwrite);
    EXPECT_EQ(remedy_of(FolderUse::resume), Remedy::none);
    EXPECT_FALSE(std::filesystem::exists(folder / "run" / ".pnmf-lock"));
}

TEST(RunFit, OfBatchesBelongsToThem) {
    const DataValues X = rings();
    const Index cells = rings().cols();
    RunOptions options = quick();
    options.fit.filtration.neighbors = 4;
    const std::string without = run_fingerprint(options.fit, X);
    EXPECT_THAT(without, testing::Not(HasSubstr("batches"))) << "checkpoints of older runs stay good";
    for (Index j = 0; j < cells; ++j) {
        options.fit.filtration.batch.push_back(j % 2);
    }
    const std::string with = run_fingerprint(options.fit, X);
    EXPECT_THAT(with, HasSubstr("batches "));
    std::swap(options.fit.filtration.batch[0], options.fit.filtration.batch[1]);
    EXPECT_NE(run_fingerprint(options.fit, X), with);

    const auto run = run_fit<double>(X, options);
    const StoredResult stored =
        stored_result(result_file(Dataset{}, run.prepared, run.result, run.assessment));
    ASSERT_TRUE(stored.batches.has_value());
    EXPECT_EQ(stored.batches->of_cell, options.fit.filtration.batch);
    EXPECT_EQ(stored.options().filtration.batch, options.fit.filtration.batch);
    EXPECT_THAT(stored.batches->names, ElementsAre("1", "2"));
    const auto scores = batch_scores(stored);
    ASSERT_TRUE(scores.has_value());
    EXPECT_FALSE(scores->before.has_value()) << "a fit without a space";
    EXPECT_TRUE(std::isfinite(scores->after.mixing));
}

} // namespace
} // namespace pnmf
