#include "results/resolution_columns.hpp"

#include "io/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

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

/// Okabe and Ito's eight, then four of Paul Tol's muted set, as in the page; beyond them the same, lighter.
std::string colour(Index place) {
    constexpr std::array<std::uint32_t, 12> palette{0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7,
                                                    0x56b4e9, 0xd55e00, 0xb8ab20, 0x7f7f7f,
                                                    0x882255, 0x44aa99, 0x332288, 0x999933};
    std::uint32_t rgb = palette[static_cast<std::size_t>(place) % palette.size()];
    if (static_cast<std::size_t>(place) / palette.size() % 2 == 1) {
        rgb = 0x808080 + ((rgb >> 1) & 0x7f7f7f); // half way to white
    }
    return fmt::format("#{:06x}", rgb);
}

/// A place in the palette for each cluster. The largest part of a cluster keeps its place in the next
/// resolution; the others get the next that are free.
std::vector<std::vector<Index>> colour_places(const Resolutions& resolutions) {
    std::vector<std::vector<Index>> places;
    Index next = 0;
    for (const Resolution& resolution : resolutions.all) {
        std::vector<Index> cells(static_cast<std::size_t>(resolution.clusters), 0);
        for (const Index label : resolution.labels) {
            ++cells[static_cast<std::size_t>(label)];
        }
        std::vector<Index> largest; // part of each cluster before
        for (std::size_t c = 0; c < resolution.parent.size(); ++c) {
            const auto parent = static_cast<std::size_t>(resolution.parent[c]);
            largest.resize(std::max(largest.size(), parent + 1), -1);
            if (largest[parent] < 0 || cells[c] > cells[static_cast<std::size_t>(largest[parent])]) {
                largest[parent] = static_cast<Index>(c);
            }
        }
        std::vector<Index> here(cells.size(), -1);
        for (std::size_t parent = 0; parent < largest.size(); ++parent) {
            if (largest[parent] >= 0) {
                here[static_cast<std::size_t>(largest[parent])] = places.back()[parent];
            }
        }
        for (Index& place : here) {
            place = place < 0 ? next++ : place;
        }
        places.push_back(std::move(here));
    }
    return places;
}

std::vector<std::string> colours(const std::vector<Index>& places) {
    std::vector<std::string> found;
    std::transform(places.begin(), places.end(), std::back_inserter(found), colour);
    return found;
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

void add_resolutions(AnnDataFile& file, AnnDataMap& uns, const Resolutions& resolutions) {
    if (resolutions.all.empty() ||
        (resolutions.all.size() == 1 && std::isnan(resolutions.all.front().p_value))) {
        return; // the number was given
    }
    const std::vector<std::vector<Index>> places = colour_places(resolutions);
    for (std::size_t r = 0; r < resolutions.all.size(); ++r) {
        const Resolution& resolution = resolutions.all[r];
        const std::string name = fmt::format("pnmf_clusters_{}", r + 1);
        io::set_column(file.cell_table, cluster_column(name, resolution.labels, resolution.clusters));
        file.uns[name + "_colors"] = colours(places[r]);
    }
    file.uns["pnmf_clusters_colors"] = colours(places[static_cast<std::size_t>(resolutions.recommended)]);
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
