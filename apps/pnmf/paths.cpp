#include "json_text.hpp"
#include "option_flags.hpp"
#include "say.hpp"
#include "verbs.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/results/stored_result.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>

namespace pnmf::cli {
namespace {

struct PathsOptions {
    std::string result;
    std::string data; ///< of the fit; empty: its space is enough
    PathRequest request;
    std::string output; ///< a table; empty: none
    bool keep = false;
    bool json = false;
};

/// What one group of cells has in common.
struct GroupPath {
    std::string name;
    Index cells = 0;
    double time = 0.0; ///< the median
    Vector fate;       ///< the mean
};

/// Groups by their times; those without cells are left out.
std::vector<GroupPath> groups_of(const StoredPaths& paths) {
    std::vector<GroupPath> groups;
    for (Index g = 0; g < std::ssize(paths.group_names); ++g) {
        GroupPath one{.name = paths.group_names[static_cast<std::size_t>(g)],
                      .fate = Vector::Zero(std::ssize(paths.ends))};
        std::vector<double> times;
        for (Index j = 0; j < paths.time.size(); ++j) {
            if (paths.group[static_cast<std::size_t>(j)] == g) {
                times.push_back(paths.time[j]);
                one.fate += paths.fates.probability.col(j);
            }
        }
        if (times.empty()) {
            continue;
        }
        one.cells = std::ssize(times);
        one.fate /= static_cast<double>(times.size());
        std::sort(times.begin(), times.end());
        one.time = times[times.size() / 2];
        groups.push_back(std::move(one));
    }
    std::stable_sort(groups.begin(), groups.end(),
                     [](const GroupPath& a, const GroupPath& b) { return a.time < b.time; });
    return groups;
}

std::string table_of(const StoredPaths& paths, const StoredResult& result) {
    std::string text = "cell\ttime";
    for (const std::string& end : paths.ends) {
        text += fmt::format("\t{}", end);
    }
    text += '\n';
    for (Index j = 0; j < paths.time.size(); ++j) {
        text += fmt::format("{}\t{}", result.file.cell_names[static_cast<std::size_t>(j)], paths.time[j]);
        for (const double probability : paths.fates.probability.col(j)) {
            text += fmt::format("\t{}", probability);
        }
        text += '\n';
    }
    return text;
}

void keep_columns(const StoredPaths& paths, const std::string& file) {
    std::vector<TableColumn> columns{
        {.name = "pnmf_time", .values = std::vector<double>(paths.time.begin(), paths.time.end())}};
    for (std::size_t k = 0; k < paths.ends.size(); ++k) {
        const auto row = paths.fates.probability.row(static_cast<Index>(k));
        columns.push_back(
            {.name = "pnmf_fate_" + paths.ends[k], .values = std::vector<double>(row.begin(), row.end())});
    }
    add_cell_columns(file, columns);
    say("{}: {} columns in obs, pnmf_time and pnmf_fate_...\n", file, columns.size());
}

nlohmann::ordered_json json_of(const StoredPaths& paths, const StoredResult& result) {
    nlohmann::ordered_json json{{"result", result.name},
                                {"root", result.file.cell_names[static_cast<std::size_t>(paths.root)]},
                                {"ends", paths.ends},
                                {"converged", paths.fates.converged},
                                {"sweeps", paths.fates.sweeps}};
    for (const GroupPath& group : groups_of(paths)) {
        json["groups"].push_back({{"group", group.name},
                                  {"cells", group.cells},
                                  {"time", group.time},
                                  {"fates", std::vector<double>(group.fate.begin(), group.fate.end())}});
    }
    return json;
}

void print_paths(const StoredPaths& paths, const StoredResult& result) {
    put("from cell {} to {} end{}\n\n", result.file.cell_names[static_cast<std::size_t>(paths.root)],
        paths.ends.size(), paths.ends.size() == 1 ? "" : "s");
    put("{:<20} {:>6}  {:>11}", "group", "cells", "median time");
    for (const std::string& end : paths.ends) {
        put("  to {:<12}", end);
    }
    put("\n");
    for (const GroupPath& group : groups_of(paths)) {
        put("{:<20} {:>6}  {:>11.3f}", group.name, group.cells, group.time);
        for (const double fate : group.fate) {
            put("  {:<15.3f}", fate);
        }
        put("\n");
    }
}

void run_paths(const PathsOptions& options) {
    const StoredResult result = read_stored_result(options.result);
    std::optional<Dataset> data;
    if (!options.data.empty()) {
        data = read_data_of(result, options.data);
    }
    require(result.space || data, "{}: the fit took its distances from its data: give them by --data",
            result.name);
    const StoredPaths paths = find_paths(result, options.request, data ? &*data : nullptr);
    if (!paths.fates.converged) {
        say("warning: probabilities have not settled after {} sweeps: they still move by {:.0e}\n",
            paths.fates.sweeps, paths.fates.residual);
    }
    if (!options.output.empty()) {
        write_text(options.output, table_of(paths, result));
    }
    if (options.keep) {
        keep_columns(paths, result.name);
    }
    if (options.json) {
        put_json(json_of(paths, result));
    } else {
        print_paths(paths, result);
    }
    if (options.output.empty() && !options.keep) {
        say("nothing was stored: --keep puts time and probabilities of each cell into the result, -o "
            "FILE.tsv "
            "writes them as a table\n");
    }
}

} // namespace

void add_paths(CLI::App& app) {
    auto options = std::make_shared<PathsOptions>();
    CLI::App* verb = app.add_subcommand(
        "paths", "Order the cells along the graph of all scales from a root, and say where each may end");
    verb->add_option("RESULT", options->result, "Folder or .h5ad file of a fit")->required();
    verb->add_option("--root", options->request.root,
                     "Where paths begin: the name of a cell, or a group, whose central cell is taken")
        ->type_name("CELL|GROUP")
        ->required();
    verb->add_option("--ends", options->request.ends,
                     "Groups where paths end [the leaves of the tree of groups]")
        ->delimiter(',')
        ->type_name("GROUP,...");
    verb->add_option("--groups", options->request.groups, "Column of obs with the groups of the cells")
        ->type_name("COLUMN")
        ->capture_default_str();
    verb->add_option("--direction", options->request.fates.direction,
                     "How seldom walks step back in time; 0: as often as forth")
        ->check(not_negative())
        ->capture_default_str();
    verb->add_option("--data", options->data,
                     "The data of the fit; needed where it took its distances from them, not from a space")
        ->type_name("INPUT");
    verb->add_option("-o,--output", options->output, "Write time and probabilities of each cell as a table")
        ->type_name("FILE.tsv");
    verb->add_flag("--keep", options->keep,
                   "Store them in obs of the result, as pnmf_time and pnmf_fate_GROUP");
    add_threads_flag(*verb);
    add_json_flag(*verb, options->json);
    verb->callback([options] { run_paths(*options); });
}

} // namespace pnmf::cli
