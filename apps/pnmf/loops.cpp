#include "input_flags.hpp"
#include "io/add_to_h5ad.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/assess/loops.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/linalg/pca.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/stored_result.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>

namespace pnmf::cli {
namespace {

struct LoopsRequest : InputFlags {
    std::string data; ///< of the fit, when INPUT is a result
    std::vector<std::string> zero;
    std::vector<std::string> next;
    std::string output; ///< a table; empty: none
    LoopOptions loops;
    Index listed = 10;
    bool keep = false;
    bool json = false;
};

const OptionNames& of_loops() {
    static const OptionNames names = [] {
        OptionNames all = of_preparing;
        all.insert("space");
        return all;
    }();
    return names;
}

/// What loops are looked for in.
struct Cells {
    Matrix space;
    std::vector<std::string> names;
    std::optional<DataMatrix<double>> X; ///< none: the genes are not known
    std::vector<std::string> genes;
    std::string file; ///< an .h5ad file whose obs may get columns; empty: none
};

DataMatrix<double> matrix_of(Dataset& data) {
    return std::visit([](auto& X) { return DataMatrix<double>(std::move(X)); }, data.X);
}

Matrix components_of(const DataMatrix<double>& X) {
    constexpr Index components = 30;
    return component_space(X, components).coordinates;
}

Cells cells_of_input(LoopsRequest& options, const CLI::App& verb) {
    require(options.data.empty(), "--data is for a result, and {} is none", options.path);
    if (options.analysis.space.empty()) {
        options.analysis.space = "none"; // components of the values as they are factorised
    }
    Dataset data = read_work(options, verb).data;
    require(!data.local, "loops are looked for by one process");
    Cells cells{.space = data.space ? data.space->coordinates : Matrix(),
                .names = data.cell_names,
                .X = {},
                .genes = data.feature_names,
                .file = data.input.format == "h5ad" ? options.path : ""};
    cells.X = matrix_of(data);
    if (!data.space) {
        cells.space = components_of(*cells.X);
    }
    return cells;
}

Cells cells_of_result(const LoopsRequest& options, const CLI::App& verb) {
    refuse_flags(verb, of_loops(), {},
                 fmt::format("{}, a result: what was chosen for it holds", options.path));
    const StoredResult result = read_stored_result(options.path);
    Cells cells{.space = {}, .names = result.file.cell_names, .X = {}, .genes = {}, .file = result.name};
    if (!options.data.empty()) {
        Dataset data = read_data_of(result, options.data);
        cells.genes = data.feature_names;
        cells.X = matrix_of(data);
    }
    const std::string places = fmt::format("obsm:{}", usual_places);
    if (result.space && result.space->name != places) {
        cells.space = result.space->coordinates;
        if (!result.order.position.empty()) {
            cells.space = result.space->coordinates(Eigen::all, result.order.position).eval();
        }
    } else {
        require(cells.X.has_value(), "{}: the fit has no components of its values: give these by --data",
                result.name);
        cells.space = components_of(*cells.X);
    }
    return cells;
}

/// One loop as it is shown.
struct ShownLoop {
    CellLoop loop;
    std::vector<PhaseGene> genes; ///< empty: not known
};

std::vector<Index> positions_of(const std::vector<std::string>& names, const Cells& cells) {
    std::vector<Index> found;
    for (const std::string& name : names) {
        const auto place = std::find(cells.genes.begin(), cells.genes.end(), name);
        require(place != cells.genes.end(),
                "'{}' is none of the {} genes that were kept; --genes all keeps all", name,
                cells.genes.size());
        found.push_back(place - cells.genes.begin());
    }
    return found;
}

std::vector<ShownLoop> shown_loops(const LoopsRequest& options, const Cells& cells,
                                   const LoopFinding& finding) {
    const bool fixed = !options.zero.empty() || !options.next.empty();
    require(!fixed || cells.X, "--genes-zero and --genes-next need the values of the genes: give --data");
    const PhaseAnchors anchors{.zero = positions_of(options.zero, cells),
                               .next = positions_of(options.next, cells)};
    std::vector<ShownLoop> shown;
    for (const CellLoop& loop : finding.loops) {
        shown.push_back({.loop = loop, .genes = {}});
        if (!cells.X) {
            continue;
        }
        ShownLoop& one = shown.back();
        one.genes = phase_genes(*cells.X, loop.phase);
        if (fixed) {
            one.loop.phase = anchored(loop.phase, one.genes, anchors);
            one.genes = phase_genes(*cells.X, one.loop.phase);
        }
    }
    return shown;
}

std::string column_name(std::size_t loop) {
    return fmt::format("pnmf_loop_{}", loop + 1);
}

/// What the page draws: the diagram, and what a loop must exceed. The names are those of Python.
AnnDataMap diagram_of(const LoopFinding& finding) {
    constexpr std::size_t most = 500; // the most persistent
    std::vector<double> birth;
    std::vector<double> death;
    for (const auto& [born, died] : finding.diagram) {
        if (birth.size() < most) {
            birth.push_back(born);
            death.push_back(died);
        }
    }
    std::vector<double> p_values;
    for (const CellLoop& loop : finding.loops) {
        p_values.push_back(loop.p_value);
    }
    return {{"birth", numeric_array(birth)},
            {"death", numeric_array(death)},
            {"joins", numeric_array(finding.joins)},
            {"chance", finding.chance},
            {"p_value", finding.p_value},
            {"p_values", numeric_array(p_values)}};
}

/// Cells of the file that were left out have no phase.
void keep_loops(const Cells& cells, const LoopFinding& finding, const std::vector<ShownLoop>& loops) {
    std::map<std::string, Index> place;
    for (std::size_t j = 0; j < cells.names.size(); ++j) {
        place.emplace(cells.names[j], static_cast<Index>(j));
    }
    const AnnDataFile file = read_anndata(cells.file);
    std::vector<TableColumn> columns;
    for (std::size_t k = 0; k < loops.size(); ++k) {
        std::vector<double> phases;
        for (const std::string& name : file.cell_names) {
            const auto found = place.find(name);
            phases.push_back(found == place.end() ? std::numeric_limits<double>::quiet_NaN()
                                                  : loops[k].loop.phase[found->second]);
        }
        columns.push_back({.name = column_name(k), .values = std::move(phases)});
    }
    io::add_to_h5ad(cells.file, columns, {{"pnmf_loops", diagram_of(finding)}});
    if (!loops.empty()) {
        say("{}: the phases are in obs, as {}{}\n", cells.file, column_name(0),
            loops.size() > 1 ? fmt::format(" to {}", column_name(loops.size() - 1)) : "");
    }
}

std::string table_of(const Cells& cells, const std::vector<ShownLoop>& loops) {
    std::string text = "cell";
    for (std::size_t k = 0; k < loops.size(); ++k) {
        text += fmt::format("\t{}", column_name(k));
    }
    text += '\n';
    for (std::size_t j = 0; j < cells.names.size(); ++j) {
        text += cells.names[j];
        for (const ShownLoop& one : loops) {
            text += fmt::format("\t{}", one.loop.phase[static_cast<Index>(j)]);
        }
        text += '\n';
    }
    return text;
}

nlohmann::ordered_json json_of(const LoopsRequest& options, const Cells& cells, const LoopFinding& finding,
                               const std::vector<ShownLoop>& loops) {
    nlohmann::ordered_json json{
        {"input", options.path},
        {"cells", cells.names.size()},
        {"dimensions", finding.dimensions},
        {"most_persistent", {{"persistence", finding.persistence}, {"p_value", finding.p_value}}},
        {"loops", nlohmann::ordered_json::array()}};
    for (const ShownLoop& one : loops) {
        nlohmann::ordered_json loop{{"persistence", one.loop.persistence},
                                    {"p_value", one.loop.p_value},
                                    {"cells", one.loop.cells},
                                    {"birth", one.loop.birth},
                                    {"death", one.loop.death}};
        for (std::size_t g = 0; g < one.genes.size() && std::ssize(loop["genes"]) < options.listed; ++g) {
            const PhaseGene& gene = one.genes[g];
            loop["genes"].push_back({{"gene", cells.genes[static_cast<std::size_t>(gene.gene)]},
                                     {"peak", gene.peak},
                                     {"amplitude", gene.amplitude},
                                     {"share", gene.share},
                                     {"p_value", gene.p_value},
                                     {"adjusted", gene.adjusted}});
        }
        json["loops"].push_back(std::move(loop));
    }
    return json;
}

void print_loops(const LoopsRequest& options, const Cells& cells, const std::vector<ShownLoop>& loops) {
    for (std::size_t k = 0; k < loops.size(); ++k) {
        const CellLoop& loop = loops[k].loop;
        put("loop {}: persistence {:.2f}, p {:.3g}, {} of {} cells on it\n", k + 1, loop.persistence,
            loop.p_value, loop.cells, cells.names.size());
        if (loops[k].genes.empty()) {
            continue;
        }
        put("  {:<20} {:>8} {:>10} {:>8} {:>11}\n", "gene", "peak", "amplitude", "share", "adjusted p");
        const Index listed = std::min<Index>(options.listed, std::ssize(loops[k].genes));
        for (Index g = 0; g < listed; ++g) {
            const PhaseGene& gene = loops[k].genes[static_cast<std::size_t>(g)];
            put("  {:<20} {:>8.2f} {:>10.3g} {:>8.2f} {:>11.1e}\n",
                cells.genes[static_cast<std::size_t>(gene.gene)], gene.peak, gene.amplitude, gene.share,
                gene.adjusted);
        }
    }
}

void say_none(const LoopFinding& finding, Index cells) {
    if (cells < fewest_cells_of_loop) {
        say("no loop: it takes at least {} cells to find one, there are {}\n", fewest_cells_of_loop, cells);
        return;
    }
    if (finding.dimensions < 2) {
        say("no loop: the cells do not differ clearly by more than noise in two directions\n");
        return;
    }
    say("no loop: the most persistent one has p = {:.2g} among clouds of cells without any\n",
        finding.p_value);
}

void run_loops(LoopsRequest& options, const CLI::App& verb) {
    const double least = 1.0 / static_cast<double>(1 + options.loops.null_clouds);
    require(options.loops.level >= least,
            "with {} clouds no p-value is below {:.3g}, and none can be at most {}: draw more by --clouds",
            options.loops.null_clouds, least, options.loops.level);
    const Cells cells =
        find_result(options.path) ? cells_of_result(options, verb) : cells_of_input(options, verb);
    require(!options.keep || !cells.file.empty(),
            "--keep writes into a result or an .h5ad file, and {} is neither: -o writes a table",
            options.path);
    const LoopFinding finding = find_loops(cells.space, options.loops);
    const std::vector<ShownLoop> loops = shown_loops(options, cells, finding);
    if (!options.output.empty()) {
        write_text(options.output, table_of(cells, loops));
    }
    if (options.keep) {
        keep_loops(cells, finding, loops);
    }
    if (options.json) {
        put_json(json_of(options, cells, finding, loops));
    } else {
        print_loops(options, cells, loops);
    }
    if (loops.empty()) {
        say_none(finding, std::ssize(cells.names));
    } else if (options.output.empty() && !options.keep) {
        say("nothing was stored: --keep puts the phases into obs, -o FILE.tsv writes them as a table\n");
    }
}

} // namespace

void add_loops(CLI::App& app) {
    auto options = std::make_shared<LoopsRequest>();
    CLI::App* verb = app.add_subcommand(
        "loops", "Find loops such as the cell cycle, the phase of each cell, and the genes that follow it");
    options->analysis.given.insert("rank"); // nothing is factorised
    add_input_flags(*verb, *options, of_loops());
    verb->get_option("INPUT")->description("Data as for pnmf fit, or the folder or .h5ad file of a fit");
    verb->get_option("--space")->description(
        "Where loops are looked for: N principal components, or "
        "coordinates stored in obsm [30 components of cells of length 1]");
    verb->add_option("--data", options->data, "The data of the fit, for its genes, where INPUT is a result")
        ->type_name("INPUT");
    verb->add_option("--genes-zero", options->zero, "Genes that are highest at phase 0 [no meaning]")
        ->delimiter(',')
        ->type_name("GENE,...");
    verb->add_option("--genes-next", options->next,
                     "Genes that are highest in the half turn after it [the direction has no meaning]")
        ->delimiter(',')
        ->type_name("GENE,...");
    verb->add_option("--p-value", options->loops.level, "Loops with a larger p-value are not reported")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    verb->add_option("--clouds", options->loops.null_clouds,
                     "Clouds without a loop that are drawn to compare with")
        ->check(whole_number_from(1))
        ->capture_default_str();
    verb->add_option("--seed", options->loops.seed, "Seed of these clouds")
        ->check(not_negative())
        ->capture_default_str();
    verb->add_option("--list", options->listed, "Genes to show of each loop")
        ->check(whole_number_from(1))
        ->capture_default_str();
    verb->add_option("-o,--output", options->output, "Write the phases as a table")->type_name("FILE.tsv");
    verb->add_flag(
        "--keep", options->keep,
        "Store the phases in obs of the result or the .h5ad file, as pnmf_loop_1, ..., and the diagram "
        "in uns");
    add_threads_flag(*verb);
    add_json_flag(*verb, options->json);
    verb->callback([options, verb] { run_loops(*options, *verb); });
}

} // namespace pnmf::cli
