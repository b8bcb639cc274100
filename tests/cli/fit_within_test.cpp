#include "fit_fixture.hpp"

#include <pnmf/results/stored_result.hpp>

#include <algorithm>

/// `pnmf fit --within`: the cells of one cluster of an earlier result.
namespace pnmf::test {
namespace {

using ::testing::HasSubstr;

class FitWithin : public Fit {
  protected:
    CommandResult fit(const std::string& arguments, const std::string& folder) const {
        return run_command(command(arguments, out(folder)));
    }
    std::vector<std::string> cells_of(const std::string& folder) const {
        return read_stored_result(out(folder)).file.cell_names;
    }
    /// Of the column of clusters.
    std::vector<std::string> cells_in(const std::string& folder, const std::string& cluster) const {
        const StoredResult result = read_stored_result(out(folder));
        std::vector<std::string> cells;
        for (const TableColumn& column : result.file.cell_table) {
            for (std::size_t j = 0; column.name == "pnmf_clusters" && j < result.file.cell_names.size();
                 ++j) {
                if (std::get<std::vector<std::string>>(column.values)[j] == cluster) {
                    cells.push_back(result.file.cell_names[j]);
                }
            }
        }
        return cells;
    }
    std::string cluster(const std::string& name) const {
        return "'" + out("whole").string() + ":" + name + "'";
    }
};

TEST_F(FitWithin, HasTheCellsOfTheClusterAlone) {
    const std::string data = circles();
    ASSERT_EQ(fit(data + " --clusters 2 --no-report", "whole").exit_code, 0);
    const std::vector<std::string> wanted = cells_in("whole", "2");
    ASSERT_GT(wanted.size(), 1U);
    const CommandResult done = fit(data + " --clusters 2 --no-report --within " + cluster("2"), "part");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(cells_of("part"), wanted);
    EXPECT_THAT(done.err, HasSubstr("cluster 2 of"));
    EXPECT_EQ(fit(data + " --no-report --within " + cluster("pnmf_clusters=2"), "again").exit_code, 0);
    EXPECT_EQ(cells_of("again"), wanted);
}

TEST_F(FitWithin, IsReadAgainFromTheWholeData) {
    const std::string data = circles();
    ASSERT_EQ(fit(data + " --clusters 2 --no-report", "whole").exit_code, 0);
    ASSERT_EQ(fit(data + " --save-basis --no-report --within " + cluster("1"), "part").exit_code, 0);
    const CommandResult done = run_command("'" + program().string() + "' transform '" + out("part").string() +
                                           "' " + data + " --graph " + data.substr(0, data.find(" --")) +
                                           " -o '" + out("new.h5ad").string() + "'");
    EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST_F(FitWithin, SaysWhatIsNotThere) {
    const std::string data = circles();
    ASSERT_EQ(fit(data + " --clusters 2 --no-report", "whole").exit_code, 0);
    const auto refused = [&](const std::string& within) {
        const CommandResult done = fit(data + " --within " + within, "part");
        EXPECT_NE(done.exit_code, 0) << within;
        return done.err;
    };
    EXPECT_THAT(refused(cluster("7")), HasSubstr("has no cluster '7'; there are 1, 2"));
    EXPECT_THAT(refused(cluster("type=1")), HasSubstr("obs has no column of names 'type'"));
    EXPECT_THAT(refused("3"), HasSubstr("RESULT:CLUSTER"));
    const std::vector<std::string> first = cells_in("whole", "1");
    const bool has_last = std::find(first.begin(), first.end(), "c19") != first.end();
    const CommandResult other = fit(circles(3) + " --within " + cluster(has_last ? "1" : "2"), "part");
    EXPECT_THAT(other.err, HasSubstr("are not in the data"));
}

} // namespace
} // namespace pnmf::test
