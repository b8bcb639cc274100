#include "fit_fixture.hpp"

/// `pnmf simulate branches` and `pnmf paths`.
namespace pnmf::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PathsVerb : public Fit {
  protected:
    CommandResult pnmf(const std::string& arguments) const {
        return run_command("'" + program().string() + "' " + arguments);
    }
    std::string at(const std::string& name) const { return "'" + out(name).string() + "'"; }
    /// A fit of a trunk and two arms.
    void fit_branches(const std::string& extra = "") const {
        const CommandResult drawn =
            pnmf("simulate branches --cells 150 --genes 150 --ends 2 --depth 2000 -o " + at("cells.h5ad"));
        ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
        const CommandResult done =
            pnmf("fit " + at("cells.h5ad") + " --max-scales 5 --no-report -o " + at("fit") + " " + extra);
        ASSERT_EQ(done.exit_code, 0) << done.err;
    }
};

TEST_F(PathsVerb, BranchesAreDrawnWithWhatIsKnownAboutThem) {
    fit_branches();
    const AnnDataFile file = read_anndata(out("cells.h5ad"));
    ASSERT_EQ(file.cell_table.size(), 3U);
    EXPECT_EQ(file.cell_table[0].name, "label");
    const auto& branches = std::get<std::vector<std::string>>(file.cell_table[0].values);
    const auto& ends = std::get<std::vector<std::string>>(file.cell_table[1].values);
    const auto& times = std::get<std::vector<double>>(file.cell_table[2].values);
    for (std::size_t j = 0; j < times.size(); ++j) {
        EXPECT_EQ(times[j] < 1.0, branches[j] == "branch1") << "the trunk comes before the fork";
        EXPECT_EQ(ends[j] == "1+2", branches[j] == "branch1");
    }
    EXPECT_EQ(pnmf("simulate branches -o " + at("cells.csv")).exit_code, 2);
    EXPECT_EQ(pnmf("simulate branches --ends 0 -o " + at("none.h5ad")).exit_code, 2);
}

TEST_F(PathsVerb, OrdersTheCellsFromAGroupAndKeepsWhatItFinds) {
    fit_branches();
    const CommandResult found =
        pnmf("paths " + at("fit") + " --root branch1 --groups label --ends branch2,branch3 --json -o " +
             at("paths.tsv") + " --keep");
    ASSERT_EQ(found.exit_code, 0) << found.err;
    const Json said = Json::parse(found.out);
    EXPECT_EQ(said["ends"], Json({"branch2", "branch3"}));
    EXPECT_EQ(said["groups"][0]["group"], "branch1") << "the first by its times";
    EXPECT_TRUE(said["converged"].get<bool>());
    EXPECT_THAT(read_file(out("paths.tsv")), HasSubstr("cell\ttime\tbranch2\tbranch3\ncell1\t"));
    const AnnDataFile file = result(out("fit"));
    std::set<std::string> columns;
    for (const TableColumn& column : file.cell_table) {
        columns.insert(column.name);
    }
    EXPECT_TRUE(columns.contains("pnmf_time"));
    EXPECT_TRUE(columns.contains("pnmf_fate_branch3"));
    EXPECT_THAT(found.err, Not(HasSubstr("nothing was stored")));
    const CommandResult table = pnmf("paths " + at("fit") + " --root cell1");
    EXPECT_THAT(table.err, HasSubstr("nothing was stored: --keep puts"));
    EXPECT_EQ(table.exit_code, 0) << table.err;
    EXPECT_THAT(table.out, HasSubstr("from cell cell1 to "));
    EXPECT_THAT(table.out, HasSubstr("median time"));
}

TEST_F(PathsVerb, RefusesWhatIsNotThereAndAsksForDataThatItNeeds) {
    fit_branches("--space none");
    const auto refused = [&](const std::string& arguments, const std::string& reason) {
        const CommandResult done = pnmf("paths " + at("fit") + " " + arguments);
        EXPECT_EQ(done.exit_code, 2) << done.out;
        EXPECT_THAT(done.err, HasSubstr(reason));
    };
    refused("--root cell1", "--data");
    const std::string data = " --data " + at("cells.h5ad");
    EXPECT_EQ(pnmf("paths " + at("fit") + " --root cell1" + data).exit_code, 0);
    refused("--root nobody" + data, "neither a cell nor a group of 'pnmf_clusters'");
    refused("--root cell1 --groups kind" + data, "no column 'kind'");
    refused("--root cell1 --groups label --ends branch9" + data, "branch1, branch2, branch3");
    refused("", "--root");
}

} // namespace
} // namespace pnmf::test
