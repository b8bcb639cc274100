#include "support/paths.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

/// The line that a run rewrites in a terminal.
namespace pnmf::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgressLine : public ::testing::Test {
  protected:
    void SetUp() override {
        const auto made = run_command("'" + program().string() + "' simulate circles -o '" +
                                      (folder_ / "circles.csv").string() + "'");
        ASSERT_EQ(made.exit_code, 0) << made.err;
    }
    std::string fit() const {
        return "'" + program().string() + "' fit '" + (folder_ / "circles.csv").string() +
               "' --preset paper --rank 2 --lambda1 100 --lambda2 100 --no-report --overwrite -o '" +
               (folder_ / "fit").string() + "'";
    }
    /// All that is shown in a terminal of 80 columns.
    std::string in_terminal(const std::string& environment, const std::string& options = "") const {
        std::string quoted;
        for (const char letter : "stty columns 80; " + fit() + options) {
            quoted += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
        }
        const auto shown = run_command(environment + " script -qec '" + quoted + "' /dev/null");
        EXPECT_EQ(shown.exit_code, 0) << shown.out;
        return shown.out;
    }
    /// What stood on the line, one after the other, without colours.
    static std::vector<std::string> states(const std::string& shown) {
        const std::string plain = std::regex_replace(shown, std::regex("\033\\[[0-9]*m"), "");
        std::vector<std::string> result;
        std::istringstream stream(plain);
        for (std::string one; std::getline(stream, one, '\r');) {
            if (one.starts_with("sweeping") || one.starts_with("starting")) {
                result.push_back(one);
            }
        }
        return result;
    }

  private:
    TemporaryFolder folder_;
};

TEST_F(ProgressLine, FitsIn80ColumnsWithStageBarAndTimeLeft) {
    const std::vector<std::string> lines = states(in_terminal("TERM=xterm"));
    ASSERT_FALSE(lines.empty());
    for (const std::string& line : lines) {
        EXPECT_LT(line.size(), std::size_t{80}) << line;
    }
    EXPECT_THAT(lines, ::testing::Contains(ContainsRegex("^sweeping +\\[#*\\.*\\] +[0-9]+ %  .*left")));
}

TEST_F(ProgressLine, HasColoursInATerminalUnlessNoColorIsSet) {
    EXPECT_THAT(in_terminal("env -u NO_COLOR TERM=xterm"), HasSubstr("\033["));
    EXPECT_THAT(in_terminal("NO_COLOR=1 TERM=xterm"), Not(HasSubstr("\033[")));
    EXPECT_THAT(in_terminal("env -u NO_COLOR TERM=dumb"), Not(HasSubstr("\033[")));
}

TEST_F(ProgressLine, IsNotWrittenIntoAPipe) {
    const auto piped = run_command(fit());
    EXPECT_EQ(piped.exit_code, 0);
    EXPECT_THAT(piped.err, Not(HasSubstr("\r")));
    EXPECT_THAT(piped.err, Not(HasSubstr("\033[")));
}

/// The lines of stderr, each as JSON; a line that is not JSON throws.
std::vector<nlohmann::json> events_of(const std::string& text) {
    std::vector<nlohmann::json> events;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        events.push_back(nlohmann::json::parse(line));
    }
    return events;
}

TEST_F(ProgressLine, IsAnEventALineForProgramsThatAskForIt) {
    const auto done = run_command(fit() + " --json --progress json");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_TRUE(nlohmann::json::accept(done.out)); // the summary, alone
    std::vector<std::string> stages;
    for (const nlohmann::json& event : events_of(done.err)) {
        ASSERT_TRUE(event.contains("event")) << event;
        if (event["event"] == "progress") {
            for (const char* key : {"done", "total", "fraction", "seconds", "seconds_left", "kkt"}) {
                EXPECT_TRUE(event.contains(key)) << event;
            }
            const auto stage = event["stage"].get<std::string>();
            if (stages.empty() || stages.back() != stage) {
                stages.push_back(stage);
            }
            if (!event["done"].is_null()) {
                EXPECT_LE(event["done"].get<int>(), event["total"].get<int>());
            }
        } else {
            EXPECT_THAT((std::vector<std::string>{"message", "warning", "done"}),
                        ::testing::Contains(event["event"].get<std::string>()));
        }
    }
    EXPECT_THAT(stages, ::testing::ElementsAre("preparing", "starting", "sweeping", "clusters"));
    EXPECT_EQ(events_of(done.err).back()["event"], "done");
}

TEST_F(ProgressLine, ErrorsAreEventsToo) {
    const auto failed = run_command("'" + program().string() + "' fit nowhere.h5ad -o x --progress json");
    EXPECT_EQ(failed.exit_code, 2);
    const auto events = events_of(failed.err);
    ASSERT_EQ(events.size(), std::size_t{1}) << failed.err;
    EXPECT_EQ(events.front()["event"], "error");
    EXPECT_THAT(events.front()["text"].get<std::string>(), HasSubstr("nowhere.h5ad"));
}

TEST_F(ProgressLine, IsNotShownWhereNoneIsWanted) {
    EXPECT_TRUE(states(in_terminal("TERM=xterm", " --progress none")).empty());
}

TEST_F(ProgressLine, ThreadsFollowOmpNumThreadsUnlessTheyAreGiven) {
    EXPECT_THAT(run_command("OMP_NUM_THREADS=3 " + fit()).err, HasSubstr("on 3 threads"));
    EXPECT_THAT(run_command("OMP_NUM_THREADS=3 " + fit() + " --threads 1").err, HasSubstr("on 1 thread,"));
}

} // namespace
} // namespace pnmf::test
