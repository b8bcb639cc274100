#include "linalg/some_columns.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/results/stored_result.hpp>

#include <memory>
#include <string_view>
#include <unordered_map>

namespace pnmf {
namespace {

/// "a, b, c and 17 more".
std::string some_of(const std::vector<std::string>& names) {
    constexpr std::size_t shown = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
        text += (i == 0 ? "" : ", ") + names[i];
    }
    return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

using Places = std::unordered_map<std::string_view, Index>;

/// Where each name stands; nothing when one occurs twice.
std::optional<Places> places_of(const std::vector<std::string>& names) {
    Places places;
    places.reserve(names.size());
    for (std::size_t j = 0; j < names.size(); ++j) {
        if (!places.emplace(names[j], static_cast<Index>(j)).second) {
            return std::nullopt;
        }
    }
    return places;
}

/// Where those of `names` stand that have a place; the others are added to `unknown`.
std::vector<Index> positions_of(const std::vector<std::string>& names, const Places& places,
                                std::vector<std::string>& unknown) {
    std::vector<Index> positions;
    for (const std::string& name : names) {
        if (const auto found = places.find(name); found != places.end()) {
            positions.push_back(found->second);
        } else {
            unknown.push_back(name);
        }
    }
    return positions;
}

/// Version 0.1 kept no names: the order is the file's unless something speaks against it.
CellOrder unnamed_cells(Index of_fit, const std::vector<std::string>& here, std::optional<bool> aligned) {
    require(std::ssize(here) == of_fit,
            "the fit had {} cells, {} are here, and it does not name them (it was stored by version 0.1), so "
            "that they cannot be told; fit again, or use the file as the fit wrote it",
            of_fit, here.size());
    require(
        aligned.value_or(true),
        "the cells have been put into another order since the fit, and it does not name them (it was stored "
        "by version 0.1), so that they cannot be told; fit again, or use the file as the fit wrote it");
    CellOrder order{.position = {}, .of_fit = of_fit};
    if (!aligned) {
        order.notice = "the result does not name its cells (it was stored by version 0.1): it is used as if "
                       "they were in the order of the fit";
    }
    return order;
}

} // namespace

CellOrder match_cells(const std::vector<std::string>& stored, Index of_fit,
                      const std::vector<std::string>& here,
                      const std::function<std::optional<bool>()>& aligned) {
    if (here.empty()) {
        return {.position = {}, .of_fit = of_fit};
    }
    if (stored.empty()) {
        return unnamed_cells(of_fit, here, aligned());
    }
    require(std::ssize(stored) == of_fit, "the fit has embeddings of {} cells and names of {}", of_fit,
            stored.size());
    const std::optional<Places> places = places_of(stored);
    if (here == stored) {
        require(
            places.has_value() || aligned().value_or(false),
            "some cells have the same name, so that the order of the cells cannot be confirmed; give each "
            "cell a name of its own and fit again");
        return {.position = {}, .of_fit = of_fit};
    }
    require(places.has_value() && places_of(here).has_value(),
            "some cells have the same name, so that they cannot be matched with those of the fit; give each "
            "cell a name of its own and fit again");
    CellOrder order{.position = {}, .of_fit = of_fit, .whole = here.size() == stored.size()};
    std::vector<std::string> unknown;
    order.position = positions_of(here, *places, unknown);
    require(
        unknown.empty(),
        "{} of {} cells are not among those of the fit: {} (its cells are {}); names of cells must be those "
        "that the fit had",
        unknown.size(), here.size(), some_of(unknown), some_of(stored));
    return order;
}

void require_whole(const StoredResult& result, const std::string& what) {
    require(result.order.whole, "{}: {} of the whole fit, and {} of its {} cells are here", result.name, what,
            result.cells(), result.order.of_fit);
}

namespace {

/// The cells of the data in this order, by position.
void take_cells(Dataset& data, const std::vector<Index>& from) {
    data.X = some_columns(view_of(data.X), from);
    if (data.others) {
        data.others->values = some_columns(view_of(data.others->values), from);
    }
    const auto taken = [&](const auto& values) {
        std::decay_t<decltype(values)> result;
        for (const Index j : from) {
            result.push_back(values[static_cast<std::size_t>(j)]);
        }
        return result;
    };
    data.cell_names = taken(data.cell_names);
    for (TableColumn& column : data.cell_table) {
        std::visit([&](auto& values) { values = taken(values); }, column.values);
    }
}

} // namespace

Dataset read_data_of(const StoredResult& result, const std::filesystem::path& path,
                     const InputChoices& choices) {
    Dataset data = read_data_again(path, result.input, result.features, choices).data;
    const auto refuse = [&](const std::string& why) {
        fail("{}: these are not the data of {}: {}", path.string(), result.name, why);
    };
    const std::vector<std::string>& wanted = result.file.cell_names;
    if (data.cell_names == wanted) {
        return data;
    }
    const std::vector<std::string> stored = result.texts("cells");
    const std::optional<Places> of_fit = places_of(stored.empty() ? wanted : stored);
    const std::optional<Places> places = places_of(data.cell_names);
    if (!places || !of_fit) {
        refuse("some cells have the same name, so that they cannot be matched");
    }
    std::vector<std::string> unknown; // cells that are empty have been left out already
    positions_of(data.cell_names, *of_fit, unknown);
    // Cells that the fit was told to leave out are no surprise.
    const bool some_left_out =
        result.input.step(step::within) != nullptr || result.input.step(step::poor_cells) != nullptr;
    if (!unknown.empty() && !some_left_out) {
        refuse(fmt::format("{} of its {} cells are not among those of the fit: {}", unknown.size(),
                           data.cells(), some_of(unknown)));
    }
    std::vector<std::string> missing;
    const std::vector<Index> from = positions_of(wanted, *places, missing);
    if (!missing.empty()) {
        refuse(
            fmt::format("{} of {} cells are missing: {}", missing.size(), wanted.size(), some_of(missing)));
    }
    take_cells(data, from);
    return data;
}

KnownFit known_fit(StoredResult result) {
    KnownFit known{.name = result.name,
                   .scales = result.scales,
                   .rank = result.rank,
                   .features = std::ssize(result.features),
                   .cells = result.cells(),
                   .positions = result.positions("scale_position", 0, result.order.of_fit)};
    result.file = {}; // H and W are read when they are needed
    const auto kept = std::make_shared<const StoredResult>(std::move(result));
    known.H = [kept](Index t) { return kept->H(t); };
    if (kept->has_basis) {
        known.W = [kept](Index t) { return kept->W(t); };
    }
    return known;
}

} // namespace pnmf
