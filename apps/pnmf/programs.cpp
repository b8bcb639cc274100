#include "option_flags.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/results/stored_result.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace pnmf::cli {
namespace {

struct ProgramOptions {
    std::string result;
    std::string gene_sets; ///< a .gmt file; empty: none
    std::string output;    ///< a table; empty: none
    Index listed = 10;
    EnrichmentOptions enrichment;
    double false_share = 0.05;
    bool json = false;
};

/// Enrichment at or below the share of false findings, with the names of the sets.
struct FoundSets {
    std::vector<GeneSet> sets;
    std::vector<Enrichment> found;
};

FoundSets found_sets(const ProgramOptions& options, const StoredPrograms& programs) {
    FoundSets result;
    if (options.gene_sets.empty()) {
        return result;
    }
    result.sets = read_gene_sets(options.gene_sets);
    const auto positions = positions_of_sets(result.sets, programs.genes);
    const auto tested = std::count_if(positions.begin(), positions.end(), [&](const std::vector<Index>& set) {
        return std::ssize(set) >= options.enrichment.smallest_set;
    });
    require(tested > 0,
            "{}: none of its {} sets has {} genes or more among the {} of the fit, whose first is {}; are "
            "the names of one kind?",
            options.gene_sets, result.sets.size(), options.enrichment.smallest_set, programs.genes.size(),
            programs.genes.front());
    say("{} of {} sets have {} genes or more among the {} of the fit, and are tested\n", tested,
        result.sets.size(), options.enrichment.smallest_set, programs.genes.size());
    result.found = enriched_sets(programs.scores, positions, options.enrichment);
    std::erase_if(result.found, [&](const Enrichment& one) { return one.adjusted > options.false_share; });
    return result;
}

std::vector<std::string> names_at(const StoredPrograms& programs, const std::vector<Index>& genes) {
    std::vector<std::string> names;
    for (const Index gene : genes) {
        names.push_back(programs.genes[static_cast<std::size_t>(gene)]);
    }
    return names;
}

nlohmann::ordered_json json_of(const StoredPrograms& programs, const FoundSets& sets,
                               const std::vector<std::vector<Index>>& best) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Index k : programs.order()) {
        const auto at = static_cast<std::size_t>(k);
        const Index into = programs.merges_into[at];
        nlohmann::ordered_json one{{"program", program_name(k)},
                                   {"mean_usage", programs.mean_usage[at]},
                                   {"persistence", programs.persistence[at]},
                                   {"between_clusters", programs.between_clusters[at]},
                                   {"first_scale", programs.first_scale[at] + 1},
                                   {"last_scale", programs.last_scale[at] + 1},
                                   {"merges_into", nullptr},
                                   {"genes", names_at(programs, best[at])}};
        if (into >= 0) {
            one["merges_into"] = program_name(into);
        }
        if (!programs.depth_correlation.empty()) {
            one["depth_correlation"] = programs.depth_correlation[at];
            one["depth_driven"] = programs.follows_depth(k);
        }
        if (!sets.sets.empty()) {
            one["sets"] = nlohmann::ordered_json::array();
        }
        for (const Enrichment& found : sets.found) {
            if (found.program == k) {
                one["sets"].push_back({{"set", sets.sets[static_cast<std::size_t>(found.set)].name},
                                       {"genes", names_at(programs, found.genes)},
                                       {"size", found.size},
                                       {"p_value", found.p_value},
                                       {"adjusted", found.adjusted}});
            }
        }
        list.push_back(std::move(one));
    }
    return list;
}

void print_program(const StoredPrograms& programs, Index k, const std::vector<Index>& best) {
    const auto at = static_cast<std::size_t>(k);
    put("{}: {:.1f}% of a cell, persistence {:.2f} (scales {} to {})", program_name(k),
        100.0 * programs.mean_usage[at], programs.persistence[at], programs.first_scale[at] + 1,
        programs.last_scale[at] + 1);
    if (programs.merges_into[at] >= 0) {
        put(", then merges into {}", program_name(programs.merges_into[at]));
    }
    if (programs.follows_depth(k)) {
        put("; follows the depth of cells (r = {:.2f})", programs.depth_correlation[at]);
    }
    put("\n  {}\n", fmt::join(names_at(programs, best), " "));
}

void run_programs(const ProgramOptions& options) {
    const StoredResult result = read_stored_result(options.result);
    const std::optional<StoredPrograms> programs = stored_programs(result);
    require(programs.has_value(), "{}: the result has no scores of genes; it was made by an older version",
            result.name);
    const FoundSets sets = found_sets(options, *programs);
    if (!options.output.empty()) {
        write_text(options.output, programs_table(*programs, std::ssize(programs->genes)));
    }
    const std::vector<std::vector<Index>> best = top_genes(programs->scores, options.listed);
    if (options.json) {
        put_json(json_of(*programs, sets, best));
        return;
    }
    put("programs of scale {}, from their {} genes\n", programs->scale + 1, programs->genes.size());
    if (programs->depth_correlation.empty()) {
        put("the counts of the cells are not known: whether a program follows them is not, either\n");
    }
    for (const Index k : programs->order()) {
        print_program(*programs, k, best[static_cast<std::size_t>(k)]);
        for (const Enrichment& found : sets.found) {
            if (found.program == k) {
                put("  {}: {} of {} genes, adjusted p {:.1e}\n",
                    sets.sets[static_cast<std::size_t>(found.set)].name, found.genes.size(), found.size,
                    found.adjusted);
            }
        }
    }
}

} // namespace

void add_programs(CLI::App& app) {
    auto options = std::make_shared<ProgramOptions>();
    CLI::App* verb = app.add_subcommand(
        "programs", "Show the genes that mark each program of a fit, and the gene sets found in them");
    verb->add_option("RESULT", options->result, "Folder or .h5ad file of a fit")->required();
    verb->add_option(
            "--gmt", options->gene_sets,
            "Gene sets to look for: shows those with more of a program's best genes than chance would give "
            "(hypergeometric test, p-values adjusted by Benjamini and Hochberg)")
        ->check(CLI::ExistingFile)
        ->type_name("FILE.gmt");
    verb->add_option("--best", options->enrichment.best,
                     "How many genes of each program are looked up in the sets")
        ->check(whole_number_from(1))
        ->capture_default_str();
    verb->add_option("--smallest-set", options->enrichment.smallest_set,
                     "Leave out sets with fewer genes among those of the fit")
        ->check(whole_number_from(1))
        ->capture_default_str();
    verb->add_option("--false", options->false_share, "Largest adjusted p-value that is shown")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str()
        ->type_name("Q");
    verb->add_option("--list", options->listed, "Genes to show of each program")
        ->check(whole_number_from(1))
        ->capture_default_str();
    verb->add_option("-o,--output", options->output, "Write the scores of all genes as a table")
        ->type_name("FILE.tsv");
    add_json_flag(*verb, options->json);
    verb->callback([options] { run_programs(*options); });
}

} // namespace pnmf::cli
