#include "cli/fit_fixture.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace pnmf::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string quick = " --rank 3 --max-sweeps 4 --tolerance 0";

class FitDisk : public Fit {};

TEST_F(FitDisk, ThatCannotBeWrittenIsFoundBeforeTheDataAreRead) {
    const CommandResult under_file = fit("absent.csv", file("plain", "text") + "/deep/out");
    EXPECT_EQ(under_file.exit_code, 2);
    EXPECT_THAT(under_file.err, AllOf(HasSubstr("plain is not a folder"), HasSubstr("deep/out")));
    const CommandResult proc = fit(circles(3) + quick, "/proc/pnmf");
    EXPECT_EQ(proc.exit_code, 1);
    EXPECT_THAT(proc.err, HasSubstr("/proc/pnmf: the output folder cannot be"));
    EXPECT_EQ(proc.out, "");
    if (geteuid() != 0) {
        fs::create_directory(out());
        fs::permissions(out(), fs::perms::owner_read | fs::perms::owner_exec);
        const CommandResult closed = fit("absent.csv", out());
        EXPECT_EQ(closed.exit_code, 1);
        EXPECT_THAT(closed.err, HasSubstr("Permission denied"));
    }
}

TEST_F(FitDisk, ThatCannotTakeTheTraceIsFoundBeforeTheWork) {
    const CommandResult traced = fit(circles(3) + quick + " --trace /proc/pnmf/trace.tsv", out());
    EXPECT_EQ(traced.exit_code, 1);
    EXPECT_THAT(traced.err, HasSubstr("trace.tsv: cannot be written"));
    EXPECT_THAT(names_in(out()), ElementsAre());
}

TEST_F(FitDisk, ThatHasAResultKeepsItUnlessToldOtherwise) {
    const std::string plain = "'" + program().string() + "' fit --preset paper " + circles(3) + quick +
                              " -o '" + out().string() + "'";
    ASSERT_EQ(run_command(plain).exit_code, 0);
    const std::string before = read_file(out() / "result.h5ad");
    const CommandResult refused = run_command(plain + " --seed 1");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("result.h5ad: there is a result already"),
                                   HasSubstr("--overwrite allows that")));
    EXPECT_EQ(refused.out, "");
    EXPECT_TRUE(read_file(out() / "result.h5ad") == before);
    const CommandResult replaced = run_command(plain + " --seed 1 --seeding random --overwrite --no-report");
    EXPECT_EQ(replaced.exit_code, 0) << replaced.err;
    EXPECT_FALSE(read_file(out() / "result.h5ad") == before);
    EXPECT_THAT(names_in(out()), ElementsAre("result.h5ad", "summary.json")) << "no page of another result";
}

TEST_F(FitDisk, ThatAnotherRunWorksInIsRefused) {
    fs::create_directory(out());
    const int lock = open((out() / ".pnmf-lock").c_str(), O_RDWR | O_CREAT, 0600);
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    const CommandResult second = fit("absent.csv", out());
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_THAT(second.err, HasSubstr("out: another run works in this folder"));
    close(lock);
    expect_done(circles(3) + quick + " --no-report", out());
    EXPECT_THAT(names_in(out()), ElementsAre("result.h5ad", "summary.json"));
}

TEST_F(FitDisk, ThatRefusesTheResultKeepsTheEarlierOne) {
    expect_done(circles(3) + quick, out());
    const std::string before = read_file(out() / "result.h5ad");
    // A limit on the size of files, in blocks, stands for a disk that fills up during the run.
    const CommandResult full =
        run_command("ulimit -f 8; " + command(circles(3) + quick + " --seed 1", out()));
    EXPECT_EQ(full.exit_code, 1) << full.err;
    EXPECT_THAT(full.err, HasSubstr("result.h5ad: cannot be written"));
    EXPECT_EQ(full.out, "");
    EXPECT_TRUE(read_file(out() / "result.h5ad") == before);
    EXPECT_THAT(names_in(out()), ElementsAre("report.html", "result.h5ad", "summary.json"));
}

TEST_F(FitDisk, ThatRefusesACheckpointDoesNotEndTheRun) {
    const CommandResult full =
        run_command("ulimit -f 200; " + command(circles(5, 200) + quick + " --checkpoint-every 0", out()));
    EXPECT_EQ(full.exit_code, 0) << full.err;
    EXPECT_THAT(full.err,
                AllOf(HasSubstr("checkpoint.bin: cannot be written"), HasSubstr("the run continues"),
                      HasSubstr("the result is written, but not its page: ")));
    EXPECT_THAT(names_in(out()), ElementsAre("result.h5ad", "summary.json"));
}

TEST_F(FitDisk, ThatIsTooSmallIsFoundBeforeTheWork) {
    const fs::path disk = out("disk");
    fs::create_directory(disk);
    if (run_command("mount -t tmpfs -o size=8k tmpfs '" + disk.string() + "'").exit_code != 0) {
        GTEST_SKIP() << "a small disk cannot be mounted here";
    }
    const CommandResult full = fit(circles(5) + quick, disk / "out");
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_THAT(full.err, AllOf(HasSubstr("the result needs about"), HasSubstr("MB")));
    EXPECT_EQ(full.out, "");
    EXPECT_EQ(run_command("umount '" + disk.string() + "'").exit_code, 0);
}

} // namespace
} // namespace pnmf::test
