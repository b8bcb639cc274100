#include "support/paths.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

namespace pnmf::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class Scales : public ::testing::Test {
  protected:
    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    static CommandResult scales(const std::string& arguments) {
        return run_command("'" + program().string() + "' scales " + arguments);
    }
    static Json json(const std::string& arguments) {
        const CommandResult result = scales(arguments + " --json");
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return Json::parse(result.out);
    }
    static void expect_refused(const std::string& arguments, const std::string& message) {
        const CommandResult result = scales(arguments);
        EXPECT_EQ(result.exit_code, 2) << arguments;
        EXPECT_EQ(result.out, "") << arguments;
        EXPECT_THAT(result.err, HasSubstr(message));
    }

    TemporaryFolder folder_;
    /// Cells at 0, 1, 1, 3 on a line (as columns), then far away 10.
    std::string line_ = file("line.csv", "1,2,2,4,11\n1,1,1,1,1\n");
};

TEST_F(Scales, OfAFileAreThoseOfTheDefinition) {
    const Json found = json(line_);
    EXPECT_THAT(found["epsilon"], ElementsAre(1.0, 2.0, 7.0, 10.0 + 1e-9));
    EXPECT_THAT(found["multiplicity"], ElementsAre(1, 1, 1, 0));
    EXPECT_THAT(found["betti0"], ElementsAre(4, 3, 2, 1));
    EXPECT_THAT(found["edges"], ElementsAre(1, 3, 6, 10));
    EXPECT_EQ(found["cells"], 5);
    EXPECT_EQ(found["duplicates"], 1);
    EXPECT_EQ(found["strategy"], "canonical");
}

TEST_F(Scales, ArePrintedAsATableWithOneLineEach) {
    const CommandResult result = scales(line_);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 3 + 4);
    EXPECT_THAT(result.out, HasSubstr("epsilon"));
    EXPECT_THAT(result.err, HasSubstr("duplicates: 1 of 5 cells"));
}

TEST_F(Scales, OfATableOfDistancesAreThoseOfThePoints) {
    const std::string table = file("d.csv", "0,1,1,3,10\n1,0,0,2,9\n1,0,0,2,9\n3,2,2,0,7\n10,9,9,7,0\n");
    const Json own = json(table + " --distances");
    const Json points = json(line_);
    for (const char* key : {"epsilon", "multiplicity", "betti0", "edges", "duplicates", "largest_distance"}) {
        EXPECT_EQ(own[key], points[key]) << key;
    }
}

TEST_F(Scales, OfAPointCloudMayHaveAnySign) {
    const std::string cloud = file("cloud.csv", "-1,0,0,2,9\n0,0,0,0,0\n");
    EXPECT_EQ(json(cloud + " --points")["epsilon"], json(line_)["epsilon"]);
    EXPECT_EQ(json(cloud + " --points --cells rows")["cells"], 2);
}

TEST_F(Scales, ByCosineDoNotSeeTheLengthOfACell) {
    const std::string one = file("one.csv", "1,0,1\n0,1,1\n");
    const std::string longer = file("longer.csv", "1,0,8\n0,4,8\n");
    EXPECT_EQ(json(one + " --metric cosine")["epsilon"], json(longer + " --metric cosine")["epsilon"]);
}

TEST_F(Scales, AtMostSoManyKeepTheFinestAndTheCoarsest) {
    const Json found = json(line_ + " --max-scales 2");
    EXPECT_THAT(found["epsilon"], ElementsAre(1.0, 10.0 + 1e-9));
    EXPECT_EQ(found["available"], 4);
    EXPECT_EQ(json(line_ + " --max-scales 50")["epsilon"].size(), 4U);
}

TEST_F(Scales, OfEveryStrategyAreAsManyAndFollowTheSeed) {
    for (const std::string strategy : {"canonical", "uniform", "random", "sufficient"}) {
        const Json found = json(line_ + " --scales " + strategy + " --seed 5");
        EXPECT_EQ(found["epsilon"].size(), 4U) << strategy;
        EXPECT_EQ(found["strategy"], strategy);
        EXPECT_EQ(found["betti0"].back(), 1) << strategy;
        EXPECT_EQ(found, json(line_ + " --threads 1 --scales " + strategy + " --seed 5"));
    }
    EXPECT_NE(json(line_ + " --scales sufficient --seed 1")["epsilon"],
              json(line_ + " --scales sufficient --seed 2")["epsilon"]);
}

TEST_F(Scales, AreWrittenWithDiagramAndMergeTree) {
    ASSERT_EQ(scales(line_ + " -o " + path("out.json")).exit_code, 0);
    std::ifstream in(path("out.json"));
    const Json found = Json::parse(in);
    EXPECT_EQ(found["epsilon"], json(line_)["epsilon"]);
    EXPECT_EQ(found["diagram"], Json::parse("[[0.0,0.0],[0.0,1.0],[0.0,2.0],[0.0,7.0],[0.0,null]]"));
    EXPECT_EQ(found["merge_tree"], Json::parse("[[1,2,0.0,2],[0,5,1.0,3],[3,6,2.0,4],[4,7,7.0,5]]"));

    ASSERT_EQ(scales(line_ + " -o " + path("out.csv")).exit_code, 0);
    std::ifstream csv(path("out.csv"));
    std::string header;
    std::string first;
    std::getline(csv, header);
    std::getline(csv, first);
    EXPECT_EQ(header, "epsilon,multiplicity,betti0,edges");
    EXPECT_EQ(first, "1,1,4,1");
}

TEST_F(Scales, OfOneTwoAndEqualCellsExist) {
    EXPECT_THAT(json(file("one.csv", "1\n2\n") + " --points")["epsilon"], ElementsAre(1e-9));
    EXPECT_THAT(json(file("two.csv", "1,4\n2,6\n"))["epsilon"], ElementsAre(5.0, 5.0 + 1e-9));
    const Json equal = json(file("equal.csv", "1,1,1\n2,2,2\n"));
    EXPECT_THAT(equal["epsilon"], ElementsAre(1e-9));
    EXPECT_THAT(equal["betti0"], ElementsAre(1));
    EXPECT_THAT(equal["edges"], ElementsAre(3));
    EXPECT_EQ(equal["duplicates"], 2);
}

TEST_F(Scales, OfBadInputAreRefusedAndNothingIsWritten) {
    const std::string out = path("none.json");
    expect_refused(file("nan.csv", "1,nan\n2,3\n") + " --points -o " + out, "row 1, column 2");
    expect_refused(file("inf.csv", "1,inf\n2,3\n") + " -o " + out, "inf");
    expect_refused(file("negative.csv", "1,-2\n2,3\n") + " -o " + out, "-2");
    expect_refused(file("zero.csv", "1,0\n2,0\n") + " --points --metric cosine -o " + out, "cell 2");
    expect_refused(path("absent.csv") + " -o " + out, "absent.csv");
    expect_refused(line_ + " -o " + path("out.txt"), ".json or .csv");
    EXPECT_FALSE(std::filesystem::exists(out));
    EXPECT_FALSE(std::filesystem::exists(path("out.txt")));
}

TEST_F(Scales, OfATableThatHoldsNoDistancesAreRefusedNamingFileAndPlace) {
    expect_refused(file("asymmetric.csv", "0,1\n2,0\n") + " --distances",
                   "asymmetric.csv: distances must be symmetric");
    expect_refused(file("negative.csv", "0,-1\n-1,0\n") + " --distances",
                   "nonnegative, got -1 at row 2, column 1");
    expect_refused(file("diagonal.csv", "0,1\n1,3\n") + " --distances", "row 2, column 2");
    expect_refused(file("wide.csv", "0,1,2\n1,0,2\n") + " --distances", "2 x 3");
    expect_refused(file("missing.csv", "0,nan\nnan,0\n") + " --distances", "finite");
}

TEST_F(Scales, WithOptionsThatMakeNoSenseAreRefused) {
    expect_refused(line_ + " --max-scales 1", "the coarsest");
    expect_refused(line_ + " --threads 0", "--threads: must be a whole number, at least 1");
    expect_refused(line_ + " --scales some", "some");
    expect_refused(line_ + " --metric taxi", "taxi");
    expect_refused(line_ + " --distances --metric cosine", "--metric cannot be used with --distances");
    expect_refused(line_ + " --points --transform log-unit", "--transform cannot be used with --points");
    expect_refused(line_ + " --points --distances", "--");
}

} // namespace
} // namespace pnmf::test
