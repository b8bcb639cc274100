#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>

#include "cells/io/local_cells.hpp"
#include "io/formats.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace pnmf {

namespace fs = std::filesystem;

Index Dataset::features() const {
    return std::visit(
        [](const auto& matrix) -> Index {
            if constexpr (std::is_same_v<std::decay_t<decltype(matrix)>, Matrix>) {
                return matrix.rows();
            } else {
                return matrix.rows;
            }
        },
        X);
}

Index Dataset::cells() const {
    if (local) {
        return local->all;
    }
    return std::visit(
        [](const auto& matrix) -> Index {
            if constexpr (std::is_same_v<std::decay_t<decltype(matrix)>, Matrix>) {
                return matrix.cols();
            } else {
                return matrix.cols;
            }
        },
        X);
}

Dataset read_dataset(const fs::path& path, const ReadOptions& options) {
    const io::Format format = io::recognise(path);
    require(!options.layer || *options.layer == "X" || io::has_layers(format),
            "{}: only .h5ad and .loom files have layers, this is {}", path.string(), io::format_name(format));
    require(!options.modality || format == io::Format::h5mu,
            "{}: only MuData files have modalities, this is {}", path.string(), io::format_name(format));
    require(!options.space || io::is_anndata(format), "{}: only .h5ad files have entries of obsm, this is {}",
            path.string(), io::format_name(format));
    require(!options.variable || format == io::Format::mat, "{}: only .mat files have variables, this is {}",
            path.string(), io::format_name(format));
    ReadOptions complete = options;
    complete.cells = options.cells.value_or(io::default_axis(format));
    if (io::has_layers(format) && !complete.layer) {
        complete.layer = "X";
    }
    Dataset data = read_as(format, path, complete);
    // Tables of text have genes in their rows or cells, as who wrote them pleased.
    const bool swapped = !options.cells && format == io::Format::delimited && io::names_say_swapped(data);
    if (swapped) {
        complete.cells = CellAxis::rows;
        data = {};
        data = read_as(format, path, complete);
    }
    if (data.local && io::entries_repeat(data)) { // rare, and only who reads all can say how many there are
        complete.local = false;
        data = read_as(format, path, complete);
    }
    if (options.local && all_processes().count() > 1 && !data.local) {
        io::keep_share(data);
    }
    io::keep_share_of_space(data);
    io::check_same_file(path, data);
    io::tell_features_apart(data);
    io::check_not_empty(path.string(), data);
    data.notices.insert(data.notices.begin(),
                        fmt::format("{}: {}, {} features x {} cells, {}; cells are the {}{}", path.string(),
                                    io::format_name(format), data.features(), data.cells(),
                                    data.is_sparse() ? "sparse" : "dense",
                                    *complete.cells == CellAxis::rows ? "rows" : "columns",
                                    options.cells ? ""
                                    : swapped     ? " (by their names)"
                                                  : " (default)"));
    data.input = {.format = io::format_key(format),
                  .cells = complete.cells,
                  .layer = complete.layer,
                  .modality = complete.modality,
                  .variable = complete.variable,
                  .known = true};
    return data;
}

FileFacts file_facts(const fs::path& path, const std::optional<std::string>& modality) {
    return io::is_anndata(io::recognise(path)) ? io::facts_of_h5ad(path, modality) : FileFacts{};
}

namespace io {

void check_extent(const std::string& where, Index rows, Index cols, std::int64_t entries) {
    constexpr Index always = Index{1} << 20;
    constexpr Index for_each_entry = 64;
    // Divided, not multiplied: a damaged file may claim 10¹⁸ entries.
    require(
        (std::max(rows, cols) - always + for_each_entry - 1) / for_each_entry <= entries,
        "{}: must not be {} x {} with {} entries only: beyond {} rows or columns, {} for each entry at most",
        where, rows, cols, entries, always, for_each_entry);
}

void check_not_empty(const std::string& where, const Dataset& data) {
    require(data.features() > 0 && data.cells() > 0, "{}: the matrix is empty, {} features x {} cells", where,
            data.features(), data.cells());
}

void name_missing(const std::string& where, Dataset& data) {
    check_not_empty(where, data);
    const auto fill = [](std::vector<std::string>& names, Index count, const char* word) {
        if (names.empty()) {
            names.reserve(static_cast<std::size_t>(count));
            for (Index i = 1; i <= count; ++i) {
                names.push_back(fmt::format("{}{}", word, i));
            }
        }
    };
    fill(data.feature_names, data.features(), "feature");
    fill(data.cell_names, data.cells(), "cell");
}

Index make_unique(std::vector<std::string>& names) {
    std::unordered_set<std::string> taken(names.begin(), names.end());
    std::unordered_set<std::string> seen;
    std::unordered_map<std::string, Index> copies;
    Index changed = 0;
    for (std::string& name : names) {
        if (seen.insert(name).second) {
            continue;
        }
        std::string candidate;
        do {
            candidate = fmt::format("{}-{}", name, ++copies[name]);
        } while (!taken.insert(candidate).second);
        seen.insert(candidate);
        name = candidate;
        ++changed;
    }
    return changed;
}

void tell_features_apart(Dataset& data) {
    if (const Index changed = make_unique(data.feature_names); changed > 0) {
        data.notices.push_back(fmt::format(
            "{} names of genes occur more than once; -1, -2, ... was added to their repetitions", changed));
    }
}

void tell_symbols_apart(const fs::path& path, Dataset& data) {
    if (const Index changed = make_unique(data.feature_names); changed > 0) {
        data.notices.push_back(fmt::format("{}: {} gene symbols occur more than once; -1, -2, ... was added "
                                           "to their repetitions, the ids are in the column gene_ids",
                                           path.string(), changed));
    }
}

void keep_gene_expression(const std::string& where, Dataset& data) {
    const TableColumn* const types = find_column(data.feature_table, "feature_types");
    if (types == nullptr) {
        return;
    }
    std::vector<bool> keep;
    for (const std::string& type : std::get<std::vector<std::string>>(types->values)) {
        keep.push_back(type == "Gene Expression");
    }
    const auto genes = std::count(keep.begin(), keep.end(), true);
    if (genes > 0 && genes < std::ssize(keep)) {
        data.notices.push_back(
            fmt::format("{}{} of {} features are of the type Gene Expression; the others are left out", where,
                        genes, keep.size()));
        keep_features(data, keep);
    }
}

const TableColumn* find_column(const std::vector<TableColumn>& table, std::string_view name) {
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const TableColumn& one) { return one.name == name; });
    return found == table.end() ? nullptr : &*found;
}

void set_column(std::vector<TableColumn>& table, TableColumn column) {
    std::erase_if(table, [&](const TableColumn& old) { return old.name == column.name; });
    table.push_back(std::move(column));
}

std::string abbreviate(const std::vector<std::string>& names, std::size_t shown) {
    const std::size_t count = names.size() == shown + 1 ? shown + 1 : std::min(shown, names.size());
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
        text += i == 0 ? "" : ", ";
        text += names[i];
    }
    if (count < names.size()) {
        text += fmt::format(" and {} more", names.size() - count);
    }
    return text;
}

} // namespace io
} // namespace pnmf
