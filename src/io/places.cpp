#include <pnmf/io/annotations.hpp>

#include "io/formats.hpp"
#include "io/labels.hpp"
#include "io/numbers.hpp"
#include "words.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace pnmf {
namespace {

double number_of(const std::string& text) {
    double value = 0.0;
    return io::parse_number(text, value) ? value : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> numbers_of(const TableColumn& column) {
    if (const auto* numbers = std::get_if<std::vector<double>>(&column.values)) {
        return *numbers;
    }
    std::vector<double> numbers;
    for (const std::string& text : std::get<std::vector<std::string>>(column.values)) {
        numbers.push_back(number_of(text));
    }
    return numbers;
}

const TableColumn& column_of(const Dataset& data, const std::string& name) {
    const TableColumn* const found = io::find_column(data.cell_table, name);
    std::vector<std::string> names;
    for (const TableColumn& one : data.cell_table) {
        names.push_back(one.name);
    }
    require(
        found != nullptr,
        "places: the table of cells has no column '{}'; it has {}. Places are an entry of obsm of an .h5ad "
        "file, or two or three columns with numbers",
        name, names.empty() ? "none" : io::abbreviate(names, 20));
    return *found;
}

void check_places(const Dataset& data) {
    const Matrix& places = data.space->coordinates;
    require(places.rows() == 2 || places.rows() == 3, "places need 2 or 3 coordinates, {} has {}",
            data.space->name, places.rows());
    std::vector<std::string> missing;
    for (Index j = 0; j < places.cols(); ++j) {
        if (!places.col(j).allFinite()) {
            missing.push_back(data.cell_names[static_cast<std::size_t>(j)]);
        }
    }
    require(missing.empty(),
            "places {}: {} of {} cells have none: {}; leave these cells out, or take the "
            "preset cells, which needs no places",
            data.space->name, missing.size(), places.cols(), io::abbreviate(missing));
    require(places.cols() < 2 || (places.colwise() - places.col(0)).cwiseAbs().maxCoeff() > 0.0,
            "places {}: all cells are at one place; the preset cells needs no places", data.space->name);
}

} // namespace

void add_places(Dataset& data, const std::string& where) {
    if (!where.starts_with("obsm:")) {
        const std::vector<std::string> names = split_at(where, ',');
        Matrix places(std::ssize(names), data.cells());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const std::vector<double> values = numbers_of(column_of(data, names[i]));
            places.row(static_cast<Index>(i)) = Eigen::Map<const Vector>(values.data(), data.cells());
        }
        data.space = Space{.name = "obs:" + where, .coordinates = std::move(places)};
    }
    require(data.space.has_value(), "the data have no {}: places must be read with them", where);
    data.space->downwards = where.starts_with("obsm:") && data.facts.has_image;
    data.space->unit_um = where.starts_with("obsm:") ? data.facts.unit_um : std::nullopt;
    check_places(data);
}

void add_samples(Dataset& data, const std::string& where) {
    add_samples(data, io::read_column("samples", where, data));
}

void add_samples(Dataset& data, std::vector<std::string> samples) {
    require(std::ssize(samples) == data.cells(), "there must be a sample for each of the {} cells, got {}",
            data.cells(), samples.size());
    io::set_column(data.cell_table,
                   {.name = sample_column, .values = std::move(samples), .categorical = true});
}

void separate_samples(Dataset& data) {
    const TableColumn* const column = io::find_column(data.cell_table, sample_column);
    if (column == nullptr || !data.space) {
        return;
    }
    constexpr double times_extent = 10.0;
    Matrix& places = data.space->coordinates;
    const auto& samples = std::get<std::vector<std::string>>(column->values);
    struct Box {
        Vector low;
        Vector high;
    };
    std::map<std::string, Box> boxes; // in the order of their names
    for (Index j = 0; j < places.cols(); ++j) {
        const Vector place = places.col(j);
        Box& box = boxes.try_emplace(samples[static_cast<std::size_t>(j)], Box{place, place}).first->second;
        box.low = box.low.cwiseMin(place);
        box.high = box.high.cwiseMax(place);
    }
    double extent = 0.0;
    for (const auto& [name, box] : boxes) {
        extent = std::max(extent, (box.high - box.low).norm());
    }
    require(extent > 0.0, "places {}: all cells of a sample are at one place", data.space->name);
    Slices slices;
    std::map<std::string, Index> number;
    for (const auto& [name, box] : boxes) {
        const double begin = static_cast<double>(number.size()) * (1.0 + times_extent) * extent;
        slices.moved.push_back(begin - box.low[0]);
        slices.names.push_back(name);
        number.emplace(name, std::ssize(number));
    }
    for (Index j = 0; j < places.cols(); ++j) {
        slices.of_cell.push_back(number.at(samples[static_cast<std::size_t>(j)]));
        places(0, j) += slices.moved[static_cast<std::size_t>(slices.of_cell.back())];
    }
    data.space->slices = std::move(slices);
    data.notices.push_back(
        fmt::format("{} samples: cells have neighbours in their own sample alone", boxes.size()));
}

Matrix places_in_slices(const Space& space) {
    Matrix places = space.coordinates;
    for (Index j = 0; space.slices && j < places.cols(); ++j) {
        const auto slice = static_cast<std::size_t>(space.slices->of_cell[static_cast<std::size_t>(j)]);
        places(0, j) -= space.slices->moved[slice];
    }
    return places;
}

} // namespace pnmf
