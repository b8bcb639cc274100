#include "fit_fixture.hpp"

#include <pnmf/metrics/clustering_scores.hpp>
#include <pnmf/results/stored_result.hpp>

#include <cmath>
#include <numbers>
#include <set>

/// `pnmf simulate loop` and `pnmf loops`.
namespace pnmf::test {
namespace {

using ::testing::HasSubstr;

class LoopsVerb : public Fit {
  protected:
    CommandResult pnmf(const std::string& arguments) const {
        return run_command("'" + program().string() + "' " + arguments);
    }
    std::string at(const std::string& name) const { return "'" + out(name).string() + "'"; }
    void draw(const std::string& arguments) const {
        const CommandResult drawn = pnmf("simulate " + arguments);
        ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
    }
    std::vector<double> column(const std::string& file, const std::string& name) const {
        for (const TableColumn& one : read_anndata(out(file)).cell_table) {
            if (one.name == name) {
                return std::get<std::vector<double>>(one.values);
            }
        }
        return {};
    }
    std::vector<std::string> labels_in(const std::string& folder, const std::string& name) const {
        for (const TableColumn& one : read_anndata(out(folder) / "result.h5ad").cell_table) {
            if (one.name == name) {
                return std::get<std::vector<std::string>>(one.values);
            }
        }
        return {};
    }
    Matrix space_of(const std::string& folder) const {
        return read_stored_result(out(folder)).space->coordinates;
    }
    /// The mean resultant of the differences of two columns of angles, for either direction.
    static double agreement(const std::vector<double>& a, const std::vector<double>& b) {
        double best = 0.0;
        for (const double sign : {1.0, -1.0}) {
            double sine = 0.0;
            double cosine = 0.0;
            for (std::size_t j = 0; j < a.size(); ++j) {
                sine += std::sin(a[j] - sign * b[j]);
                cosine += std::cos(a[j] - sign * b[j]);
            }
            best = std::max(best, std::hypot(sine, cosine) / static_cast<double>(a.size()));
        }
        return best;
    }
};

TEST_F(LoopsVerb, PhasesOfALoopAreFoundAndKept) {
    draw("loop --cells 300 --genes 200 -o " + at("cells.h5ad"));
    const CommandResult done =
        pnmf("loops " + at("cells.h5ad") + " --clouds 19 --json --keep -o " + at("phases.tsv") + " --list 3");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const Json said = Json::parse(done.out);
    ASSERT_EQ(said["loops"].size(), 1U);
    EXPECT_EQ(said["loops"][0]["p_value"], 0.05);
    EXPECT_GT(said["loops"][0]["persistence"].get<double>(), 0.2);
    EXPECT_GT(said["loops"][0]["cells"].get<int>(), 200);
    EXPECT_EQ(said["loops"][0]["genes"].size(), 3U);
    EXPECT_THAT(read_file(out("phases.tsv")), HasSubstr("cell\tpnmf_loop_1\ncell1\t"));
    const AnnDataMap kept = read_anndata(out("cells.h5ad")).uns;
    const auto first = [&](const std::string& entry) {
        return std::get<std::vector<double>>(
            std::get<NumericArray>(find(kept, "pnmf_loops/" + entry)->value).values)[0];
    };
    EXPECT_EQ(first("birth"), said["loops"][0]["birth"].get<double>());
    EXPECT_EQ(first("death"), said["loops"][0]["death"].get<double>());
    EXPECT_EQ(first("p_values"), 0.05);
    const std::vector<double> truth = column("cells.h5ad", "phase");
    ASSERT_EQ(truth.size(), 300U);
    EXPECT_GT(agreement(column("cells.h5ad", "pnmf_loop_1"), truth), 0.9);
    const std::string gene = said["loops"][0]["genes"][0]["gene"];
    const CommandResult turned =
        pnmf("loops " + at("cells.h5ad") + " --clouds 19 --json --list 1 --genes-zero " + gene);
    ASSERT_EQ(turned.exit_code, 0) << turned.err;
    EXPECT_NEAR(std::cos(Json::parse(turned.out)["loops"][0]["genes"][0]["peak"].get<double>()), 1.0, 1e-9);
}

TEST_F(LoopsVerb, AResultIsLookedAtInItsSpace) {
    draw("loop --cells 200 --genes 200 -o " + at("cells.h5ad"));
    const CommandResult fit = pnmf("fit " + at("cells.h5ad") + " --max-scales 3 --no-report -o " + at("fit"));
    ASSERT_EQ(fit.exit_code, 0) << fit.err;
    const CommandResult done = pnmf("loops " + at("fit") + " --clouds 19 --keep");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_THAT(done.out, HasSubstr("loop 1: persistence "));
    EXPECT_GT(agreement(column("fit/result.h5ad", "pnmf_loop_1"), column("cells.h5ad", "phase")), 0.9);
    const CommandResult genes = pnmf("loops " + at("fit") + " --clouds 19 --data " + at("cells.h5ad"));
    EXPECT_THAT(genes.out, HasSubstr("adjusted p"));
    EXPECT_THAT(genes.err, HasSubstr("nothing was stored"));
    EXPECT_EQ(pnmf("loops " + at("fit") + " --genes 100").exit_code, 2);
    EXPECT_THAT(pnmf("loops " + at("fit") + " --clouds 19 --genes-zero gene1").err, HasSubstr("give --data"));
}

TEST_F(LoopsVerb, ALoopIsLeftOutOfTheSpaceOfAFitByItsNumberOrItsPhases) {
    draw("loop --cells 200 --genes 200 -o " + at("cells.h5ad"));
    const std::string fit = "fit " + at("cells.h5ad") + " --max-scales 3 --clusters 3 --no-report -o ";
    const CommandResult number = pnmf(fit + at("number") + " --without-loop 1");
    ASSERT_EQ(number.exit_code, 0) << number.err;
    EXPECT_THAT(number.err, HasSubstr("loop 1 of 1 (persistence "));
    EXPECT_THAT(number.err, HasSubstr("is left out of the space in which cells are compared"));
    EXPECT_THAT(number.err, HasSubstr("a fit with the loop comes first"));
    EXPECT_THAT(number.out, HasSubstr("without the loop "));
    const Json summary = Json::parse(read_file(out("number/summary.json")));
    const CommandResult none = pnmf("loops " + at("number") + " --clouds 19 --json");
    EXPECT_EQ(Json::parse(none.out)["loops"], Json::array()) << "the space of the result has it no more";
    ASSERT_EQ(pnmf("loops " + at("cells.h5ad") + " --clouds 19 --keep").exit_code, 0);
    ASSERT_EQ(pnmf(fit + at("phases") + " --without-loop pnmf_loop_1").exit_code, 0);
    EXPECT_EQ(space_of("phases"), space_of("number"));
    ASSERT_EQ(pnmf(fit + at("whole")).exit_code, 0);
    EXPECT_LT(space_of("number").norm(), 0.95 * space_of("whole").norm());
    // The loop is in the space alone, so the fit with it is the fit that was asked for without the option.
    const std::vector<std::string> with = labels_in("number", "pnmf_clusters_with_loop");
    EXPECT_EQ(with, labels_in("whole", "pnmf_clusters"));
    const std::vector<std::string> without = labels_in("number", "pnmf_clusters");
    EXPECT_EQ(summary["with_loop"]["clusters"], std::set<std::string>(with.begin(), with.end()).size());
    EXPECT_NEAR(summary["with_loop"]["ari"].get<double>(),
                adjusted_rand_index(relabel(with), relabel(without)), 1e-12);
    EXPECT_NE(with, without) << "or the test would see nothing";
    const CommandResult graph = pnmf("transform " + at("number") + " " + at("cells.h5ad") + " --graph " +
                                     at("cells.h5ad") + " -o " + at("new.h5ad"));
    EXPECT_THAT(graph.err, HasSubstr("new cells have no phase on it"));
}

TEST_F(LoopsVerb, ALoopThatIsNotThereCannotBeLeftOut) {
    draw("cells --cells 120 --genes 100 --types 3 -o " + at("types.h5ad"));
    const auto refused = [&](const std::string& flags) {
        const CommandResult done = pnmf("fit " + at("types.h5ad") + " -o " + at("fit") + flags);
        EXPECT_EQ(done.exit_code, 2) << flags;
        return done.err;
    };
    EXPECT_THAT(refused(" --without-loop 1"),
                HasSubstr("there is no loop 1 to leave out: none is found up to "));
    EXPECT_THAT(refused(" --without-loop 0"), HasSubstr("there is no loop 0"));
    EXPECT_THAT(refused(" --without-loop phase"), HasSubstr("there is no column of numbers 'phase'"));
    EXPECT_THAT(refused(" --without-loop label"), HasSubstr("there is no column of numbers 'label'"));
    EXPECT_THAT(refused(" --without-loop 1 --space none"), HasSubstr("take principal components"));
}

TEST_F(LoopsVerb, SaysWhenThereIsNoLoopItCanVouchFor) {
    draw("cells --cells 120 --genes 100 --types 1 -o " + at("one.h5ad"));
    const CommandResult done = pnmf("loops " + at("one.h5ad") + " --clouds 19 --json --keep");
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(Json::parse(done.out)["loops"], Json::array());
    EXPECT_THAT(done.err, HasSubstr("no loop: "));
    EXPECT_TRUE(column("one.h5ad", "pnmf_loop_1").empty());
    const CommandResult level = pnmf("loops " + at("one.h5ad") + " --clouds 9");
    EXPECT_EQ(level.exit_code, 2);
    EXPECT_THAT(level.err, HasSubstr("draw more by --clouds"));
    EXPECT_EQ(pnmf("simulate loop -o " + at("cells.csv")).exit_code, 2);
    std::ofstream(out("few.csv")) << "a,b,c\n1,2,3\n0,1,1\n2,2,9\n";
    const CommandResult few = pnmf("loops " + at("few.csv"));
    EXPECT_EQ(few.exit_code, 0);
    EXPECT_THAT(few.err, HasSubstr("it takes at least 20 cells to find one, there are 3"));
    const CommandResult nowhere = pnmf("loops " + at("few.csv") + " --keep");
    EXPECT_EQ(nowhere.exit_code, 2);
    EXPECT_THAT(nowhere.err, HasSubstr("-o writes a table"));
}

} // namespace
} // namespace pnmf::test
