#include "cli/fit_fixture.hpp"

#include <pnmf/metrics/clustering_scores.hpp>

namespace pnmf::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string quick = " --rank 3 --max-sweeps 4 --tolerance 0";

TEST_F(Fit, WritesAResultAndPrintsItsSummary) {
    const CommandResult done = expect_done(circles() + " --rank 3", out());
    EXPECT_THAT(names_in(out()), ElementsAre("report.html", "result.h5ad", "summary.json"));
    EXPECT_THAT(done.out, AllOf(HasSubstr("20 cells x 13 features, rank 3"), HasSubstr("converged after"),
                                HasSubstr((out() / "result.h5ad").string())));
    EXPECT_THAT(done.err, AllOf(HasSubstr("20 scales"), Not(HasSubstr("sweep")), Not(HasSubstr("\r"))));
    EXPECT_THAT(done.out, Not(HasSubstr("warning")));
    const AnnDataFile file = result(out());
    EXPECT_THAT(array(file, "H").shape, ElementsAre(20, 3, 20));
    EXPECT_EQ(find(file.uns, "pnmf/W"), nullptr);
}

TEST_F(Fit, PrintsJsonThatIsTheSummaryFile) {
    const CommandResult done = expect_done(circles() + quick + " --json", out());
    const Json json = Json::parse(done.out);
    EXPECT_EQ(json, Json::parse(read_file(out() / "summary.json")));
    EXPECT_EQ(json["cells"], 20);
    EXPECT_EQ(json["features"], 13);
    EXPECT_EQ(json["sweeps"], 4);
    EXPECT_EQ(json["stop"], "sweep limit");
    EXPECT_EQ(json["options"]["rank"], 3);
    EXPECT_EQ(json["options"]["max-sweeps"], 4);
    EXPECT_LE(json["objective"]["total"].get<double>(), json["objective_start"]["total"].get<double>());
    EXPECT_THAT(done.err, HasSubstr("warning: not converged after 4 sweeps"));
}

TEST_F(Fit, GivesTheSameBitsForAnyNumberOfThreadsAndFromRunToRun) {
    for (const std::string algorithm : {"stationary", "reference", "paper"}) {
        const std::string arguments = circles() + quick + " --algorithm " + algorithm + " --threads ";
        expect_done(arguments + "1", out());
        const std::string first = read_file(out() / "result.h5ad");
        const AnnDataFile one = result(out());
        expect_done(arguments + "1", out());
        EXPECT_TRUE(read_file(out() / "result.h5ad") == first) << algorithm << ": same command, other bytes";
        for (const char* threads : {"2", "4"}) {
            expect_done(arguments + threads, out());
            expect_same_numbers(result(out()), one, algorithm + " with threads " + threads);
        }
    }
}

TEST_F(Fit, InFloatIsNearDouble) {
    expect_done(circles() + quick, out("double"));
    expect_done(circles() + quick + " --precision float", out("float"));
    const AnnDataFile wide = result(out("double"));
    const AnnDataFile narrow = result(out("float"));
    EXPECT_TRUE(std::holds_alternative<std::vector<float>>(array(narrow, "H").values));
    const Matrix& a = wide.obsm.at("X_pnmf");
    // Along flat directions of the objective rounding moves H by some thousandths, differently on each
    // machine.
    EXPECT_LT((narrow.obsm.at("X_pnmf") - a).norm(), 1e-2 * a.norm());
}

TEST_F(Fit, RunsWithEveryAlgorithmStartAndSeeding) {
    const std::string input = circles(3) + quick;
    for (const char* choice :
         {"--algorithm stationary", "--algorithm reference", "--algorithm paper", "--start nested",
          "--start chained", "--start broadcast", "--seeding nndsvda", "--seeding nndsvd",
          "--seeding nndsvdar", "--seeding random", "--stop-rule relative-decrease", "--metric cosine",
          "--neighbors 3", "--scales uniform", "--scales random", "--scales sufficient", "--max-scales 4"}) {
        const Json json = Json::parse(expect_done(input + " --json " + choice, out()).out);
        const std::string words = choice;
        const auto space = words.find(' ');
        const Json& recorded = json["options"][words.substr(2, space - 2)];
        EXPECT_EQ(recorded.is_string() ? recorded.get<std::string>() : recorded.dump(),
                  words.substr(space + 1));
    }
}

TEST_F(Fit, RunsWithAnyWeightZero) {
    const std::string input = circles(3) + quick;
    const auto objective = [&](const std::string& weights) {
        return Json::parse(expect_done(input + weights + " --json", out()).out)["objective"];
    };
    EXPECT_EQ(objective(" --lambda1 0")["graph"], 0.0);
    EXPECT_EQ(objective(" --lambda2 0")["smoothness"], 0.0);
    EXPECT_EQ(objective(" --lambda3 0")["anchor"], 0.0);
    const Json none = objective(" --lambda1 0 --lambda2 0 --lambda3 0");
    EXPECT_EQ(none["total"], none["fit"]);
}

TEST_F(Fit, ThatDidNotConvergeEndsWithCode3WhenStrict) {
    const CommandResult strict = fit(circles() + " --rank 3 --max-sweeps 1 --tolerance 0 --strict", out());
    EXPECT_EQ(strict.exit_code, 3);
    EXPECT_THAT(strict.err, HasSubstr("not converged after 1 sweep"));
    EXPECT_TRUE(fs::exists(out() / "result.h5ad"));
    EXPECT_EQ(fit(circles() + " --rank 3 --strict", out()).exit_code, 0);
}

struct TraceRows {
    std::vector<double> sweeps;
    std::size_t steps = 0;
};

TraceRows read_trace(const fs::path& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    EXPECT_EQ(line, "kind\tsweep\tscale\tstep\tobjective");
    TraceRows rows;
    while (std::getline(in, line)) {
        const double objective = std::stod(line.substr(line.rfind('\t') + 1));
        if (line.starts_with("sweep\t")) {
            EXPECT_THAT(line, HasSubstr("sweep\t" + std::to_string(rows.sweeps.size()) + "\t"));
            rows.sweeps.push_back(objective);
        } else {
            EXPECT_THAT(line, HasSubstr("step\t" + std::to_string(rows.sweeps.size()) + "\t"));
            ++rows.steps;
        }
    }
    return rows;
}

TEST_F(Fit, TracesTheObjectiveOfEverySweepAndStep) {
    for (const std::string algorithm : {"stationary", "paper", "reference"}) {
        SCOPED_TRACE(algorithm);
        expect_done(circles(3) + quick + " --algorithm " + algorithm + " --trace '" +
                        (folder_ / "trace.tsv").string() + "'",
                    out());
        const TraceRows rows = read_trace(folder_ / "trace.tsv");
        EXPECT_EQ(rows.sweeps, std::get<std::vector<double>>(array(result(out()), "objective").values));
        EXPECT_GE(rows.steps, rows.sweeps.size() - 1);
        if (algorithm != "reference") {
            EXPECT_TRUE(std::is_sorted(rows.sweeps.rbegin(), rows.sweeps.rend()));
        }
    }
}

TEST_F(Fit, CarriesLabelsAndNamesToItsResult) {
    expect_done(circles(3) + quick + " --labels ring", out());
    const AnnDataFile file = result(out());
    EXPECT_EQ(file.cell_names.at(11), "c11");
    EXPECT_EQ(file.feature_names.at(12), "g12");
    std::set<std::string> columns;
    for (const TableColumn& column : file.cell_table) {
        columns.insert(column.name);
        if (column.name != "pnmf_clusters") {
            EXPECT_EQ(std::get<std::vector<std::string>>(column.values).front(), "ring0") << column.name;
        }
    }
    EXPECT_THAT(columns, ElementsAre("label", "pnmf_clusters", "ring"));
}

TEST_F(Fit, LeavesCellsWithoutLabelOutOfTheAgreementAndSaysHowMany) {
    std::string table = "cell\tlabel\n";
    std::vector<std::string> labels;
    for (int j = 0; j < 12; ++j) {
        labels.push_back(j % 5 == 1 ? "NA" : "ring" + std::to_string(j % 4));
        table += "c" + std::to_string(j) + "\t" + labels.back() + "\n";
    }
    const std::string arguments = circles(3) + quick + " --labels '" + file("labels.tsv", table) + "'";
    const Json said = Json::parse(expect_done(arguments + " --json", out()).out);
    EXPECT_EQ(said["cells_without_label"], 3);
    std::vector<std::string> known;
    std::vector<std::string> clusters;
    const AnnDataFile file = result(out());
    for (const TableColumn& column : file.cell_table) {
        for (std::size_t j = 0; column.name == "pnmf_clusters" && j < labels.size(); ++j) {
            if (labels[j] != "NA") {
                known.push_back(labels[j]);
                clusters.push_back(std::get<std::vector<std::string>>(column.values)[j]);
            }
        }
    }
    EXPECT_EQ(said["label_ari"].get<double>(), adjusted_rand_index(relabel(known), relabel(clusters)));
    EXPECT_THAT(expect_done(arguments, out()).out, HasSubstr("3 of 12 cells have no label and are left out"));
}

TEST_F(Fit, StartsFromAResultThatHasItsBases) {
    const std::string input = circles(3) + " --rank 3 --tolerance 0";
    const Json first =
        Json::parse(expect_done(input + " --max-sweeps 5 --save-basis --json", out("first")).out);
    const std::string start = " --start-from '" + (out("first") / "result.h5ad").string() + "'";
    const Json second = Json::parse(expect_done(input + start + " --max-sweeps 1 --json", out("next")).out);
    EXPECT_NEAR(second["objective_start"]["total"], first["objective"]["total"],
                1e-12 * first["objective"]["total"].get<double>());

    const CommandResult fewer = fit(input + start + " --max-scales 3", out("fewer"));
    EXPECT_EQ(fewer.exit_code, 2);
    EXPECT_THAT(fewer.err, HasSubstr("as many scales as this run, 3, got 12"));
    EXPECT_FALSE(fs::exists(out("fewer")));
    const CommandResult other = fit(circles(3) + " --rank 2" + start, out("other"));
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err, HasSubstr("rank"));
    const CommandResult bare =
        fit(input + " --start-from '" + (out("next") / "result.h5ad").string() + "'", out("bare"));
    EXPECT_EQ(bare.exit_code, 2);
    EXPECT_THAT(bare.err, HasSubstr("--save-basis"));
}

TEST_F(Fit, RecordsItsCommandSoThatAShellRepeatsIt) {
    const fs::path folder = out("two words, it's");
    const CommandResult done = run_command("'" + program().string() + "' fit --preset paper " + circles(3) +
                                           quick + " --overwrite -o \"" + folder.string() + "\"");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const std::string before = read_file(folder / "result.h5ad");
    std::string again = text(result(folder), "command");
    ASSERT_TRUE(again.starts_with("pnmf fit"));
    ASSERT_EQ(run_command("'" + program().string() + "'" + again.substr(4)).exit_code, 0) << again;
    EXPECT_TRUE(read_file(folder / "result.h5ad") == before);
}

TEST_F(Fit, WithPlanSaysWhatItWouldTakeAndWritesNothing) {
    const auto plan = fit(circles(40) + " --neighbors 8 --plan --json", out("planned"));
    ASSERT_EQ(plan.exit_code, 0) << plan.err;
    EXPECT_FALSE(fs::exists(out("planned")));
    const Json json = Json::parse(plan.out);
    double sum = 0.0;
    for (const char* stage : {"reading and preparing", "neighbours and tree", "start", "sweeps",
                              "clusters and tests", "result and page"}) {
        ASSERT_TRUE(json["seconds_of"].contains(stage)) << stage;
        sum += json["seconds_of"][stage].get<double>();
    }
    EXPECT_NEAR(json["seconds"].get<double>(), sum, 1e-9);
    EXPECT_GT(sum, 0.0);
    EXPECT_GT(json["memory_bytes"].get<double>(), 1e6);
    EXPECT_GT(json["disk_free_bytes"].get<double>(), json["disk_bytes"].get<double>());

    expect_done(circles(40) + " --neighbors 8", out("run"));
    const auto again = fit(circles(40) + " --neighbors 8 --plan --no-report", out("run"));
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_THAT(again.out, ::testing::HasSubstr("clusters and tests"));
    EXPECT_THAT(again.out, ::testing::Not(::testing::HasSubstr("page")));
    EXPECT_TRUE(fs::exists(out("run") / "result.h5ad")); // what is there stays
}

} // namespace
} // namespace pnmf::test
