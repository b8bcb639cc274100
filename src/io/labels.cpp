#include "io/labels.hpp"

#include "io/formats.hpp"
#include "io/table.hpp"
#include "missing.hpp"
#include "words.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <unordered_map>

namespace pnmf {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> as_text(const TableColumn& column) {
    if (const auto* text = std::get_if<std::vector<std::string>>(&column.values)) {
        return *text;
    }
    std::vector<std::string> text;
    for (const double value : std::get<std::vector<double>>(column.values)) {
        text.push_back(fmt::format("{}", value));
    }
    return text;
}

std::string own_columns(const Dataset& data) {
    std::vector<std::string> names;
    for (const TableColumn& column : data.cell_table) {
        names.push_back(column.name);
    }
    return names.empty() ? "the data have no table of cells" : "the data have " + io::abbreviate(names, 20);
}

struct Place {
    fs::path file;
    std::string column; ///< empty: choose
};

/// `FILE` or `FILE:COLUMN`; the file must exist.
Place find_place(const std::string& what, const std::string& where, const Dataset& data) {
    std::error_code ignored;
    if (fs::is_regular_file(where, ignored)) {
        return {.file = where, .column = ""};
    }
    const std::size_t colon = where.rfind(':');
    if (colon != std::string::npos && colon > 0) {
        const std::string file = where.substr(0, colon);
        require(fs::is_regular_file(file, ignored), "{} '{}': neither a column nor a file {}; {}", what,
                where, file, own_columns(data));
        return {.file = file, .column = where.substr(colon + 1)};
    }
    fail("{} '{}': neither a column of the data nor a file; {}", what, where, own_columns(data));
}

/// Which column of the table holds the labels. `names` of the first columns are names of cells.
std::size_t choose_column(const io::TextTable& table, const std::string& column, std::size_t names) {
    const std::size_t count = table.columns.size();
    if (column.empty()) {
        if (count == names + 1) {
            return names;
        }
        const auto found = std::find(table.header.begin(), table.header.end(), "label");
        require(found != table.header.end(),
                "{}: has {} columns, say which one holds the labels: {}:COLUMN{}", table.name, count,
                table.name, table.header.empty() ? "" : " with one of " + io::abbreviate(table.header, 20));
        return static_cast<std::size_t>(found - table.header.begin());
    }
    if (table.header.empty()) {
        const auto number = static_cast<std::size_t>(std::max<Index>(whole_number(column).value_or(0), 0));
        require(number >= 1 && number <= count,
                "{}: no header, so the column must be a number from 1 to {}, got '{}'", table.name, count,
                column);
        return number - 1;
    }
    const auto found = std::find(table.header.begin(), table.header.end(), column);
    require(found != table.header.end(), "{}: no column '{}', it has {}", table.name, column,
            io::abbreviate(table.header, 20));
    return static_cast<std::size_t>(found - table.header.begin());
}

std::vector<std::string> match_by_name(const io::TextTable& table, const std::vector<std::string>& labels,
                                       const Dataset& data) {
    std::unordered_map<std::string_view, std::size_t> row;
    for (std::size_t r = 0; r < labels.size(); ++r) {
        require(row.emplace(table.columns.front()[r], r).second, "{}: cell {} occurs more than once",
                table.name, table.columns.front()[r]);
    }
    std::vector<std::string> result;
    std::vector<std::string> missing;
    for (const std::string& name : data.cell_names) {
        const auto found = row.find(name);
        if (found == row.end()) {
            missing.push_back(name);
        } else {
            result.push_back(labels[found->second]);
        }
    }
    require(missing.empty(), "{}: {} of {} cells have no label: {}", table.name, missing.size(),
            data.cell_names.size(), io::abbreviate(missing));
    return result;
}

} // namespace

std::vector<std::string> read_labels(const std::string& where, const Dataset& data) {
    std::vector<std::string> labels = io::read_column("labels", where, data);
    require(!std::all_of(labels.begin(), labels.end(), is_missing), "labels '{}': no cell has one", where);
    return labels;
}

std::vector<std::string> io::read_column(const std::string& what, const std::string& where,
                                         const Dataset& data) {
    if (const TableColumn* const column = find_column(data.cell_table, where)) {
        return as_text(*column);
    }
    const Place place = find_place(what, where, data);
    io::TextTable table = io::read_table(place.file);
    require(table.rows() > 0, "{}: the table is empty", table.name);
    const std::unordered_map<std::string_view, Index> cells = [&] {
        std::unordered_map<std::string_view, Index> map;
        for (const std::string& name : data.cell_names) {
            map.emplace(name, 0);
        }
        return map;
    }();
    const auto& first = table.columns.front();
    const bool named =
        table.columns.size() > 1 &&
        std::any_of(first.begin(), first.end(), [&](const auto& name) { return cells.contains(name); });
    if (named) {
        if (table.short_header || !cells.contains(first.front())) {
            table.take_header();
        }
        const std::size_t column = choose_column(table, place.column, 1);
        return match_by_name(table, table.columns[column], data);
    }
    const Index n = data.cells();
    table.count_blank_lines({n, n + 1}); // cells without a label
    require(table.rows() == n || table.rows() == n + 1, "{}: expected {} labels, one for each cell, got {}",
            table.name, n, table.rows());
    if (table.rows() == n + 1) {
        table.take_header();
    }
    return table.columns[choose_column(table, place.column, 0)];
}

void add_labels(Dataset& data, const std::string& where) {
    TableColumn labels{.name = "label", .values = read_labels(where, data), .categorical = true};
    if (const TableColumn* const own = io::find_column(data.cell_table, where)) {
        labels.categories = own->categories;
        labels.ordered = own->ordered;
    }
    io::set_column(data.cell_table, std::move(labels));
}

} // namespace pnmf
