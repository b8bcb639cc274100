#include "cli/fit_fixture.hpp"
#include "support/sanitiser.hpp"

#include <pnmf/run/checkpoint.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>

namespace pnmf::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A program that runs beside the test; its stderr goes to a file.
class Process {
  public:
    Process(const std::vector<std::string>& words, const fs::path& err) : err_(err) {
        std::vector<char*> arguments;
        for (const std::string& word : words) {
            arguments.push_back(const_cast<char*>(word.c_str()));
        }
        arguments.push_back(nullptr);
        id_ = fork();
        if (id_ == 0) {
            const int file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
            dup2(file, STDERR_FILENO);
            dup2(open("/dev/null", O_RDWR), STDOUT_FILENO);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
    }
    ~Process() {
        if (!ended_) {
            kill(id_, SIGKILL);
            wait();
        }
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    void signal(int number) const { kill(id_, number); }
    bool running() {
        if (!ended_ && waitpid(id_, &status_, WNOHANG) == id_) {
            ended_ = true;
        }
        return !ended_;
    }
    /// The exit code, or 128 + the signal that ended it.
    int wait() {
        if (!ended_) {
            waitpid(id_, &status_, 0);
            ended_ = true;
        }
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    }
    std::string err() const { return read_file(err_); }

  private:
    fs::path err_;
    pid_t id_ = 0;
    int status_ = 0;
    bool ended_ = false;
};

class FitInterrupt : public Fit {
  protected:
    /// Not a checkpoint of the start alone.
    bool saved_a_sweep() const {
        const fs::path checkpoint = out() / "checkpoint.bin";
        return fs::exists(checkpoint) && !saved_in_start(checkpoint);
    }
    /// The fit of these tests, by the shell.
    std::string fit_of_input() const { return "'" + input_ + "' --transform none --rank " + rank_; }
    /// The same as words, with a checkpoint after each sweep.
    std::unique_ptr<Process> process(const std::vector<std::string>& more) const {
        std::vector<std::string> words{program().string(),
                                       "fit",
                                       "--preset",
                                       "paper",
                                       input_,
                                       "--rank",
                                       rank_,
                                       "--transform",
                                       "none",
                                       "-o",
                                       out().string(),
                                       "--checkpoint-every",
                                       "0"};
        words.insert(words.end(), more.begin(), more.end());
        return std::make_unique<Process>(words, folder_ / "err");
    }
    /// A run that does not end by itself, begun and seen to have saved a checkpoint.
    std::unique_ptr<Process> begun(std::vector<std::string> more = {}) const {
        more.insert(more.end(), {"--tolerance", "0", "--max-sweeps", "100000000"});
        auto run = process(more);
        const auto bound = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        while (!saved_a_sweep() && run->running() && std::chrono::steady_clock::now() < bound) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        EXPECT_TRUE(saved_a_sweep()) << run->err();
        return run;
    }
    /// Ends the interrupted run where it is, and goes on with a copy of it for five sweeps; compares both
    /// with runs of as many sweeps that were left alone. `resumed`: said only when it is resumed.
    void expect_resumes_to_the_same_bits(const std::string& more = "",
                                         std::optional<std::string> resumed = std::nullopt) const {
        const std::string data = fit_of_input() + " --tolerance 0";
        const std::string arguments = data + more;
        const std::string again = data + resumed.value_or(more) + " --resume";
        fs::copy_file(out() / "checkpoint.bin", folder_ / "copy.bin");
        // The limit counts from the start of the run: a resumed run that is past it ends at once.
        const CommandResult first = fit(again + " --max-sweeps 0 --json", out());
        ASSERT_EQ(first.exit_code, 0) << first.err;
        EXPECT_THAT(names_in(out()), ElementsAre("report.html", "result.h5ad", "summary.json"));
        const int sweeps = Json::parse(first.out)["sweeps"];
        ASSERT_GE(sweeps, 1);
        expect_done(arguments + " --max-sweeps " + std::to_string(sweeps), out("alone"));
        expect_same_numbers(result(out()), result(out("alone")), "where it was");

        fs::rename(folder_ / "copy.bin", out() / "checkpoint.bin");
        const std::string further = " --max-sweeps " + std::to_string(sweeps + 5);
        expect_done(again + further, out());
        expect_done(arguments + further, out("alone"));
        expect_same_numbers(result(out()), result(out("alone")), "five sweeps further");
    }

    std::string input_ = input_path();
    std::string rank_ = "3";

  private:
    std::string input_path() const {
        circles(5);
        return (folder_ / "circles5.h5ad").string();
    }
};

TEST_F(FitInterrupt, BySigintSigtermOrSighupLeavesACheckpointThatContinuesToTheSameBits) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        SCOPED_TRACE(number);
        const auto process = begun();
        process->signal(number);
        EXPECT_EQ(process->wait(), 128 + number);
        EXPECT_THAT(process->err(), AllOf(HasSubstr("interrupted after sweep"), HasSubstr("--resume")));
        EXPECT_THAT(names_in(out()), ElementsAre("checkpoint.bin"));

        expect_resumes_to_the_same_bits();
        fs::remove_all(out());
    }
}

TEST_F(FitInterrupt, OfAnyAlgorithmContinuesToTheSameBits) {
    for (const std::string algorithm : {"reference", "paper"}) {
        SCOPED_TRACE(algorithm);
        const auto process = begun({"--algorithm", algorithm, "--threads", "1"});
        process->signal(SIGINT);
        // Descent may come to rest before the signal does.
        const int code = process->wait();
        ASSERT_TRUE(code == 130 || code == 0) << process->err();
        if (code == 130) {
            expect_resumes_to_the_same_bits(" --algorithm " + algorithm);
        }
        fs::remove_all(out());
    }
}

TEST_F(FitInterrupt, ByAKillLeavesAWholeCheckpoint) {
    for (int repeat = 0; repeat < 5; ++repeat) {
        const auto process = begun();
        // Some moment within the next sweeps, another one each time.
        std::this_thread::sleep_for(std::chrono::microseconds(1700 * repeat));
        process->signal(SIGKILL);
        EXPECT_EQ(process->wait(), 128 + SIGKILL);
        const CommandResult resumed =
            fit(fit_of_input() + " --tolerance 0 --resume --max-sweeps 0 --json", out());
        ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
        fs::remove_all(out());
    }
}

TEST_F(FitInterrupt, ResumesOnlyWithTheSameDataAndOptions) {
    const auto process = begun();
    process->signal(SIGINT);
    ASSERT_EQ(process->wait(), 130);
    const std::string arguments = "'" + input_ + "' --transform none --tolerance 0 --resume --rank ";
    const std::string saved = read_file(out() / "checkpoint.bin");
    const CommandResult rank = fit(arguments + "4", out());
    EXPECT_EQ(rank.exit_code, 2);
    EXPECT_THAT(rank.err, AllOf(HasSubstr("another run"), HasSubstr("rank 3"), HasSubstr("rank 4")));
    const CommandResult precision = fit(arguments + "3 --precision float", out());
    EXPECT_EQ(precision.exit_code, 2);
    EXPECT_THAT(precision.err, AllOf(HasSubstr("double precision"), HasSubstr("--precision double")));
    EXPECT_TRUE(read_file(out() / "checkpoint.bin") == saved);
    EXPECT_THAT(names_in(out()), ElementsAre("checkpoint.bin"));
}

/// As a run does that was begun with little `--memory`.
TEST_F(FitInterrupt, GoesOnWithoutWhatItHadGivenUp) {
    const std::string less = " --extrapolate false --shift-components false";
    const auto process = begun({"--extrapolate", "false", "--shift-components", "false"});
    process->signal(SIGINT);
    ASSERT_EQ(process->wait(), 130);
    expect_resumes_to_the_same_bits(less, " --memory 64G");
}

TEST_F(FitInterrupt, KeepsItsMomentumOrIsRefusedWhenResumedWithLessMemory) {
    if (with_sanitiser()) {
        GTEST_SKIP() << "a sanitiser takes memory of its own";
    }
    const std::string same = circles(150, 1000) + " --tolerance 0 --rank 40 --max-scales 100 --neighbors 15 "
                                                  "--start broadcast --clusters 4 --threads 2 --json";
    const auto planned = [&](double limit) {
        return fit(same + " --max-sweeps 1 --memory " + std::to_string(static_cast<long>(limit)),
                   out("plan"));
    };
    const auto bytes = [](const CommandResult& run) {
        return Json::parse(run.out)["planned_bytes"].get<double>();
    };
    const double all = bytes(planned(64e9));
    const double little = bytes(planned(all - 13e6)) - 5e6; // than with bases in files: see fit_memory_test
    ASSERT_THAT(planned(little).err, HasSubstr("no momentum"));

    input_ = (folder_ / "circles150.h5ad").string();
    rank_ = "40";
    const auto process =
        begun({"--max-scales", "100", "--neighbors", "15", "--start", "broadcast", "--clusters", "4"});
    process->signal(SIGINT);
    ASSERT_EQ(process->wait(), 130) << process->err();
    const std::string limit = " --resume --max-sweeps 0 --memory ";
    const CommandResult refused = fit(same + limit + std::to_string(static_cast<long>(little)), out());
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("A run that is resumed keeps what it began with"));
    const CommandResult enough = fit(same + limit + "64G", out());
    ASSERT_EQ(enough.exit_code, 0) << enough.err;
    EXPECT_TRUE(Json::parse(enough.out)["options"]["extrapolate"].get<bool>());
}

TEST_F(FitInterrupt, AndResumedTracesAsIfLeftAlone) {
    const std::string trace = (folder_ / "trace.tsv").string();
    const auto process = begun({"--trace", trace});
    process->signal(SIGINT);
    ASSERT_EQ(process->wait(), 130);
    const std::string traced = fit_of_input() + " --tolerance 0 --trace '" + trace + "' --max-sweeps ";
    const CommandResult resumed = fit(traced + "0 --resume", out());
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    const std::string whole = read_file(trace);
    EXPECT_THAT(whole, HasSubstr("\nstep\t1\t"));
    const int sweeps = Json::parse(read_file(out() / "summary.json"))["sweeps"];
    expect_done(traced + std::to_string(sweeps), out("alone"));
    EXPECT_TRUE(read_file(trace) == whole);
}

TEST_F(FitInterrupt, IsNotBegunAnewUnlessToldTo) {
    fs::create_directories(out());
    std::ofstream(out() / "checkpoint.bin") << "of another run";
    const std::string arguments = fit_of_input() + " --max-sweeps 1";
    const CommandResult refused = run_command("'" + program().string() + "' fit --preset paper " + arguments +
                                              " -o '" + out().string() + "'");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, AllOf(HasSubstr("checkpoint.bin: left by an interrupted run"),
                                   HasSubstr("--resume continues it, --overwrite starts again")));
    EXPECT_EQ(read_file(out() / "checkpoint.bin"), "of another run");
    EXPECT_THAT(names_in(out()), ElementsAre("checkpoint.bin"));
    expect_done(arguments, out());
    EXPECT_FALSE(fs::exists(out() / "checkpoint.bin"));
    const CommandResult ended = fit("'" + input_ + "' --transform none --resume", out());
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_THAT(ended.err, HasSubstr("the run in this folder has ended"));
}

/// The circles of the paper's size have a start of several levels.
TEST_F(FitInterrupt, InItsStartContinuesToTheSameBits) {
    circles(20, 100);
    input_ = (folder_ / "circles20.h5ad").string();
    const std::string arguments = fit_of_input() + " --max-sweeps 3";
    const auto run = process({"--max-sweeps", "3"});
    while (!fs::exists(out() / "checkpoint.bin") && run->running()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    run->signal(SIGINT);
    ASSERT_EQ(run->wait(), 130) << run->err();
    EXPECT_THAT(run->err(), AllOf(HasSubstr("interrupted while the start was made, and saved"),
                                  HasSubstr("--resume continues from there")));
    expect_done(arguments + " --resume", out());
    expect_done(arguments, out("alone"));
    expect_same_numbers(result(out()), result(out("alone")), "resumed in the start");
}

} // namespace
} // namespace pnmf::test
