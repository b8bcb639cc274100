#include "support/paths.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// What the program gives to people who type: suggestions, completion, manual pages.
namespace pnmf::test {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

CommandResult typed(const std::string& arguments) {
    return run_command("'" + program().string() + "' " + arguments);
}

TEST(MistypedFlag, GetsTheNearestRightOneAndExitCode2) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"fit cells.h5ad --rnk 5 -o out", "--rnk: did you mean --rank?"},
        {"fit cells.h5ad --rnak 5 -o out", "--rnak: did you mean --rank?"},
        {"fit cells.h5ad -rank 5 -o out", "-rank: did you mean --rank?"},
        {"fit cells.h5ad --neighbours 5 -o out", "--neighbours: did you mean --neighbors?"},
        {"fit cells.h5ad --max-scale=5 -o out", "--max-scale: did you mean --max-scales?"},
        {"fit cells.h5ad --outptu out", "--outptu: did you mean --output?"},
        {"baseline gnmf cells.h5ad --lamda 5 -o out", "--lamda: did you mean --lambda?"}};
    for (const auto& [command, message] : cases) {
        const auto result = typed(command);
        EXPECT_EQ(result.exit_code, 2) << command;
        EXPECT_EQ(result.out, "") << command;
        EXPECT_THAT(result.err, StartsWith("pnmf: " + message)) << command;
        EXPECT_THAT(result.err, HasSubstr("--help")) << command;
    }
}

TEST(MistypedVerb, GetsTheNearestRightOne) {
    EXPECT_THAT(typed("fti").err, StartsWith("pnmf: fti: did you mean fit?"));
    EXPECT_THAT(typed("simulate cirlces -o a.csv").err, StartsWith("pnmf: cirlces: did you mean circles?"));
    EXPECT_EQ(typed("fti").exit_code, 2);
}

TEST(MistypedFlag, GetsNoSuggestionWhereNothingIsNear) {
    const auto result = typed("fit cells.h5ad --wat 5 -o out");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--wat"));
    EXPECT_THAT(result.err, Not(HasSubstr("did you mean")));
}

/// What bash would offer after these words, the last of them begun.
std::vector<std::string> offered(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) {
        line += " '" + word + "'";
    }
    const auto result = run_command(
        "bash -c 'eval \"$('\\''" + program().string() + "'\\'' completion bash)\"; COMP_WORDS=(\"$@\"); " +
        "COMP_CWORD=$(($# - 1)); _pnmf; printf \"%s\\n\" \"${COMPREPLY[@]}\"' bash" + line);
    EXPECT_EQ(result.err, "");
    std::vector<std::string> lines;
    std::istringstream stream(result.out);
    for (std::string one; std::getline(stream, one);) {
        lines.push_back(one);
    }
    return lines;
}

TEST(BashCompletion, OffersVerbsFlagsAndTheirValues) {
    EXPECT_THAT(offered({"pnmf", "sc"}), ElementsAre("scales", "score"));
    EXPECT_THAT(offered({"pnmf", "simulate", "ci"}), ElementsAre("circles"));
    EXPECT_THAT(offered({"pnmf", "fit", "--lam"}), ElementsAre("--lambda1", "--lambda2", "--lambda3"));
    EXPECT_THAT(offered({"pnmf", "fit", "x.h5ad", "--preset", ""}),
                ElementsAre("auto", "cells", "points", "paper", "spatial"));
    EXPECT_THAT(offered({"pnmf", "baseline", "gnmf", "--precision", "f"}), ElementsAre("float"));
}

TEST(BashCompletion, OffersFilesWhereAFileMayStandAndNoHiddenVerb) {
    const std::string here = (source_dir() / "README").string();
    EXPECT_THAT(offered({"pnmf", "fit", here}), Contains(here + ".md"));
    EXPECT_THAT(offered({"pnmf", "comp"}), Not(Contains("completion")));
}

TEST(ZshCompletion, IsAScriptThatZshCanRead) {
    if (run_command("command -v zsh").exit_code != 0) {
        GTEST_SKIP() << "zsh is not installed";
    }
    const TemporaryFolder folder;
    const auto script = typed("completion zsh");
    EXPECT_THAT(script.out, StartsWith("#compdef pnmf\n"));
    std::ofstream(folder / "_pnmf") << script.out;
    const auto read = run_command("zsh -f -c 'autoload -U compinit && compinit -D -u && source " +
                                  (folder / "_pnmf").string() + " && whence -w _pnmf_baseline_gnmf'");
    EXPECT_EQ(read.exit_code, 0);
    EXPECT_EQ(read.err, "");
    EXPECT_EQ(read.out, "_pnmf_baseline_gnmf: function\n");
}

TEST(Help, FitsEightyColumns) {
    for (const char* verb :
         {"", "fit", "rank", "scales", "score", "check", "baseline gnmf", "simulate cells"}) {
        std::istringstream lines(typed(std::string(verb) + " --help").out);
        for (std::string line; std::getline(lines, line);) {
            EXPECT_LE(line.size(), 80U) << verb << ": " << line;
        }
    }
}

TEST(Help, OfFitNamesTheDefaultsOfItsPresets) {
    const std::string help = typed("fit --help").out;
    EXPECT_THAT(help, HasSubstr("preset cells: 8;"));
    EXPECT_THAT(help, HasSubstr("[2; preset paper: 1.5]"));
    EXPECT_THAT(help, Not(HasSubstr("--alpha FLOAT=1.5")));
}

TEST(Help, ExplainsItsWordsAndTheGlossaryHasThem) {
    std::ifstream file(source_dir() / "docs" / "glossary.md");
    const std::string glossary{std::istreambuf_iterator<char>(file), {}};
    for (const char* verb : {"fit", "score", "rank", "baseline gnmf"}) {
        const std::string help = typed(std::string(verb) + " --help").out;
        const std::size_t words = help.find("\nWords:\n");
        ASSERT_NE(words, std::string::npos) << verb;
        std::istringstream lines(help.substr(words + 8));
        int explained = 0;
        for (std::string line; std::getline(lines, line);) {
            if (line.size() < 30 || line[2] == ' ' || line.starts_with("  More")) {
                continue;
            }
            const std::string word = line.substr(2, line.find("  ", 2) - 2);
            EXPECT_THAT(glossary, testing::ContainsRegex("\n\\| " + word)) << verb;
            ++explained;
        }
        EXPECT_GE(explained, 3) << verb;
        EXPECT_THAT(typed(std::string("manual ") + verb).out, HasSubstr(".SH WORDS\n"));
    }
}

TEST(ManualPages, HaveEveryOptionOfTheHelp) {
    for (const char* verb : {"fit", "scales", "score", "baseline gnmf", "simulate cells"}) {
        const std::string help = typed(std::string(verb) + " --help").out;
        std::string page = typed(std::string("manual ") + verb).out;
        std::erase(page, '\\'); // a dash is \- there
        std::istringstream words(help);
        for (std::string word; words >> word;) {
            if (word.starts_with("--") && word.size() > 3) {
                EXPECT_THAT(page, HasSubstr(word.substr(0, word.find_first_of(",:]=.")))) << verb;
            }
        }
    }
}

TEST(ManualPages, AreWrittenForEveryVerbAndGroffReadsThem) {
    const TemporaryFolder folder;
    ASSERT_EQ(typed("manual --all '" + folder.path().string() + "'").exit_code, 0);
    EXPECT_TRUE(fs::exists(folder / "pnmf.1"));
    EXPECT_TRUE(fs::exists(folder / "pnmf-fit.1"));
    EXPECT_TRUE(fs::exists(folder / "pnmf-baseline-gnmf.1"));
    EXPECT_FALSE(fs::exists(folder / "pnmf-manual.1"));
    if (run_command("command -v groff").exit_code != 0) {
        GTEST_SKIP() << "groff is not installed";
    }
    for (const fs::directory_entry& page : fs::directory_iterator(folder.path())) {
        const auto read = run_command("groff -man -ww -z -Tascii '" + page.path().string() + "'");
        EXPECT_EQ(read.exit_code, 0) << page.path();
        EXPECT_EQ(read.err, "") << page.path();
    }
}

TEST(ManualPages, OfAVerbThatDoesNotExistAreRefused) {
    const auto result = typed("manual factorise");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("factorise"));
}

} // namespace
} // namespace pnmf::test
