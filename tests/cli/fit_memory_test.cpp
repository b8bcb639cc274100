#include "fit_fixture.hpp"
#include "support/sanitiser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pnmf::test {
namespace {

using ::testing::HasSubstr;

const std::string few_sweeps = " --max-sweeps 3 --tolerance 0 --no-report --json";

TEST_F(Fit, WithMemoryToSpareSaysWhatItPlansAndChangesNothing) {
    expect_done(circles() + few_sweeps, out("free"));
    const auto limited = expect_done(circles() + few_sweeps + " --memory 64G", out("limited"));
    EXPECT_THAT(limited.err, HasSubstr("of 64.00 GB planned"));
    EXPECT_THAT(limited.err, HasSubstr("the point before"));
    expect_same_numbers(result(out("free")), result(out("limited")), "--memory 64G");
}

/// A fit whose factors, 51 MB, are large beside what the program needs anyway.
TEST_F(Fit, KeepsToThePlannedMemory) {
    if (with_sanitiser()) {
        GTEST_SKIP() << "a sanitiser takes memory of its own";
    }
    const std::string data =
        circles(150, 1000) +
        " --max-scales 100 --neighbors 15 --start broadcast --rank 40 --clusters 4 --threads 2" + few_sweeps;
    const Json all = Json::parse(expect_done(data + " --memory 64G", out("all")).out);
    const double planned = all["planned_bytes"];
    EXPECT_NEAR(all["peak_bytes"].get<double>() / planned, 1.0, 0.1);
    const auto filed_run =
        expect_done(data + " --memory " + std::to_string(static_cast<long>(planned - 13e6)), out("filed"));
    EXPECT_THAT(filed_run.err, HasSubstr("the bases rest in files of 64 MB"));
    const Json filed = Json::parse(filed_run.out);
    EXPECT_LT(filed["planned_bytes"].get<double>(), planned - 25e6);
    EXPECT_NEAR(filed["peak_bytes"].get<double>() / filed["planned_bytes"].get<double>(), 1.0, 0.1);
    EXPECT_TRUE(filed["options"]["extrapolate"].get<bool>());
    expect_same_numbers(result(out("all")), result(out("filed")), "bases in a file");
    EXPECT_EQ(names_in(out("filed")), (std::set<std::string>{"result.h5ad", "summary.json"}));
    const double half = filed["planned_bytes"].get<double>() - 5e6;
    const auto tight_run =
        expect_done(data + " --memory " + std::to_string(static_cast<long>(half)), out("tight"));
    EXPECT_THAT(tight_run.err, HasSubstr("no momentum"));
    EXPECT_THAT(tight_run.err, HasSubstr("the bases rest in files of 32 MB"));
    const Json tight = Json::parse(tight_run.out);
    EXPECT_LT(tight["planned_bytes"].get<double>(), half);
    EXPECT_NEAR(tight["peak_bytes"].get<double>() / tight["planned_bytes"].get<double>(), 1.0, 0.1);
    EXPECT_FALSE(tight["options"]["extrapolate"].get<bool>());
    EXPECT_TRUE(tight["options"]["shift-components"].get<bool>());
    const double less = tight["planned_bytes"].get<double>() - 8e6;
    const auto tighter_run =
        expect_done(data + " --memory " + std::to_string(static_cast<long>(less)), out("tighter"));
    EXPECT_THAT(tighter_run.err, HasSubstr("the point before and sums over components are not kept"));
    const Json tighter = Json::parse(tighter_run.out);
    EXPECT_LT(tighter["planned_bytes"].get<double>(), less);
    EXPECT_NEAR(tighter["peak_bytes"].get<double>() / tighter["planned_bytes"].get<double>(), 1.0, 0.1);
    EXPECT_FALSE(tighter["options"]["shift-components"].get<bool>());
}

TEST_F(Fit, ThatTheProcessHasNoMemoryForIsRefusedBeforeTheWork) {
    if (with_sanitiser()) {
        GTEST_SKIP() << "a sanitiser takes memory of its own";
    }
    // 6,000 cells have 36 million pairs, 288 MB; nothing is said about memory but by the system.
    const CommandResult refused =
        run_command("ulimit -v 400000; " + command(circles(1500, 0) + " --threads 1" + few_sweeps, out()));
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr("memory: this run needs at least"));
    EXPECT_THAT(refused.err, HasSubstr("this process can have"));
    EXPECT_FALSE(fs::exists(out() / "result.h5ad"));
}

TEST_F(Fit, WithLittleAddressSpaceEndsWithAResultOrAReason) {
    if (with_sanitiser()) {
        GTEST_SKIP() << "a sanitiser takes memory of its own";
    }
    const std::string data = circles(15, 0);
    for (int kilobytes = 50000; kilobytes <= 350000; kilobytes += 30000) {
        const CommandResult done = run_command("ulimit -v " + std::to_string(kilobytes) + "; timeout 300 " +
                                               command(data + " --threads 2" + few_sweeps, out()));
        EXPECT_TRUE(done.exit_code >= 0 && done.exit_code <= 2 && (done.exit_code == 0 || !done.err.empty()))
            << kilobytes << " kB: " << done.exit_code << "\n"
            << done.err;
    }
}

TEST_F(Fit, RefusesWhatDoesNotFitAndSizesThatAreNone) {
    const auto small = fit(circles() + few_sweeps + " --memory 1M", out());
    EXPECT_EQ(small.exit_code, 2);
    EXPECT_THAT(small.err, HasSubstr("memory: this run needs"));
    EXPECT_THAT(small.err, HasSubstr("--max-scales"));
    for (const char* size : {"x", "-3G", "3Q", "0", "12GG", "inf"}) {
        const auto wrong = fit(circles() + few_sweeps + " --memory=" + size, out());
        EXPECT_EQ(wrong.exit_code, 2) << size;
        EXPECT_THAT(wrong.err,
                    HasSubstr(std::string("memory must be a size such as 16G or 800M, got ") + size));
    }
    for (const char* size : {"1.5G", "2GiB", "900mb", "3000000000"}) {
        EXPECT_EQ(fit(circles() + few_sweeps + " --memory " + size, out()).exit_code, 0) << size;
    }
}

} // namespace
} // namespace pnmf::test
