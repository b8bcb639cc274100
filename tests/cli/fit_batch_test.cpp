#include "fit_fixture.hpp"

#include <pnmf/io/write.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/simulate/simulate.hpp>

/// `pnmf fit --batch`, and what the other verbs make of its result.
namespace pnmf::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FitBatch : public Fit {
  protected:
    /// Counts of three types in two batches: in the second each gene is seen more or less often by a factor
    /// of its own, the same for all types.
    std::string data() const {
        constexpr Index cells = 120;
        constexpr Index genes = 200;
        const CellModel model = make_cell_model({.cells = cells,
                                                 .genes = genes,
                                                 .types = 3,
                                                 .imbalance = 0.0,
                                                 .changed = 0.3,
                                                 .fold = 1.5,
                                                 .depth = 2000.0,
                                                 .seed = 2});
        SimulatedCells drawn = simulate_cells(model, 0, cells);
        AnnDataFile file;
        for (Index i = 0; i < genes; ++i) {
            file.feature_names.push_back("g" + std::to_string(i));
        }
        std::vector<std::string> types;
        std::vector<double> lanes;
        std::vector<std::string> runs;
        for (Index j = 0; j < cells; ++j) {
            file.cell_names.push_back("c" + std::to_string(j));
            types.push_back("type" + std::to_string(drawn.types[static_cast<std::size_t>(j)]));
            lanes.push_back(1.0 + static_cast<double>(j % 2));
            runs.push_back(j == 0 ? "" : j == 1 ? "odd" : "even");
            for (auto e = drawn.counts.start[j]; j % 2 == 1 && e < drawn.counts.start[j + 1]; ++e) {
                drawn.counts.value[e] *= drawn.counts.row[e] % 5 == 0 ? 20.0 : 1.0;
            }
        }
        file.cell_table.push_back({.name = "type", .values = types, .categorical = true});
        file.cell_table.push_back({.name = "lane", .values = lanes, .number = NumberType::integer});
        file.cell_table.push_back({.name = "run", .values = runs, .categorical = true});
        file.X = std::move(drawn.counts);
        write_anndata(out("counts.h5ad"), file);
        return "'" + out("counts.h5ad").string() + "'";
    }
    CommandResult pnmf(const std::string& arguments) const {
        return run_command("'" + program().string() + "' " + arguments);
    }
    CommandResult typed(const std::string& arguments, const std::string& folder = "out") const {
        return pnmf("fit " + arguments + " -o '" + out(folder).string() + "'");
    }
    Json summary(const std::string& folder = "out") const {
        return Json::parse(read_file(out(folder) / "summary.json"));
    }
};

TEST_F(FitBatch, MixesBatchesAndKeepsTypesAndSaysSo) {
    const std::string counts = data();
    const CommandResult done = typed(counts + " --batch lane --labels type --save-basis");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.err, HasSubstr("in each of 2 batches"));
    EXPECT_THAT(done.err, HasSubstr("not corrected"));
    EXPECT_THAT(done.out, HasSubstr("mixing of batches"));
    const Json batch = summary()["batch"];
    EXPECT_EQ(batch["column"], "lane");
    EXPECT_EQ(batch["batches"][0]["name"], "1");
    EXPECT_EQ(batch["batches"][1]["cells"], 60);
    ASSERT_EQ(typed(counts + " --labels type --no-report", "plain").exit_code, 0);
    EXPECT_FALSE(summary("plain").contains("batch"));
    EXPECT_LT(summary("plain")["label_ari"].get<double>(), 0.8) << "clusters that follow batches";
    EXPECT_GT(summary()["label_ari"].get<double>(), 0.95);
    EXPECT_GT(batch["mixing"].get<double>(), batch["mixing_before"].get<double>());
    EXPECT_GT(batch["label_purity"].get<double>(), 0.9);
    const bool apart = batch["mixing"].get<double>() < 0.5;
    EXPECT_EQ(done.out.find("The embedding keeps batches apart") != std::string::npos, apart) << done.out;

    const StoredResult stored = read_stored_result(out());
    ASSERT_TRUE(stored.batches.has_value());
    EXPECT_THAT(stored.batches->names, ElementsAre("1", "2"));
    EXPECT_EQ(stored.options().filtration.batch, stored.batches->of_cell);
    EXPECT_THAT(read_file(out() / "report.html"), HasSubstr("<html"));

    const std::string there = " '" + out().string() + "' ";
    const CommandResult checked = pnmf("check" + there + "--data " + counts);
    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_THAT(checked.out, Not(HasSubstr("fails")));
    const CommandResult other = pnmf("check" + there + "--data " + counts + " --batch type");
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("the batches lane, but type is asked for"));
    const Json scored = Json::parse(pnmf("score" + there + "--labels type --json --seeds 1").out);
    EXPECT_EQ(scored["batch"]["mixing"], batch["mixing"]);
    const CommandResult embedded = pnmf("transform" + there + counts + " --graph " + counts + " -o '" +
                                        out("embedded.h5ad").string() + "'");
    EXPECT_EQ(embedded.exit_code, 0) << embedded.err;
}

TEST_F(FitBatch, RefusesWhatCannotBeBalanced) {
    const std::string counts = data();
    const auto refused = [&](const std::string& arguments, const std::string& reason) {
        const CommandResult done = typed(counts + " " + arguments, "refused");
        EXPECT_EQ(done.exit_code, 2) << done.err;
        EXPECT_THAT(done.err, HasSubstr(reason));
        EXPECT_FALSE(fs::exists(out("refused")));
    };
    refused("--batch donor", "the data have type, lane, run");
    refused("--batch run", "1 of 120 cells have none, the first is c0");
    refused("--batch lane --preset paper --transform log-unit", "give their number");
    const std::string one = file("one.tsv", [] {
        std::string table = "cell\trun\n";
        for (Index j = 0; j < 120; ++j) {
            table += "c" + std::to_string(j) + "\tonly\n";
        }
        return table;
    }());
    refused("--batch '" + one + "'", "all cells are of batch 'only'");
}

} // namespace
} // namespace pnmf::test
