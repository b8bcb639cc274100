#include "fit_fixture.hpp"

#include <gtest/gtest.h>

namespace pnmf::test {
namespace {

using Check = Fit;

CommandResult check(const std::string& arguments) {
    return run_command("'" + program().string() + "' check " + arguments);
}

Json finding(const Json& report, const std::string& what) {
    for (const Json& one : report["findings"]) {
        if (one["what"].get<std::string>().find(what) != std::string::npos) {
            return one;
        }
    }
    ADD_FAILURE() << "no finding says: " << what;
    return {};
}

TEST_F(Check, DataAloneMeetTheTheoremsAboutScalesGraphsAndSpectra) {
    const auto done = check(circles() + " --preset paper --json --strict");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const Json report = Json::parse(done.out);
    EXPECT_EQ(report["scales"].size(), 20U);
    EXPECT_TRUE(report["canonical_scales"]["canonical"].get<bool>());
    EXPECT_EQ(report["findings"].size(), 14U);
    for (const Json& one : report["findings"]) {
        EXPECT_EQ(one["verdict"], "holds") << one.dump(2);
    }
    for (std::size_t t = 0; t < 20; ++t) {
        EXPECT_EQ(report["scales"][t]["betti0"], 20 - t);
        EXPECT_EQ(report["scales"][t]["kernel_dimension"], 20 - t);
    }
}

TEST_F(Check, UniformScalesAreFoundNotToBeSufficient) {
    const auto done = check(circles() + " --preset paper --json --scales uniform");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const Json report = Json::parse(done.out);
    EXPECT_FALSE(report["scales_used"]["sufficient"].get<bool>());
    EXPECT_TRUE(report["canonical_scales"]["canonical"].get<bool>());
    EXPECT_EQ(finding(report, "beta_0 falls")["verdict"], "fails");
    EXPECT_EQ(check(circles() + " --preset paper --strict --scales uniform").exit_code, 3);
}

TEST_F(Check, OfAResultWithItsDataEvaluatesCertificateAndBounds) {
    expect_done(circles() + " --rank 2 --save-basis", out());
    const auto done = check("'" + out().string() + "' --json --data " + circles());
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const Json report = Json::parse(done.out);
    EXPECT_EQ(finding(report, "no sweep raises")["verdict"], "holds");
    const Json kkt = finding(report, "stationary");
    EXPECT_EQ(kkt["verdict"], "holds");
    EXPECT_THAT(kkt["note"].get<std::string>(), ::testing::HasSubstr("evaluated anew"));
    EXPECT_EQ(finding(report, "columns of W")["verdict"], "holds");
    EXPECT_EQ(finding(report, "uniform bound")["verdict"], "vacuous");
    EXPECT_EQ(report["correlations"]["pairs"], 19);
    EXPECT_TRUE(report["correlations"]["laplacian_embedding"]["r"].is_number());
}

TEST_F(Check, FindsTheCertificateThatTheFitRecordedAlsoForFewScalesOfMany) {
    for (const char* scales : {"", " --max-scales 5"}) {
        expect_done(circles() + " --rank 2 --save-basis" + scales, out());
        const auto done = check("'" + out().string() + "' --json --data " + circles());
        ASSERT_EQ(done.exit_code, 0) << done.err;
        const Json report = Json::parse(done.out);
        const auto stored = result(out());
        const auto& recorded = std::get<std::vector<double>>(array(stored, "kkt").values);
        for (std::size_t t = 0; t < recorded.size(); ++t) {
            EXPECT_NEAR(report["scales"][t]["kkt"].get<double>(), recorded[t], 1e-9 + 1e-6 * recorded[t])
                << scales;
        }
    }
}

TEST_F(Check, OfAResultAloneSaysWhatNeedsTheData) {
    expect_done(circles() + " --rank 2", out());
    const auto done = check("'" + out().string() + "'");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, ::testing::HasSubstr("need the data of the fit"));
    EXPECT_THAT(done.err, ::testing::HasSubstr("--data INPUT"));
    EXPECT_THAT(done.out, ::testing::HasSubstr("The scales used meet 20 of the 20 values of beta_0"));
    EXPECT_THAT(done.out, ::testing::HasSubstr("H alone: the result has no bases"));
}

TEST_F(Check, RefusesOtherDataThanThoseOfTheResult) {
    expect_done(circles() + " --rank 2", out());
    const auto done = check("'" + out().string() + "' --data " + circles(6));
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_THAT(done.err, ::testing::HasSubstr("these are not the data of"));
    EXPECT_EQ(check("'" + out().string() + "' --alpha 2").exit_code, 2);
    EXPECT_EQ(check("'" + out().string() + "' --preset cells").exit_code, 2);
    EXPECT_EQ(check(circles() + " --data " + circles()).exit_code, 2);
}

TEST_F(Check, OfASparseGraphUsesItsEdges) {
    const auto done = check(circles(10) + " --preset paper --neighbors 3 --json");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const Json report = Json::parse(done.out);
    EXPECT_EQ(report["scales"][39]["betti0"], 1);
    EXPECT_LT(report["scales"][39]["edges"].get<int>(), 40 * 39 / 2);
    EXPECT_EQ(finding(report, "no eigenvalue falls")["verdict"], "holds");
}

TEST_F(Check, AnalysesPointsWithNegativeCoordinates) {
    const auto path = file("cloud.csv", "a,b,c,d\n-1,0,3,4\n2,-2,0,1\n");
    EXPECT_EQ(check("'" + path + "'").exit_code, 2);
    const auto done = check("'" + path + "' --points --json -o '" + out("check.json").string() + "'");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(Json::parse(done.out)["cells"], 4);
    EXPECT_EQ(read_file(out("check.json")), done.out);
}

// Section "Empirical Validation of Scale-Controlled Variations": r and p of its figure.
TEST_F(Check, PublishedCirclesHaveThePapersCorrelations) {
    const auto data = shared_data("circles/input.mat");
    if (!data) {
        GTEST_SKIP() << missing_data("circles/input.mat");
    }
    const std::string input = "'" + data->string() + "' --cells rows --variable X";
    expect_done(input + " --algorithm reference --rank 2 --lambda1 100 --lambda2 100 --lambda3 1", out());
    const auto done = check("'" + out().string() + "' --json --data " + input);
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const Json correlations = Json::parse(done.out)["correlations"];
    const auto expect = [&](const char* name, double r, double p) {
        EXPECT_NEAR(correlations[name]["r"].get<double>(), r, 5e-5) << name;
        EXPECT_NEAR(correlations[name]["p"].get<double>() / p, 1.0, 2e-3) << name;
    };
    expect("epsilon_laplacian", 0.9995, 5.57e-118);
    expect("laplacian_embedding", 0.5700, 4.17e-8);
    expect("epsilon_embedding", 0.5571, 9.71e-8);
}

} // namespace
} // namespace pnmf::test
