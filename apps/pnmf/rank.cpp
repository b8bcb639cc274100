#include "input_flags.hpp"
#include "interrupt.hpp"
#include "json_text.hpp"
#include "option_flags.hpp"
#include "progress.hpp"
#include "rank_output.hpp"
#include "say.hpp"
#include "verbs.hpp"
#include "words.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/results/consensus_result.hpp>
#include <pnmf/results/rank_tables.hpp>
#include <pnmf/run/run.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

struct RankRequest : InputFlags {
    RankOptions rank;
    std::string ranks; ///< as given; empty: the candidates of the library
    std::string folder;
    std::string command;
    ProgressStyle progress = ProgressStyle::automatic;
    bool overwrite = false;
    bool json = false;
};

Index rank_number(const std::string& text, const std::string& all) {
    const std::optional<Index> number = whole_number(text);
    constexpr Index largest = 1'000'000'000; // no sum of such numbers overflows
    require(number && std::abs(*number) <= largest, "--ranks must be like 5:30, 5:30:5 or 5,8,12, got {}",
            all);
    return *number;
}

/// 5:30 is every rank from 5 to 30, 5:30:5 every fifth of them; commas join several.
std::vector<Index> ranks_of(const std::string& text) {
    std::vector<Index> ranks;
    for (const std::string& part : split_at(text, ',')) {
        const std::vector<std::string> ends = split_at(part, ':');
        require(ends.size() <= 3, "--ranks must be like 5:30, 5:30:5 or 5,8,12, got {}", text);
        const Index first = rank_number(ends.front(), text);
        const Index last = ends.size() > 1 ? rank_number(ends[1], text) : first;
        const Index step = ends.size() > 2 ? rank_number(ends[2], text) : 1;
        require(first <= last, "--ranks {}: from {} to {} there is no rank", text, first, last);
        require(step >= 1, "--ranks {}: the step must be at least 1, got {}", text, step);
        constexpr Index most = 10'000; // far more than anyone can fit
        require((last - first) / step < most, "--ranks {}: more than {} ranks", text, most);
        for (Index rank = first; rank <= last; rank += step) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

/// Refuses to replace files; nothing is computed for a place that cannot be written.
std::unique_ptr<RunFolder> folder_for(const RankRequest& options) {
    if (options.folder.empty()) {
        return nullptr;
    }
    for (const char* name : {rank_summary_name, "result.h5ad"}) {
        const fs::path there = fs::path(options.folder) / name;
        require(options.overwrite || !fs::exists(there), Remedy::overwrite,
                "{}: there is a result already, which this run would replace", there.string());
    }
    return std::make_unique<RunFolder>(options.folder, FolderUse::overwrite);
}

} // namespace

RankCurve watched_choose_rank(const DataValues& X, const RankOptions& options, ProgressStyle style) {
    catch_interrupts();
    Progress progress(false, style);
    Index shown = -1;
    try {
        return choose_rank(X, options, [&](const RankProgress& report) {
            if (report.done != shown) {
                shown = report.done;
                progress.parts("restarts", report.done, report.all);
            }
            return interrupt_signal() == 0;
        });
    } catch (const Interrupted& e) {
        progress.end_line();
        say("pnmf: {}; nothing was written\n", e.what());
        throw Exit{128 + interrupt_signal()};
    }
}

namespace {

/// The data before they were prepared; none where the file can no longer be read: what was found is worth
/// more.
Dataset read_again(const std::string& path, const Dataset& prepared) {
    try {
        return read_unscaled(path, prepared);
    } catch (const InputError& e) {
        say("warning: there are no tables of TPM and of z-scores: {}\n", e.what());
        return {};
    }
}

void run(RankRequest options, const CLI::App& verb) {
    options.analysis.space = "none";       // no distances are measured,
    options.analysis.given.insert("rank"); // and the rank is what is asked for
    if (!options.ranks.empty()) {
        options.rank.ranks = ranks_of(options.ranks);
    }
    const std::unique_ptr<RunFolder> folder = folder_for(options);
    const Work work = read_work(options, verb);
    const RankRun found{.curve = watched_choose_rank(work.data.X, options.rank, options.progress),
                        .options = options.rank,
                        .input = options.path};
    const ConsensusPrograms& programs = found.chosen_programs();
    const DenseMatrix<float> scores = consensus_scores(work.data.X, programs);
    const nlohmann::ordered_json summary = rank_json(found, work.data, scores);
    if (folder) {
        const std::string table = consensus_table(work.data.feature_names, programs, scores);
        const ConsensusFit fit = fit_consensus(work.data, programs);
        std::vector<TextFile> files =
            cnmf_tables(folder->path(), work.data, fit, read_again(options.path, work.data));
        double bytes = static_cast<double>(2 * table.size());
        for (const TextFile& file : files) {
            bytes += static_cast<double>(file.text.size());
        }
        folder->make(bytes);
        files.push_back({.path = folder->path() / "rank.tsv", .text = rank_table(found.curve)});
        files.push_back({.path = folder->path() / "rank.svg", .text = rank_picture(found.curve)});
        files.push_back({.path = folder->path() / "consensus.tsv", .text = table});
        files.push_back({.path = folder->path() / rank_summary_name, .text = json_text(summary) + "\n"});
        write_consensus(folder->result(), consensus_file(work.data, fit, options.command), files);
    }
    if (options.json) {
        put_json(summary);
    } else {
        print_rank(found, work.data, scores, folder ? folder->path().string() : std::string());
    }
    if (options.progress == ProgressStyle::json) {
        say_event({{"event", "done"}, {"chosen", found.curve.chosen}});
    }
}

} // namespace

void add_rank(CLI::App& app, const std::string& command) {
    auto options = std::make_shared<RankRequest>();
    options->command = command;
    CLI::App* verb = app.add_subcommand(
        "rank", "Choose the rank by restarts: how well it predicts, and how stable its programs are");
    add_input_flags(*verb, *options, of_preparing);
    verb->add_option("--ranks", options->ranks,
                     "Ranks to try: 5:30 is every one from 5 to 30, 5:30:5 every fifth; commas join several "
                     "[2, 3, 4, 6, 8, 11, ... up to the square root of the number of cells]")
        ->type_name("A:B[:STEP],...");
    verb->add_option("--restarts", options->rank.restarts,
                     "Factorisations of each rank, each from its own random start and random cells")
        ->capture_default_str();
    verb->add_option("--held-out", options->rank.held_out,
                     "Share of the cells that a restart is not shown; its error is measured on them")
        ->capture_default_str();
    add_flag_for(*verb, "rule", options->rank.rule,
                 "What decides. error: the smallest rank whose error on held-out entries is within one "
                 "standard error of the best; stability: the last rank before the stability of the programs "
                 "falls, most above that of all larger ranks. Both are printed");
    add_flag_for(*verb, "seed", options->rank.seed, "Seed of the starts and of the cells that are drawn");
    add_flag_for(*verb, "device", options->rank.device,
                 "Where the factorisations are made. A GPU makes one at a time, and does about as much as 11 "
                 "processors; auto: on a GPU where there is one and the data are large");
    verb->add_option(
            "-o,--output", options->folder,
            "Folder to write into: rank.tsv, the picture rank.svg, the consensus programs of the chosen "
            "rank as consensus.tsv, as result.h5ad and as cNMF's tables, and rank.json")
        ->type_name("FOLDER");
    add_threads_flag(*verb);
    verb->add_flag("--overwrite", options->overwrite, "Replace what an earlier run wrote into the folder");
    add_progress_option(*verb, options->progress);
    add_json_flag(*verb, options->json);
    verb->callback([options, verb] { run(*options, *verb); });
}

} // namespace pnmf::cli
