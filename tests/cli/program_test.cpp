#include "support/paths.hpp"

#include <pnmf/version.hpp>

#include <gmock/gmock.h>

#include <string>

namespace pnmf::test {
namespace {

using ::testing::HasSubstr;

CommandResult pnmf_with(const std::string& arguments) {
    return run_command("'" + program().string() + "' " + arguments);
}

TEST(Program, VersionIsPrintedOnStdout) {
    const auto result = pnmf_with("--version");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, ::testing::StartsWith("pnmf " PNMF_VERSION "\nmatrix products: "));
    EXPECT_EQ(result.err, "");
}

TEST(Program, HelpIsPrintedOnStdoutAndListsTheVerbs) {
    const auto result = pnmf_with("--help");
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_THAT(result.out, HasSubstr("Usage: pnmf"));
    EXPECT_EQ(result.err, "");
}

TEST(Program, NoVerbIsAUsageErrorAndPrintsNothingOnStdout) {
    const auto result = pnmf_with("");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("pnmf --help"));
}

TEST(Program, AnUnknownVerbIsAUsageErrorThatNamesIt) {
    const auto result = pnmf_with("factorise");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("factorise"));
}

TEST(Program, AnUnknownOptionIsAUsageErrorThatNamesIt) {
    const auto result = pnmf_with("--wat");
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("--wat"));
}

TEST(Makefile, HelpListsTheTargetsAUserNeeds) {
    const auto result = run_command("make --no-print-directory -C '" + source_dir().string() + "' help");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    for (const char* target : {"build", "demo", "test", "install"}) {
        EXPECT_THAT(result.out, HasSubstr(std::string("make ") + target)) << target;
    }
}

TEST(Makefile, WithoutATargetItShowsTheHelp) {
    const std::string make = "make --no-print-directory -C '" + source_dir().string() + "'";
    EXPECT_EQ(run_command(make).out, run_command(make + " help").out);
}

} // namespace
} // namespace pnmf::test
