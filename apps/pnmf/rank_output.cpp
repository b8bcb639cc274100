#include "rank_output.hpp"

#include "say.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/version.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace pnmf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Index listed_genes = 10; ///< of each program

std::vector<std::string> gene_names(const Dataset& data, const std::vector<Index>& genes) {
    std::vector<std::string> names;
    for (const Index gene : genes) {
        names.push_back(data.feature_names[static_cast<std::size_t>(gene)]);
    }
    return names;
}

/// A bar of up to twenty signs.
std::string stability_bar(double share) {
    return std::string(static_cast<std::size_t>(std::lround(20.0 * std::clamp(share, 0.0, 1.0))), '#');
}

} // namespace

const ConsensusPrograms& RankRun::chosen_programs() const {
    const auto at = std::find(curve.ranks.begin(), curve.ranks.end(), curve.chosen) - curve.ranks.begin();
    return curve.programs[static_cast<std::size_t>(at)];
}

Json rank_json(const RankRun& run, const Dataset& data, const DenseMatrix<float>& scores) {
    const RankCurve& curve = run.curve;
    Json json;
    json["program"] = std::string("pnmf ") + PNMF_VERSION;
    json["input"] = run.input;
    json["features"] = data.features();
    json["cells"] = data.cells();
    json["restarts"] = run.options.restarts;
    json["held_out"] = run.options.held_out;
    json["seed"] = run.options.seed;
    json["fits_on_device"] = run.curve.on_device;
    json["rule"] = name_of(run.options.rule);
    json["chosen"] = curve.chosen;
    json["by_error"] = curve.by_error;
    json["by_stability"] = curve.by_stability;
    json["ranks"] = Json::array();
    for (std::size_t i = 0; i < curve.ranks.size(); ++i) {
        json["ranks"].push_back({{"rank", curve.ranks[i]},
                                 {"error", curve.error[i]},
                                 {"standard_error", curve.deviation[i]},
                                 {"difference_error", curve.difference_deviation[i]},
                                 {"stability", curve.stability[i]},
                                 {"consensus_error", curve.consensus_error[i]},
                                 {"program_stability", curve.programs[i].stability},
                                 {"program_similarity", curve.programs[i].similarity}});
    }
    const ConsensusPrograms& programs = run.chosen_programs();
    const std::vector<std::vector<Index>> best = top_genes(scores, listed_genes);
    json["programs"] = Json::array();
    for (Index k = 0; k < programs.listed(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        json["programs"].push_back({{"program", program_name(k)},
                                    {"stability", programs.stability[at]},
                                    {"similarity", programs.similarity[at]},
                                    {"genes", gene_names(data, best[at])}});
    }
    json["notices"] = data.notices;
    return json;
}

void print_rank(const RankRun& run, const Dataset& data, const DenseMatrix<float>& scores,
                const std::string& folder) {
    const RankCurve& curve = run.curve;
    put("{} cells x {} features, {} restarts of each rank, each without {:.0f} % of the cells\n\n",
        data.cells(), data.features(), run.options.restarts, 100.0 * run.options.held_out);
    const double least = *std::min_element(curve.error.begin(), curve.error.end());
    put("  rank   error       against best  stability\n");
    for (std::size_t i = 0; i < curve.ranks.size(); ++i) {
        put("{:>6}  {:.4f}  {:+.4f} (± {:.4f})  {:>9.2f}  {}\n", curve.ranks[i], curve.error[i],
            curve.error[i] - least, curve.difference_deviation[i], curve.stability[i],
            stability_bar(curve.stability[i]));
    }
    put("\nrank {} by error: the smallest within one standard error of the best\n", curve.by_error);
    put("rank {} by stability: the last before it falls, most above all larger ranks\n", curve.by_stability);
    put("\nconsensus programs of rank {}, the most stable first\n", curve.chosen);
    const ConsensusPrograms& programs = run.chosen_programs();
    const std::vector<std::vector<Index>> best = top_genes(scores, listed_genes);
    for (Index k = 0; k < programs.listed(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        put("{}: stability {:.2f}, similarity {:.2f}\n  {}\n", program_name(k), programs.stability[at],
            programs.similarity[at], fmt::join(gene_names(data, best[at]), " "));
    }
    if (const Index others = programs.count() - programs.listed(); others > 0) {
        put("and {} that {} not listed: {} copies in the restarts are nearer to another program than to each "
            "other (stability below 0)\n",
            others, others == 1 ? "is" : "are", others == 1 ? "its" : "their");
    }
    if (!folder.empty()) {
        put("\nwrote rank.tsv, rank.svg, consensus.tsv, {}, result.h5ad and the tables of cNMF into {}\n",
            rank_summary_name, folder);
    }
}

} // namespace pnmf::cli
