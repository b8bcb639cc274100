#include "io/beside.hpp"

#include "io/formats.hpp"
#include "io/table.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

using Stems = std::array<const char*, 2>;
constexpr Stems feature_files{"features", "genes"};
constexpr Stems cell_files{"barcodes", "cells"};

/// What "PREFIX_matrix.mtx.gz" puts before "matrix"; empty for other names.
std::string prefix_of(const fs::path& matrix) {
    std::string name = matrix.filename().string();
    for (const char* end : {".gz", ".mtx", "matrix"}) {
        if (!name.ends_with(end)) {
            if (std::string_view(end) == ".gz") {
                continue;
            }
            return "";
        }
        name.resize(name.size() - std::string_view(end).size());
    }
    return name;
}

std::optional<fs::path> find_sidecar(const fs::path& matrix, const Stems& stems) {
    const std::string prefix = prefix_of(matrix);
    std::vector<std::string> starts{prefix};
    if (!prefix.empty()) {
        starts.emplace_back();
    }
    for (const std::string& start : starts) {
        for (const char* stem : stems) {
            for (const char* end : {".tsv", ".tsv.gz"}) {
                fs::path candidate = matrix.parent_path() / (start + stem + end);
                std::error_code ignored;
                if (fs::is_regular_file(candidate, ignored)) {
                    return candidate;
                }
            }
        }
    }
    return std::nullopt;
}

bool fits(const TextTable& table, Index count) {
    return table.rows() == count + (table.short_header ? 1 : 0) || table.rows() == count + 1;
}

/// The table when it has a row for each of `count` things; its header taken off.
std::optional<TextTable> read_fitting(const fs::path& path, Index count, Index other, const char* things,
                                      Dataset& data) {
    TextTable table = read_table(path);
    table.count_blank_lines({count + (table.short_header ? 1 : 0), count + 1});
    if (!fits(table, count)) {
        require(!fits(table, other), Remedy::other_cell_axis,
                "{}: has {} rows, but the matrix has {} {}; it would fit with the other axis as cells",
                path.string(), table.rows(), count, things);
        data.notices.push_back(fmt::format("{}: not used, it has {} rows and the matrix has {} {}",
                                           path.string(), table.rows(), count, things));
        return std::nullopt;
    }
    if (table.rows() == count + 1) {
        table.take_header();
    }
    return table;
}

/// Names that are blank become "feature7", "cell7", and a notice says so.
void name_blank(std::vector<std::string>& names, const char* thing, const fs::path& path, Dataset& data) {
    std::vector<std::string> given;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i].find_first_not_of(" \t") == std::string::npos) {
            names[i] = fmt::format("{}{}", thing, i + 1);
            given.push_back(names[i]);
        }
    }
    if (!given.empty()) {
        data.notices.push_back(fmt::format("{}: {} name{} blank, made up here: {}", path.string(),
                                           given.size(), given.size() == 1 ? " is" : "s are",
                                           abbreviate(given)));
    }
}

/// The first column becomes the names, the others the table.
void take_columns(TextTable table, std::vector<std::string>& names, std::vector<TableColumn>& columns) {
    names = std::move(table.columns.front());
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
        std::string name = table.header.empty() ? fmt::format("column{}", c + 1) : table.header[c];
        columns.push_back(make_column(std::move(name), std::move(table.columns[c])));
    }
}

void take_tenx_features(TextTable table, const fs::path& path, Dataset& data) {
    const auto text = [](const char* name, std::vector<std::string> values) {
        return TableColumn{.name = name, .values = std::move(values)};
    };
    data.feature_names = table.columns[1];
    name_blank(data.feature_names, "feature", path, data);
    data.feature_table.push_back(text("gene_ids", std::move(table.columns[0])));
    tell_symbols_apart(path, data);
    if (table.columns.size() > 2) {
        data.feature_table.push_back(text("feature_types", std::move(table.columns[2])));
    }
}

} // namespace

void attach_sidecar_tables(Dataset& data, const fs::path& matrix) {
    if (const auto path = find_sidecar(matrix, feature_files)) {
        if (auto table = read_fitting(*path, data.features(), data.cells(), "features", data)) {
            data.notices.push_back(fmt::format("{}: names of the features", path->string()));
            if (table->header.empty() && table->columns.size() > 1) {
                take_tenx_features(std::move(*table), *path, data);
            } else {
                take_columns(std::move(*table), data.feature_names, data.feature_table);
                name_blank(data.feature_names, "feature", *path, data);
            }
        }
    }
    if (const auto path = find_sidecar(matrix, cell_files)) {
        if (auto table = read_fitting(*path, data.cells(), data.features(), "cells", data)) {
            data.notices.push_back(fmt::format("{}: names of the cells", path->string()));
            take_columns(std::move(*table), data.cell_names, data.cell_table);
            if (!data.cell_table.empty()) {
                std::vector<std::string> names;
                for (const TableColumn& column : data.cell_table) {
                    names.push_back(column.name);
                }
                data.notices.back() += fmt::format(", and the columns {}", abbreviate(names, 12));
            }
            name_blank(data.cell_names, "cell", *path, data);
        }
    }
    keep_gene_expression("", data);
}

Dataset read_tenx_folder(const fs::path& path, const ReadOptions& options) {
    std::vector<std::string> plain;
    std::vector<std::string> others;
    for (const auto& entry : fs::directory_iterator(path)) {
        const std::string name = entry.path().filename().string();
        if (name == "matrix.mtx" || name == "matrix.mtx.gz") {
            plain.push_back(name);
        } else if (name.ends_with("matrix.mtx") || name.ends_with("matrix.mtx.gz")) {
            others.push_back(name);
        }
    }
    std::vector<std::string>& found = plain.empty() ? others : plain;
    std::sort(found.begin(), found.end());
    require(!found.empty(), "{}: a folder must hold matrix.mtx or matrix.mtx.gz as 10x folders do",
            path.string());
    require(found.size() == 1, "{}: the folder holds several matrices, name one of them: {}", path.string(),
            abbreviate(found));
    const fs::path matrix = path / found.front();
    const auto expect = [&](const Stems& stems) {
        require(find_sidecar(matrix, stems).has_value(),
                "{}: the folder must hold {}.tsv or {}.tsv, .gz or not, beside {}", path.string(), stems[0],
                stems[1], found.front());
    };
    expect(feature_files);
    expect(cell_files);
    Dataset data = read_matrix_market_alone(matrix, options);
    check_not_empty(matrix.string(), data);
    attach_sidecar_tables(data, matrix);
    for (const std::string& notice : data.notices) {
        require(notice.find(": not used, ") == std::string::npos, "{}", notice);
    }
    return data;
}

} // namespace pnmf::io
