#include "support/paths.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string>

namespace pnmf::test {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

CommandResult pnmf_with(const std::string& arguments) {
    return run_command("'" + program().string() + "' " + arguments);
}

/// Simulated cells of three types, made once.
struct Simulated {
    TemporaryFolder folder;
    Simulated() {
        const auto made = pnmf_with("simulate cells --cells 120 --genes 200 --types 3 --fold 2 -o " + path());
        EXPECT_EQ(made.exit_code, 0) << made.err;
    }
    std::string path() const { return (folder / "cells.h5ad").string(); }
};

const std::string& cells() {
    static const Simulated made;
    static const std::string path = made.path();
    return path;
}

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

Json json_of(const std::string& arguments) {
    const CommandResult done = pnmf_with("rank " + cells() + " --restarts 4 --json " + arguments);
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return Json::parse(done.out);
}

TEST(Rank, SaysBothAnswersAndTheProgramsOfTheChosenOne) {
    const Json found = json_of("--ranks 2:6");
    ASSERT_EQ(found["ranks"].size(), 5U);
    EXPECT_EQ(found["ranks"][0]["rank"], 2);
    EXPECT_EQ(found["restarts"], 4);
    EXPECT_EQ(found["chosen"], found["by_error"]);
    EXPECT_EQ(found["programs"].size(), found["chosen"].get<std::size_t>());
    EXPECT_EQ(found["programs"][0]["genes"].size(), 10U);
    EXPECT_EQ(json_of("--ranks 2:6 --rule stability")["chosen"], found["by_stability"]);
}

TEST(Rank, ASeedGivesTheSameBitsOnAnyNumberOfThreads) {
    const Json one = json_of("--ranks 2,4 --threads 1");
    EXPECT_EQ(one, json_of("--ranks 2,4 --threads 3"));
    EXPECT_NE(one["ranks"], json_of("--ranks 2,4 --seed 1")["ranks"]);
}

TEST(Rank, WritesTablesAndAPictureAndReplacesNothing) {
    const TemporaryFolder folder;
    const std::string out = (folder / "out").string();
    const std::string command = "rank " + cells() + " --restarts 2 --ranks 2:6:2 -o " + out;
    const CommandResult done = pnmf_with(command);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("by stability"));
    EXPECT_THAT(text_of(folder / "out" / "rank.tsv"),
                HasSubstr("rank\terror\tstandard_error\tdifference_error\tstability"));
    EXPECT_THAT(text_of(folder / "out" / "rank.svg"), HasSubstr("</svg>"));
    EXPECT_THAT(text_of(folder / "out" / "consensus.tsv"), HasSubstr("P2\tgene"));
    const Json summary = Json::parse(text_of(folder / "out" / "rank.json"));
    EXPECT_EQ(summary["ranks"].size(), 3U);
    const CommandResult again = pnmf_with(command);
    EXPECT_EQ(again.exit_code, 2);
    EXPECT_THAT(again.err, HasSubstr("--overwrite"));
    EXPECT_EQ(pnmf_with(command + " --overwrite").exit_code, 0);
}

TEST(Rank, WrongInputIsExplained) {
    const auto refused = [&](const std::string& arguments, const std::string& message) {
        const CommandResult done = pnmf_with("rank " + cells() + " " + arguments);
        EXPECT_EQ(done.exit_code, 2) << arguments;
        EXPECT_EQ(done.out, "") << arguments;
        EXPECT_THAT(done.err, HasSubstr(message)) << arguments;
    };
    refused("--ranks 0", "ranks must be between 1 and 96, got 0");
    refused("--ranks 97", "ranks must be between 1 and 96, got 97");
    refused("--ranks 5:3", "from 5 to 3 there is no rank");
    refused("--ranks 5:9:0", "the step must be at least 1, got 0");
    refused("--ranks 5:6:7:8", "must be like 5:30");
    refused("--ranks ,", "must be like 5:30");
    refused("--ranks 4,2", "ranks must ascend, got 2 after 4");
    refused("--ranks 1:99999999", "more than 10000 ranks");
    refused("--ranks 1:99999999999999999", "must be like 5:30");
    refused("--restarts 1", "at least 2, got 1");
    refused("--held-out 0", "above 0 and below 1, got 0");
    refused("--rule best", "--rule");
    refused("-o '" + test::program().string() + "'", "is not a folder");
}

TEST(Rank, SaysItsProgressToPrograms) {
    const CommandResult done =
        pnmf_with("rank " + cells() + " --ranks 2:3 --restarts 2 --progress json --json");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr(R"("stage":"restarts","done":0,"total":4)"));
    EXPECT_THAT(done.err, HasSubstr(R"({"event":"done","chosen":)"));
}

TEST(Rank, CtrlCEndsItAndNothingIsWritten) {
    const TemporaryFolder folder;
    const std::string err = (folder / "err").string();
    const std::string id = (folder / "id").string();
    // Once ranks are compared, however long that takes to begin.
    const std::string watch =
        "(until grep -qs restarts " + err + "; do sleep 0.05; done; kill -INT $(cat " + id + ")) & ";
    const std::string compare = "sh -c 'echo $$ > " + id + "; exec " + program().string() + " rank " +
                                cells() + " --ranks 2:90 --restarts 2000 --progress json -o " +
                                (folder / "out").string() + " 2> " + err + "'";
    const CommandResult done = run_command(watch + compare + "; code=$?; cat " + err + " >&2; exit $code");
    EXPECT_EQ(done.exit_code, 130) << done.err;
    EXPECT_THAT(done.err, HasSubstr("interrupted while ranks were compared; nothing was written"));
    EXPECT_FALSE(std::filesystem::exists(folder / "out" / "rank.json"));
}

} // namespace
} // namespace pnmf::test
