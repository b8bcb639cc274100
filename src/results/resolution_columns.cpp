#include "results/resolution_columns.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace pnmf {
namespace {

/// One number of each resolution.
template <class Value, class Get>
NumericArray of_each(const Resolutions& resolutions, const Get& get) {
    std::vector<Value> values;
    for (const Resolution& resolution : resolutions.all) {
        values.push_back(static_cast<Value>(get(resolution)));
    }
    return numeric_array(values);
}

/// Resolution, cluster, parent, share.
Matrix parents_of(const Resolutions& resolutions) {
    Index rows = 0;
    for (const Resolution& resolution : resolutions.all) {
        rows += std::ssize(resolution.parent);
    }
    Matrix table(rows, 4);
    Index row = 0;
    for (std::size_t r = 0; r < resolutions.all.size(); ++r) {
        const Resolution& resolution = resolutions.all[r];
        for (std::size_t c = 0; c < resolution.parent.size(); ++c) {
            table.row(row++) << static_cast<double>(r), static_cast<double>(c),
                static_cast<double>(resolution.parent[c]), resolution.share[c];
        }
    }
    return table;
}

} // namespace

TableColumn cluster_column(const std::string& name, const std::vector<Index>& labels, Index clusters) {
    TableColumn column{.name = name, .values = {}, .categorical = true};
    std::vector<std::string> names;
    names.reserve(labels.size());
    for (const Index label : labels) {
        names.push_back(std::to_string(label + 1));
    }
    column.values = std::move(names);
    for (Index c = 1; c <= clusters; ++c) {
        column.categories.push_back(std::to_string(c));
    }
    return column;
}

void set_column(std::vector<TableColumn>& table, TableColumn column) {
    std::erase_if(table, [&](const TableColumn& old) { return old.name == column.name; });
    table.push_back(std::move(column));
}

void add_resolutions(AnnDataFile& file, AnnDataMap& uns, const Resolutions& resolutions) {
    if (resolutions.all.empty() ||
        (resolutions.all.size() == 1 && std::isnan(resolutions.all.front().p_value))) {
        return; // the number was given
    }
    for (std::size_t r = 0; r < resolutions.all.size(); ++r) {
        const Resolution& resolution = resolutions.all[r];
        set_column(file.cell_table, cluster_column(fmt::format("pnmf_clusters_{}", r + 1), resolution.labels,
                                                   resolution.clusters));
    }
    uns["resolutions"] = AnnDataMap{
        {"clusters", of_each<std::int64_t>(resolutions, [](const Resolution& r) { return r.clusters; })},
        {"scale", of_each<std::int64_t>(resolutions, [](const Resolution& r) { return r.scale; })},
        {"modularity", of_each<double>(resolutions, [](const Resolution& r) { return r.modularity; })},
        {"stability", of_each<double>(resolutions, [](const Resolution& r) { return r.stability; })},
        {"agreement", of_each<double>(resolutions, [](const Resolution& r) { return r.agreement; })},
        {"p_value", of_each<double>(resolutions, [](const Resolution& r) { return r.p_value; })},
        {"recommended", static_cast<std::int64_t>(resolutions.recommended)},
        {"parents", numeric_array(parents_of(resolutions))}};
}

} // namespace pnmf
