#include "cli/fit_fixture.hpp"

#include <pnmf/solvers/solver.hpp>

#include <algorithm>

namespace pnmf::test {
namespace {

using ::testing::HasSubstr;

class FitInput : public Fit {
  protected:
    void expect_refused(const std::string& arguments, const std::string& message) const {
        const CommandResult refused = fit(arguments, out());
        EXPECT_EQ(refused.exit_code, 2) << arguments;
        EXPECT_EQ(refused.out, "") << arguments;
        EXPECT_THAT(refused.err, HasSubstr(message)) << arguments;
        EXPECT_FALSE(fs::exists(out())) << arguments << ": nothing may be made for bad input";
    }
    std::string small_ = file("small.csv", "1,2,4,8\n3,1,2,2\n1,1,2,3\n");
};

TEST_F(FitInput, WithAnOptionOutOfItsRangeIsRefused) {
    expect_refused(small_ + " --lambda1 -1", "lambda1 must be a finite number, at least 0, got -1");
    expect_refused(small_ + " --lambda2 -0.5", "lambda2");
    expect_refused(small_ + " --lambda3 nan", "lambda3");
    expect_refused(small_ + " --alpha 0", "alpha must be a finite number above 0, got 0");
    expect_refused(small_ + " --rank 4", "between 1 and min(features, cells) = 3, got 4");
    expect_refused(small_ + " --rank 0", "got 0");
    expect_refused(small_ + " --rank two", "--rank");
    expect_refused(small_ + " --tolerance -1", "tolerance must be a finite number, at least 0, got -1");
    expect_refused(small_ + " --max-sweeps -1", "max-sweeps must be at least 0, got -1");
    expect_refused(small_ + " --inner-limit 0", "inner-limit must be at least 1");
    expect_refused(small_ + " --basis-passes 0", "basis-passes must be at least 1");
    expect_refused(small_ + " --embedding-passes 0", "embedding-passes must be at least 1");
    expect_refused(small_ + " --neighbors 4", "less than the 4 cells, got 4");
    expect_refused(small_ + " --max-scales 1", "got 1");
    expect_refused(small_ + " --algorithm best", "best");
    expect_refused(small_ + " --threads 0", "--threads");
    expect_refused(small_ + " --checkpoint-every -1", "--checkpoint-every");
    expect_refused(small_ + " --device abacus", "--device");
}

TEST_F(FitInput, ForADeviceThatCannotBeUsedIsRefusedWithTheReason) {
    expect_refused(small_ + " --device cuda --algorithm paper", "made on the cpu alone");
    const std::vector<std::string> known = devices();
    if (std::find(known.begin(), known.end(), "cuda") == known.end()) {
        expect_refused(small_ + " --device cuda", "it was configured without it");
    }
    const Json json = Json::parse(expect_done(small_ + " --device auto --json", out()).out);
    EXPECT_EQ(json["device"], "cpu"); // too small to gain by another
}

TEST_F(FitInput, ThatIsNoDataIsRefused) {
    expect_refused((folder_ / "absent.csv").string(), "absent.csv: no such file");
    expect_refused(file("nan.csv", "1,2\n3,nan\n"), "is NaN");
    expect_refused(file("negative.csv", "1,2\n3,-4\n"), "is negative");
    expect_refused(file("empty.csv", ""), "empty.csv");
    expect_refused(file("zero.csv", "0,0\n0,0\n"), "zero everywhere");
    expect_refused(file("cell.csv", "1,0,2\n3,0,1\n"), "--drop-empty");
    expect_refused(small_ + " --labels absent", "absent");
    expect_refused(small_ + " --start-from '" + (folder_ / "absent.h5ad").string() + "'", "absent.h5ad");
    expect_refused(small_ + " --resume", "there is no checkpoint to resume");
}

TEST_F(FitInput, OfAZarrStoreGivesTheBitsOfItsFile) {
    const std::string file = circles();
    write_zarr(out("circles.zarr"), out("circles5.h5ad"));
    const std::string options = " --transform none --rank 3 --max-sweeps 5 --tolerance 0";
    expect_done(file + " --rank 3 --max-sweeps 5 --tolerance 0", out("of_file"));
    expect_done("'" + out("circles.zarr").string() + "'" + options, out("of_store"));
    const auto stored = [&](const char* folder) { return out(folder) / "result.h5ad"; };
    const Index scales = array_shape(stored("of_file"), "uns/pnmf/H")[0];
    ASSERT_EQ(array_shape(stored("of_store"), "uns/pnmf/H")[0], scales);
    for (Index t = 0; t < scales; ++t) {
        EXPECT_EQ(read_slab(stored("of_store"), "uns/pnmf/H", t),
                  read_slab(stored("of_file"), "uns/pnmf/H", t));
    }
    EXPECT_EQ(read_file(out("of_store") / "programs.tsv"), read_file(out("of_file") / "programs.tsv"));
}

TEST_F(FitInput, OfFewOrEqualCellsHasADefinedResult) {
    const auto objective = [&](const std::string& name, const std::string& values) {
        const Json json = Json::parse(expect_done(file(name, values) + " --lambda3 0 --json", out()).out);
        const AnnDataFile file = result(out());
        EXPECT_TRUE(file.obsm.at("X_pnmf").allFinite()) << name;
        EXPECT_TRUE(json["objective"]["total"].is_number()) << name;
        EXPECT_EQ(json["stop"], "converged") << name;
        return json["objective"]["total"].get<double>();
    };
    // Without an anchor one pattern describes equal cells exactly.
    EXPECT_NEAR(objective("one.csv", "1\n3\n2\n"), 0.0, 1e-9);
    EXPECT_NEAR(objective("equal.csv", "1,1,1,1\n3,3,3,3\n2,2,2,2\n"), 0.0, 1e-9);
    objective("two.csv", "1,2\n3,5\n1,1\n");
    objective("twins.csv", "1,1,4,4\n3,3,2,2\n1,1,1,1\n");
    objective("gene.csv", "1,2,3,4\n");
    const Json dropped =
        Json::parse(expect_done(file("cell.csv", "1,0,2\n3,0,1\n") + " --drop-empty --json", out()).out);
    EXPECT_EQ(dropped["cells"], 2);
}

} // namespace
} // namespace pnmf::test
