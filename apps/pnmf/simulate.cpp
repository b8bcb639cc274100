#include "option_flags.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/simulate/simulate.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <utility>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

/// Where the matrix goes and what stands beside it.
struct Target {
    fs::path matrix;
    fs::path folder;
    std::string prefix; ///< of the files beside

    fs::path beside(const std::string& name) const { return folder / (prefix + name); }
};

/// "circles.csv" has "circles_cells.tsv" beside it; "A_matrix.mtx" has "A_cells.tsv", where readers look for
/// it.
Target file_target(const fs::path& path) {
    std::string stem = path.filename().string();
    for (const char* ending : {".gz", ".mtx", ".csv", ".h5ad"}) {
        if (stem.ends_with(ending)) {
            stem.resize(stem.size() - std::string_view(ending).size());
        }
    }
    if (stem == "matrix" || stem.ends_with("_matrix")) {
        stem.resize(stem.size() - std::string_view("matrix").size());
    } else {
        stem += "_";
    }
    return {.matrix = path, .folder = path.parent_path(), .prefix = stem};
}

Target folder_target(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    require(fs::is_directory(path), "{}: is not a folder and cannot be made one", path.string());
    return {.matrix = path / "matrix.mtx.gz", .folder = path, .prefix = ""};
}

TextFile cell_table(const Target& target, const std::string& label, const std::vector<Index>& labels) {
    std::string text = "cell\tlabel\n";
    for (std::size_t j = 0; j < labels.size(); ++j) {
        text += fmt::format("cell{}\t{}{}\n", j + 1, label, labels[j] + 1);
    }
    return {.path = target.beside("cells.tsv"), .text = std::move(text)};
}

/// One file with the labels in `obs`; the whole matrix is in memory.
template <class X>
void write_annotated(const fs::path& output, X values, std::vector<std::string> features,
                     const std::string& label, const std::vector<Index>& labels) {
    Dataset data;
    data.X = std::move(values);
    data.feature_names = std::move(features);
    std::vector<std::string> groups;
    for (const Index group : labels) {
        data.cell_names.push_back(fmt::format("cell{}", data.cell_names.size() + 1));
        groups.push_back(fmt::format("{}{}", label, group + 1));
    }
    data.cell_table.push_back({.name = "label", .values = std::move(groups), .categorical = true});
    write_h5ad(output, data);
    say("{}: {} features x {} cells, obs column label\n", output.string(), data.features(), data.cells());
}

std::vector<std::string> numbered(const std::string& name, Index count) {
    std::vector<std::string> names;
    for (Index i = 1; i <= count; ++i) {
        names.push_back(fmt::format("{}{}", name, i));
    }
    return names;
}

void run_circles(const CirclesOptions& options, const fs::path& output) {
    const std::string name = output.filename().string();
    require(name.ends_with(".csv") || name.ends_with(".csv.gz") || name.ends_with(".h5ad"),
            "{}: circles are written to a file that ends in .csv, .csv.gz or .h5ad", output.string());
    const Simulated data = simulate_circles(options);
    if (name.ends_with(".h5ad")) {
        std::vector<std::string> features = numbered("noise", options.noise_dimensions);
        features.insert(features.begin(), {"x", "y", "z"});
        write_annotated(output, data.X, std::move(features), "circle", data.labels);
        return;
    }
    const Target target = file_target(output);
    std::string text;
    for (Index j = 0; j < data.X.cols(); ++j) {
        text += fmt::format(",cell{}", j + 1);
    }
    text += '\n';
    for (Index i = 0; i < data.X.rows(); ++i) {
        text += i < 3 ? std::string(1, "xyz"[i]) : fmt::format("noise{}", i - 2);
        for (const double value : data.X.row(i)) {
            text += fmt::format(",{}", value);
        }
        text += '\n';
    }
    write_texts(
        {{.path = target.matrix, .text = std::move(text)}, cell_table(target, "circle", data.labels)});
    say("{}: {} features x {} cells; {}: label\n", target.matrix.string(), data.X.rows(), data.X.cols(),
        target.beside("cells.tsv").string());
}

/// Blocks of cells, one after the other, so that all of them are never in memory; their types.
std::vector<Index> stream_cells(const CellModel& model,
                                const std::function<void(const SparseMatrix<double>&)>& append) {
    constexpr Index block = 4096;
    const Index count = model.options.cells;
    std::vector<Index> types;
    types.reserve(static_cast<std::size_t>(count));
    for (Index begin = 0; begin < count; begin += block) {
        const SimulatedCells cells = simulate_cells(model, begin, std::min(count, begin + block));
        append(cells.counts);
        types.insert(types.end(), cells.types.begin(), cells.types.end());
    }
    return types;
}

void write_cells_h5ad(const CellModel& model, const fs::path& output) {
    const CellsOptions& options = model.options;
    H5adWriter writer(output, numbered("gene", options.genes), options.cells);
    const std::vector<Index> types =
        stream_cells(model, [&](const SparseMatrix<double>& counts) { writer.append(counts); });
    std::vector<std::string> labels;
    labels.reserve(types.size());
    for (const Index type : types) {
        labels.push_back(fmt::format("type{}", type + 1));
    }
    writer.finish(numbered("cell", options.cells),
                  {{.name = "label", .values = std::move(labels), .categorical = true}},
                  {{.path = file_target(output).beside("tree.nwk"), .text = newick(model.tree)}});
    say("{}: {} genes x {} cells, {} counts above 0, obs column label\n", output.string(), options.genes,
        options.cells, writer.entries());
}

void run_cells(const CellsOptions& options, const fs::path& output) {
    const CellModel model = make_cell_model(options);
    const std::string name = output.filename().string();
    if (name.ends_with(".h5ad")) {
        write_cells_h5ad(model, output);
        return;
    }
    const bool file = name.ends_with(".mtx") || name.ends_with(".mtx.gz");
    require(file || !output.has_extension(),
            "{}: cells are written to a folder, a .mtx, .mtx.gz or .h5ad file", output.string());
    const Target target = file ? file_target(output) : folder_target(output);

    MatrixMarketWriter writer(target.matrix, options.genes, true);
    const std::vector<Index> types =
        stream_cells(model, [&](const SparseMatrix<double>& counts) { writer.append(counts); });
    const std::string genes = fmt::format("gene\n{}\n", fmt::join(numbered("gene", options.genes), "\n"));
    writer.finish({{.path = target.beside("genes.tsv"), .text = genes},
                   cell_table(target, "type", types),
                   {.path = target.beside("tree.nwk"), .text = newick(model.tree)}});
    const double size = static_cast<double>(options.genes) * static_cast<double>(options.cells);
    say("{}: {} genes x {} cells, {} counts above 0 ({:.1f} %); beside it {}, {} and {}\n",
        target.matrix.string(), options.genes, options.cells, writer.entries(),
        100.0 * static_cast<double>(writer.entries()) / size, target.beside("genes.tsv").filename().string(),
        target.beside("cells.tsv").filename().string(), target.beside("tree.nwk").filename().string());
}

/// Cells on branches, with what is known about each: its branch and its time.
void run_branches(const BranchesOptions& options, const fs::path& output) {
    require(output.filename().string().ends_with(".h5ad"),
            "{}: branches are written to a file that ends in .h5ad", output.string());
    const BranchesModel model = make_branches_model(options);
    const Index cells = options.cells.cells;
    H5adWriter writer(output, numbered("gene", options.cells.genes), cells);
    const std::vector<Index> places =
        stream_cells(model.cells, [&](const SparseMatrix<double>& counts) { writer.append(counts); });
    std::vector<std::string> branches;
    std::vector<std::string> ends;
    std::vector<double> times;
    for (const Index place : places) {
        std::vector<Index> reached =
            model.reaches[static_cast<std::size_t>(model.branch[static_cast<std::size_t>(place)])];
        std::transform(reached.begin(), reached.end(), reached.begin(), [](Index end) { return end + 1; });
        ends.push_back(fmt::format("{}", fmt::join(reached, "+")));
        branches.push_back(fmt::format("branch{}", model.branch[static_cast<std::size_t>(place)] + 1));
        times.push_back(model.time[static_cast<std::size_t>(place)]);
    }
    writer.finish(numbered("cell", cells),
                  {{.name = "label", .values = std::move(branches), .categorical = true},
                   {.name = "ends", .values = std::move(ends), .categorical = true},
                   {.name = "time", .values = std::move(times)}},
                  {{.path = file_target(output).beside("tree.nwk"), .text = newick(model.cells.tree)}});
    say("{}: {} genes x {} cells, {} counts above 0, obs columns label (the branch), ends (that it leads to) "
        "and time\n",
        output.string(), options.cells.genes, cells, writer.entries());
}

/// Cells around a loop, with the phase of each.
void run_loop(const LoopCellsOptions& options, const fs::path& output) {
    require(output.filename().string().ends_with(".h5ad"),
            "{}: a loop is written to a file that ends in .h5ad", output.string());
    const LoopModel model = make_loop_model(options);
    H5adWriter writer(output, numbered("gene", options.cells.genes), options.cells.cells);
    const std::vector<Index> places =
        stream_cells(model.cells, [&](const SparseMatrix<double>& counts) { writer.append(counts); });
    std::vector<double> phases;
    for (const Index place : places) {
        phases.push_back(model.phase[static_cast<std::size_t>(place)]);
    }
    writer.finish(numbered("cell", options.cells.cells), {{.name = "phase", .values = std::move(phases)}},
                  {});
    say("{}: {} genes x {} cells, {} counts above 0, obs column phase in radians\n", output.string(),
        options.cells.genes, options.cells.cells, writer.entries());
}

/// Cells in layers, with their places, layers and types.
void run_tissue(const TissueOptions& options, const fs::path& output) {
    require(output.filename().string().ends_with(".h5ad"),
            "{}: a tissue is written to a file that ends in .h5ad", output.string());
    SimulatedTissue tissue = simulate_tissue(options);
    AnnDataFile file;
    file.feature_names = numbered("gene", options.cells.genes);
    file.cell_names = numbered("cell", options.cells.cells);
    std::vector<std::string> layers;
    std::vector<std::string> types;
    for (std::size_t j = 0; j < tissue.layers.size(); ++j) {
        layers.push_back(fmt::format("layer{}", tissue.layers[j] + 1));
        types.push_back(fmt::format("type{}", tissue.cells.types[j] + 1));
    }
    file.cell_table = {{.name = "layer", .values = std::move(layers), .categorical = true},
                       {.name = "type", .values = std::move(types), .categorical = true}};
    file.obsm["spatial"] = tissue.places.transpose();
    file.X = std::move(tissue.cells.counts);
    write_anndata(output, file);
    say("{}: {} genes x {} cells, obs columns layer and type, places in obsm/spatial\n", output.string(),
        options.cells.genes, options.cells.cells);
}

template <class Value>
void add(CLI::App& verb, const char* flag, Value& value, const char* help) {
    CLI::Option* const option = verb.add_option(flag, value, help)->capture_default_str();
    if constexpr (std::is_unsigned_v<Value>) {
        option->check(not_negative());
    }
}

/// Flags for the model of the cells, for those of `names`.
void add_cell_flags(CLI::App& verb, CellsOptions& cells, const std::set<std::string>& names) {
    const auto one = [&](const char* name, auto& value, const char* help) {
        if (names.contains(name)) {
            add(verb, fmt::format("--{}", name).c_str(), value, help);
        }
    };
    one("cells", cells.cells, "Number of cells");
    one("genes", cells.genes, "Number of genes");
    one("types", cells.types, "Number of cell types, the leaves of the tree");
    one("imbalance", cells.imbalance, "How unequal the types are in size (log-normal deviation)");
    one("gene-spread", cells.gene_spread, "How unequal genes are in mean expression (log-normal deviation)");
    one("changed", cells.changed, "Share of genes that change along a branch");
    one("fold", cells.fold, "How much they change (deviation of the log-fold change)");
    one("depth", cells.depth, "Median sum of counts of a cell, before dropout");
    one("depth-spread", cells.depth_spread,
        "How unequal cells are in their sum of counts (log-normal deviation)");
    one("dispersion", cells.dispersion, "phi: a count with mean m has the variance m + phi m^2");
    one("dropout", cells.dropout, "A gene with this mean is lost in half of the cells; 0: no dropout");
    one("seed", cells.seed, "Seed of the random numbers");
}

/// A verb that makes data by these options and writes them.
template <class Options>
std::pair<CLI::App*, std::shared_ptr<Options>> add_model(CLI::App& simulate, const char* name,
                                                         const char* what, const char* output_help,
                                                         void (*run)(const Options&, const fs::path&)) {
    CLI::App* verb = simulate.add_subcommand(name, what);
    auto options = std::make_shared<Options>();
    auto output = std::make_shared<std::string>();
    verb->add_option("-o,--output", *output, output_help)->required();
    verb->callback([=] { run(*options, *output); });
    return {verb, options};
}

void add_circles(CLI::App& simulate) {
    const auto [verb, options] = add_model(
        simulate, "circles",
        "Concentric circles in random planes of 3-D space, with noise dimensions (the paper's example)",
        "File to write: .csv[.gz], features x cells, with labels beside it, or .h5ad", run_circles);
    verb->add_option("--radii", options->radii, "Radius of each circle")
        ->delimiter(',')
        ->capture_default_str();
    add(*verb, "--points", options->points, "Points on each circle");
    add(*verb, "--noise", options->noise, "Standard deviation of the 3 coordinates");
    add(*verb, "--minimum", options->minimum, "Smallest value of each coordinate");
    add(*verb, "--noise-dimensions", options->noise_dimensions, "Features that are noise alone");
    add(*verb, "--noise-mean", options->noise_mean, "Mean of those features");
    add(*verb, "--noise-deviation", options->noise_deviation, "Standard deviation of those features");
    verb->add_flag(
        "--meet-ends", options->meet_ends,
        "Put the first and the last point of a circle at the same place, as the published data do");
    add(*verb, "--seed", options->seed, "Seed of the random numbers");
}

void add_cells(CLI::App& simulate) {
    const auto [verb, options] = add_model(
        simulate, "cells", "Single-cell counts with a tree of cell types",
        "Folder, .mtx[.gz] or .h5ad file to write; labels and the tree of types go beside it", run_cells);
    add_cell_flags(*verb, *options,
                   {"cells", "genes", "types", "imbalance", "gene-spread", "changed", "fold", "depth",
                    "depth-spread", "dispersion", "dropout", "seed"});
}

void add_branches(CLI::App& simulate) {
    const auto [verb, options] =
        add_model(simulate, "branches",
                  "Single-cell counts of cells on the way from one start to several ends, times known",
                  ".h5ad file to write; the tree goes beside it", run_branches);
    add(*verb, "--ends", options->ends, "Where paths end; branch 1 leads from the start to the first fork");
    add(*verb, "--steps", options->steps, "Places on a branch");
    add_cell_flags(*verb, options->cells,
                   {"cells", "genes", "changed", "fold", "depth", "dispersion", "dropout", "seed"});
}

void add_loop(CLI::App& simulate) {
    const auto [verb, options] =
        add_model(simulate, "loop", "Single-cell counts of cells around a loop, phases known",
                  ".h5ad file to write", run_loop);
    add(*verb, "--changed", options->cells.changed, "Share of genes that follow the loop");
    add(*verb, "--fold", options->cells.fold,
        "How much they change (deviation of their amplitudes, logarithms)");
    add_cell_flags(*verb, options->cells, {"cells", "genes", "depth", "dispersion", "seed"});
}

void add_tissue(CLI::App& simulate) {
    const auto [verb, options] = add_model(
        simulate, "tissue", "Single-cell counts of a tissue with layers that differ in their types of cells",
        ".h5ad file to write", run_tissue);
    options->cells.imbalance = 0.0;
    add(*verb, "--layers", options->layers, "Number of layers");
    add(*verb, "--mixing", options->mixing,
        "Share of the cells that lie in any layer, not in the one of their type");
    add_cell_flags(*verb, options->cells, {"cells", "genes", "types", "depth", "seed"});
}

} // namespace

void add_simulate(CLI::App& app) {
    CLI::App* verb = app.add_subcommand("simulate", "Make artificial data whose groups are known");
    verb->require_subcommand(1);
    add_circles(*verb);
    add_cells(*verb);
    add_branches(*verb);
    add_loop(*verb);
    add_tissue(*verb);
}

} // namespace pnmf::cli
