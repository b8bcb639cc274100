#include <pnmf/io/annotations.hpp>

#include "io/formats.hpp"
#include "io/labels.hpp"
#include "io/numbers.hpp"
#include "missing.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <map>

namespace pnmf {
namespace {

std::optional<double> number_in(const std::string& text) {
    double value = 0.0;
    return io::parse_number(text, value) ? std::optional(value) : std::nullopt;
}

/// 2 before 10, and words by their letters.
bool comes_before(const std::string& a, const std::string& b) {
    const auto x = number_in(a);
    const auto y = number_in(b);
    if (x && y && *x != *y) {
        return *x < *y;
    }
    return x.has_value() != y.has_value() ? x.has_value() : a < b;
}

void keep_batches(Dataset& data, const std::string& where, TableColumn column) {
    const auto& values = std::get<std::vector<std::string>>(column.values);
    const auto first = std::find_if(values.begin(), values.end(), is_missing);
    if (first != values.end()) {
        const auto place = static_cast<std::size_t>(first - values.begin());
        fail(
            "batches '{}': {} of {} cells have none, the first is {}; leave these cells out or give them one",
            where, std::count_if(values.begin(), values.end(), is_missing), values.size(),
            place < data.cell_names.size() ? data.cell_names[place] : fmt::format("cell {}", place + 1));
    }
    if (column.categories.empty()) {
        column.categories = values;
        std::sort(column.categories.begin(), column.categories.end(), comes_before);
        column.categories.erase(std::unique(column.categories.begin(), column.categories.end()),
                                column.categories.end());
    }
    column.name = batch_column;
    column.categorical = true;
    io::set_column(data.cell_table, std::move(column));
    data.input.batch = where;
}

} // namespace

std::vector<Index> Batches::cells() const {
    std::vector<Index> counts(names.size(), 0);
    for (const Index b : of_cell) {
        ++counts[static_cast<std::size_t>(b)];
    }
    return counts;
}

void add_batches(Dataset& data, const std::string& where) {
    TableColumn column{.name = {}, .values = io::read_column("batches", where, data)};
    if (const TableColumn* const own = io::find_column(data.cell_table, where)) {
        column.categories = own->categories;
    }
    keep_batches(data, where, std::move(column));
}

void add_batches(Dataset& data, const std::string& column, std::vector<std::string> values) {
    require(std::ssize(values) == data.cells(), "there must be a batch for each of the {} cells, got {}",
            data.cells(), values.size());
    keep_batches(data, column, {.name = {}, .values = std::move(values)});
}

std::optional<Batches> batches_of(const Dataset& data) {
    const TableColumn* const column = io::find_column(data.cell_table, batch_column);
    if (column == nullptr) {
        return std::nullopt;
    }
    const auto& values = std::get<std::vector<std::string>>(column->values);
    std::map<std::string, Index> count;
    for (const std::string& value : values) {
        ++count[value];
    }
    Batches batches{.column = data.input.batch.value_or(batch_column)};
    std::map<std::string, Index> place;
    for (const std::string& name : column->categories) {
        if (count.contains(name)) { // categories without cells are no batches
            place.emplace(name, std::ssize(batches.names));
            batches.names.push_back(name);
        }
    }
    require(batches.names.size() > 1,
            "batches '{}': all cells are of batch '{}': there is nothing to balance", batches.column,
            count.begin()->first);
    std::vector<std::string> single;
    for (const std::string& name : batches.names) {
        if (count[name] == 1) {
            single.push_back(name);
        }
    }
    require(
        single.empty(),
        "batches '{}': each batch needs at least 2 cells, and {} of {} have 1: {}; leave these cells out, "
        "or put them into another batch",
        batches.column, single.size(), batches.names.size(), io::abbreviate(single));
    for (const std::string& value : values) {
        batches.of_cell.push_back(place.at(value));
    }
    return batches;
}

} // namespace pnmf
