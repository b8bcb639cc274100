#include "report/sample.hpp"

#include "linalg/some_columns.hpp"

#include <pnmf/linalg/random.hpp>

#include <algorithm>
#include <utility>

namespace pnmf::report {
namespace {

template <class Value>
std::vector<Value> at(const std::vector<Value>& values, const std::vector<Index>& cells) {
    std::vector<Value> chosen;
    chosen.reserve(cells.size());
    for (const Index cell : cells) {
        chosen.push_back(values[static_cast<std::size_t>(cell)]);
    }
    return chosen;
}

std::vector<TableColumn> rows_of(const std::vector<TableColumn>& table, const std::vector<Index>& cells) {
    std::vector<TableColumn> part;
    for (const TableColumn& column : table) {
        part.push_back({.name = column.name,
                        .values = {},
                        .categorical = column.categorical,
                        .categories = column.categories,
                        .ordered = column.ordered,
                        .number = column.number});
        std::visit([&](const auto& values) { part.back().values = at(values, cells); }, column.values);
    }
    return part;
}

/// FNV-1a of a name, mixed.
std::uint64_t number_of(const std::string& name) {
    std::uint64_t bits = 0xcbf29ce484222325U;
    for (const char letter : name) {
        bits = (bits ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
    }
    return Random(bits).bits();
}

} // namespace

std::vector<Index> drawn_by_name(const std::vector<std::string>& names, Index count) {
    std::vector<std::pair<std::uint64_t, Index>> drawn;
    drawn.reserve(names.size());
    for (const std::string& name : names) {
        drawn.emplace_back(number_of(name), std::ssize(drawn));
    }
    std::nth_element(drawn.begin(), drawn.begin() + count, drawn.end());
    std::vector<Index> cells(static_cast<std::size_t>(count));
    std::transform(drawn.begin(), drawn.begin() + count, cells.begin(),
                   [](const auto& one) { return one.second; });
    std::sort(cells.begin(), cells.end());
    return cells;
}

StoredResult sample_of(const StoredResult& result, const std::vector<Index>& cells) {
    StoredResult part = result;
    part.order.position = result.order.position.empty() ? cells : at(result.order.position, cells);
    part.order.whole = false;
    part.file.cell_names = at(result.file.cell_names, cells);
    part.file.cell_table = rows_of(result.file.cell_table, cells);
    for (auto& [name, values] : part.file.obsm) {
        values = Matrix(values(cells, Eigen::all));
    }
    return part;
}

Dataset sample_of(const Dataset& data, const std::vector<Index>& cells) {
    Dataset part;
    part.X = some_columns(view_of(data.X), cells);
    part.feature_names = data.feature_names;
    part.feature_table = data.feature_table;
    part.cell_names = at(data.cell_names, cells);
    part.cell_table = rows_of(data.cell_table, cells);
    part.input = data.input;
    part.facts = data.facts;
    if (data.others) {
        part.others = OtherGenes{.names = data.others->names,
                                 .values = some_columns(view_of(data.others->values), cells)};
    }
    return part;
}

} // namespace pnmf::report
