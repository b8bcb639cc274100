#include "io/trial_read.hpp"

#include <pnmf/error.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/stored_result.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <unordered_map>

namespace pnmf {
namespace {

namespace fs = std::filesystem;

template <class Value>
const Value* entry_of(const StoredResult& result, const std::string& entry) {
    const AnnDataValue* found = find(result.file.uns, result.key + "/" + entry);
    return found == nullptr ? nullptr : std::get_if<Value>(&found->value);
}

std::vector<Index> shape_or_none(const fs::path& path, const std::string& array) {
    // A file that cannot be read just now is not one without the array.
    return has_array(path, array) ? array_shape(path, array) : std::vector<Index>{};
}

/// An array of three axes, wherever it is.
struct Slabs {
    std::vector<Index> shape{};
    std::function<Matrix(Index)> at{};
    bool single = false;
};

Slabs slabs_in_file(const fs::path& path, const std::string& array) {
    Slabs slabs{.shape = shape_or_none(path, array)};
    if (slabs.shape.size() == 3) {
        slabs.at = [path, array](Index t) { return read_slab(path, array, t); };
        slabs.single = array_element_bytes(path, array) <= 4;
    }
    return slabs;
}

/// Takes the array out of `uns`, so that it is held once.
Slabs slabs_in_memory(AnnDataMap& uns, const std::string& name) {
    const auto found = uns.find(name);
    if (found == uns.end()) {
        return {};
    }
    Slabs slabs;
    if (auto* array = std::get_if<NumericArray>(&found->second.value)) {
        slabs.shape = array->shape;
        slabs.single = std::holds_alternative<std::vector<float>>(array->values);
        slabs.at = [held = std::make_shared<NumericArray>(std::move(*array))](Index t) {
            return slab_of(*held, t);
        };
    } else if (auto* later = std::get_if<SlabArray>(&found->second.value)) {
        slabs.shape = {later->slabs, later->rows, later->cols};
        slabs.single = static_cast<bool>(later->float_slab);
        slabs.at = later->slab ? later->slab : [slab = later->float_slab](Index t) {
            return Matrix(slab(t).cast<double>());
        };
    }
    uns.erase(found);
    return slabs;
}

/// Whether the embedding that AnnData keeps beside the cells is that of the recommended scale as it stands.
std::optional<bool> is_aligned(const StoredResult& result) {
    const auto held = result.file.obsm.find("X_" + result.key);
    if (held == result.file.obsm.end() || held->second.cols() != result.rank ||
        result.recommended >= result.scales) {
        return std::nullopt;
    }
    const Matrix& kept = held->second;
    const Matrix H = result.stored_H(result.recommended);
    if (kept.rows() != H.cols()) {
        return false;
    }
    constexpr double rounding = 1e-5; // a user may have stored it with fewer bits
    return (kept.transpose() - H).cwiseAbs().maxCoeff() <=
           rounding * std::max(1e-300, H.cwiseAbs().maxCoeff());
}

void read_input_record(StoredResult& result) {
    const std::string record = result.text("input");
    if (!record.empty()) {
        try {
            result.input = input_record_from_json(record);
        } catch (const InputError& e) {
            fail("{}: uns/{}/input: {}", result.name, result.key, e.what());
        }
        return;
    }
    const std::string transform = result.text("transform"); // all that version 0.1 kept
    result.input.steps =
        steps_for({.transform = transform == "log-unit" ? Transform::log_unit : Transform::none});
}

void read_penalty(StoredResult& result) {
    const std::vector<double> penalty = result.numbers("penalty", 3);
    if (!penalty.empty()) {
        result.penalty = {.graph = penalty[0], .smoothness = penalty[1], .anchor = penalty[2]};
    } else if (!result.is_baseline() && !result.text("options").empty()) {
        result.penalty = result.options().penalty;
    }
}

/// A matrix as `numeric_array` stores it; nothing when there is none of two axes.
std::optional<Matrix> matrix_of(const StoredResult& result, const std::string& entry) {
    const auto* array = entry_of<NumericArray>(result, entry);
    if (array == nullptr || array->shape.size() != 2) {
        return std::nullopt;
    }
    const std::vector<double> values = result.numbers(entry);
    return Matrix(Eigen::Map<const Matrix>(values.data(), array->shape[1], array->shape[0]).transpose());
}

void read_space(StoredResult& result) {
    const std::string name = result.text("space/name");
    if (name.empty()) {
        return;
    }
    const std::optional<Matrix> coordinates = matrix_of(result, "space/coordinates");
    require(coordinates.has_value(), "{}: uns/{}/space has no coordinates", result.name, result.key);
    Space space{.name = name, .coordinates = coordinates->transpose()};
    const std::optional<Matrix> directions = matrix_of(result, "space/directions");
    const std::vector<double> mean = result.numbers("space/mean");
    const std::vector<double> variance = result.numbers("space/variance");
    if (directions && directions->rows() == std::ssize(mean) && directions->cols() == std::ssize(variance)) {
        space.components =
            PrincipalComponents{.mean = Eigen::Map<const Vector>(mean.data(), std::ssize(mean)),
                                .directions = *directions,
                                .variance = Eigen::Map<const Vector>(variance.data(), std::ssize(variance))};
    }
    const auto* downwards = entry_of<bool>(result, "space/downwards");
    space.downwards = downwards != nullptr && *downwards;
    Slices slices;
    if (const auto* unit = entry_of<double>(result, "space/unit_um")) {
        space.unit_um = *unit;
    }
    slices.names = result.texts("space/slices/names");
    slices.moved = result.numbers("space/slices/moved");
    slices.of_cell = result.positions("space/slices/of_cell", 0, std::ssize(slices.names));
    if (!slices.of_cell.empty()) {
        require(std::ssize(slices.of_cell) == space.coordinates.cols() &&
                    slices.moved.size() == slices.names.size(),
                "{}: uns/{}/space/slices must have a slice for each cell, and how far each slice was moved",
                result.name, result.key);
        space.slices = std::move(slices);
    }
    result.space = std::move(space);
}

void read_batches(StoredResult& result) {
    Batches batches{.column = result.text("batch/column"), .names = result.texts("batch/names")};
    batches.of_cell = result.positions("batch/of_cell", 0, std::ssize(batches.names));
    if (!batches.of_cell.empty()) {
        result.batches = std::move(batches);
    }
}

/// InputError, which names the entry, for numbers that no fit stores.
void check_numbers(const StoredResult& result) {
    struct Range {
        const char* entry;
        double least;
        double most;
    };
    constexpr double tiny = std::numeric_limits<double>::min();
    constexpr double huge = std::numeric_limits<double>::max();
    for (const Range& range :
         {Range{"epsilon", tiny, 1e100}, Range{"penalty", 0.0, huge}, Range{"scale_weight", tiny, huge},
          Range{"coupling", 0.0, huge}, Range{"space/coordinates", -1e150, 1e150}}) {
        for (const double value : result.numbers(range.entry)) {
            require(value >= range.least && value <= range.most,
                    "{}: uns/{}/{} must hold numbers from {:g} to {:g}, got {}", result.name, result.key,
                    range.entry, range.least, range.most, value);
        }
    }
}

/// H or W of a scale as it was read.
Matrix checked(Matrix values, double least, const StoredResult& result, const char* entry) {
    require(values.allFinite() && (values.array() >= least).all(), "{}: uns/{}/{} must hold finite numbers{}",
            result.name, result.key, entry, least < 0.0 ? "" : ", at least 0");
    return values;
}

void read_entries(StoredResult& result, Index cells) {
    if (const std::string method = result.text("method"); !method.empty()) {
        result.method = method;
    }
    check_numbers(result);
    result.epsilon = result.of_scales("epsilon");
    result.betti0 = result.positions("betti0", 0, cells + 1);
    if (std::ssize(result.betti0) != result.scales) {
        result.betti0.clear();
    }
    result.deaths = result.numbers("deaths");
    if (const auto* position = entry_of<std::int64_t>(result, "recommended")) {
        require(*position >= 0 && *position < result.scales,
                "{}: uns/{}/recommended is {}, but there are {} scales", result.name, result.key, *position,
                result.scales);
        result.recommended = *position;
    }
    if (const auto* count = entry_of<std::int64_t>(result, "cluster_count")) {
        require(*count >= 1 && *count <= cells, "{}: uns/{}/cluster_count is {}, but there are {} cells",
                result.name, result.key, *count, cells);
        result.cluster_count = *count;
    }
    result.scale_weight = result.of_scales("scale_weight");
    result.coupling = result.numbers("coupling", result.scales - 1);
    require(result.scale_weight.empty() == result.coupling.empty() || result.scales < 2,
            "{}: uns/{} has weights of scales or couplings, but not both", result.name, result.key);
    read_space(result);
    read_batches(result);
    result.stop = result.text("stop");
    result.command = result.text("command");
    result.warnings = result.texts("warnings");
    result.notices = result.texts("notices");
    if (const std::string precision = result.text("precision"); !precision.empty()) {
        result.precision = value_named<Precision>(precision).value_or(result.precision);
    }
}

/// The rest, once H, W and all else are in place.
void complete(StoredResult& result, Slabs H, Slabs W) {
    require(H.shape.size() == 3 && H.shape[0] > 0 && H.shape[1] > 0,
            "{}: uns/{}/H is missing: this is not a result of a fit", result.name, result.key);
    result.scales = H.shape[0];
    result.rank = H.shape[1];
    result.stored_H = std::move(H.at);
    result.precision = H.single ? Precision::single : Precision::full;
    read_entries(result, H.shape[2]);
    const std::vector<double> epsilon = result.numbers("epsilon");
    require(std::ssize(epsilon) == result.scales || (epsilon.empty() && result.is_baseline()),
            "{}: uns/{}/epsilon must hold a threshold for each of the {} scales of uns/{}/H, got {}",
            result.name, result.key, result.scales, result.key, epsilon.size());
    try {
        result.order = match_cells(result.texts("cells"), H.shape[2], result.file.cell_names,
                                   [&] { return is_aligned(result); });
    } catch (const InputError& e) {
        fail("{}: {}", result.name, e.what());
    }
    require(!result.batches || std::ssize(result.batches->of_cell) == result.order.of_fit,
            "{}: uns/{}/batch has {} cells, the fit {}", result.name, result.key,
            result.batches ? result.batches->of_cell.size() : 0, result.order.of_fit);
    require(!result.space || result.space->coordinates.cols() == result.order.of_fit,
            "{}: uns/{}/space has coordinates of {} cells, the fit {}", result.name, result.key,
            result.space ? result.space->coordinates.cols() : 0, result.order.of_fit);
    if (!result.order.notice.empty()) {
        result.notices.push_back(result.order.notice);
    }
    result.features = result.texts("features");
    if (result.features.empty()) {
        result.features = result.file.feature_names;
    }
    result.has_basis = W.shape.size() == 3;
    require(!result.has_basis || (W.shape[0] == result.scales && W.shape[2] == result.rank &&
                                  (result.features.empty() || W.shape[1] == std::ssize(result.features))),
            "{}: uns/{}/W does not have the shape that scales, features and rank give it", result.name,
            result.key);
    result.stored_W = std::move(W.at);
    read_input_record(result);
    read_penalty(result);
}

} // namespace

std::vector<double> StoredResult::numbers(const std::string& entry) const {
    const auto* array = entry_of<NumericArray>(*this, entry);
    if (array == nullptr) {
        return {};
    }
    return std::visit([](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                      array->values);
}

std::vector<double> StoredResult::numbers(const std::string& entry, Index count) const {
    std::vector<double> values = numbers(entry);
    return std::ssize(values) == count ? values : std::vector<double>{};
}

std::vector<Index> StoredResult::positions(const std::string& entry, Index least, Index end) const {
    std::vector<Index> found;
    for (const double value : numbers(entry)) {
        require(value >= static_cast<double>(least) && value < static_cast<double>(end) &&
                    value == std::floor(value),
                "{}: uns/{}/{} must hold whole numbers from {} to {}, got {}", name, key, entry, least,
                end - 1, value);
        found.push_back(static_cast<Index>(value));
    }
    return found;
}

std::string StoredResult::text(const std::string& entry) const {
    const auto* value = entry_of<std::string>(*this, entry);
    return value == nullptr ? "" : *value;
}

std::vector<std::string> StoredResult::texts(const std::string& entry) const {
    if (const auto* values = entry_of<std::vector<std::string>>(*this, entry)) {
        return *values;
    }
    const std::string one = text(entry);
    return one.empty() ? std::vector<std::string>{} : std::vector<std::string>{one};
}

Matrix StoredResult::H(Index t) const {
    Matrix H = checked(stored_H(t), std::numeric_limits<double>::lowest(), *this, "H");
    return order.position.empty() ? H : Matrix(H(Eigen::all, order.position));
}

Matrix StoredResult::W(Index t) const {
    require(has_basis, Remedy::keep_bases, "{}: the result has no bases W", name);
    return checked(stored_W(t), 0.0, *this, "W");
}

std::vector<Index> StoredResult::clusters(Index t) const {
    const auto* array = entry_of<NumericArray>(*this, "clusters");
    if (array == nullptr || array->shape != std::vector<Index>{scales, order.of_fit}) {
        return {};
    }
    const Index begin = t * order.of_fit;
    std::vector<Index> result(static_cast<std::size_t>(cells()));
    std::visit(
        [&](const auto& values) {
            for (Index j = 0; j < cells(); ++j) {
                const Index place = order.position.empty() ? j : order.position[static_cast<std::size_t>(j)];
                const auto cluster = values[static_cast<std::size_t>(begin + place)];
                require(cluster >= 0 && static_cast<double>(cluster) < static_cast<double>(order.of_fit),
                        "{}: uns/{}/clusters must hold numbers from 0 to {}, got {}", name, key,
                        order.of_fit - 1, cluster);
                result[static_cast<std::size_t>(j)] = static_cast<Index>(cluster);
            }
        },
        array->values);
    return result;
}

std::optional<Matrix> StoredResult::recommended_basis() const {
    if (has_basis) {
        return W(recommended);
    }
    const auto held = file.varm.find(key + "_W");
    if (held == file.varm.end() || held->second.cols() != rank) {
        return std::nullopt;
    }
    if (features == file.feature_names) {
        return held->second;
    }
    std::unordered_map<std::string_view, Index> place;
    for (std::size_t i = 0; i < file.feature_names.size(); ++i) {
        place.emplace(file.feature_names[i], static_cast<Index>(i));
    }
    Matrix W(std::ssize(features), rank);
    for (Index i = 0; i < W.rows(); ++i) {
        const auto found = place.find(features[static_cast<std::size_t>(i)]);
        if (found == place.end()) {
            return std::nullopt;
        }
        W.row(i) = held->second.row(found->second);
    }
    return W;
}

std::vector<Index> StoredResult::in_order(const std::vector<Index>& of_fit) const {
    if (order.position.empty()) {
        return of_fit;
    }
    std::vector<Index> result;
    for (const Index position : order.position) {
        result.push_back(of_fit[static_cast<std::size_t>(position)]);
    }
    return result;
}

FitOptions StoredResult::options() const {
    require(!is_baseline(), "{}: this is the result of {}, which has no options of a fit", name, method);
    try {
        FitOptions options = fit_options_from_json(text("options"));
        if (batches) {
            options.filtration.batch = batches->of_cell;
        }
        return options;
    } catch (const InputError& e) {
        fail("{}: uns/{}/options: {}", name, key, e.what());
    }
}

std::optional<fs::path> find_result(const fs::path& path, const std::string& key) {
    const fs::path file = fs::is_directory(path) ? path / "result.h5ad" : path;
    if (file.extension() == ".h5ad" && fs::exists(file) &&
        shape_or_none(file, "uns/" + key + "/H").size() == 3) {
        return file;
    }
    return std::nullopt;
}

StoredResult read_stored_result(const fs::path& given, const std::string& key) {
    const fs::path path = fs::is_directory(given) ? given / "result.h5ad" : given;
    require(fs::exists(path), "{}: there is no such result of a fit", path.string());
    const std::string uns = "uns/" + key + "/";
    return io::read_after_trial(path, [&] {
        StoredResult result;
        result.name = path.string();
        result.key = key;
        // Images of a tissue stay in the file too: only a page wants them.
        result.file = read_anndata(path, {.skip = {"X", "layers", "uns/spatial", uns + "H", uns + "W"},
                                          .matrices = std::vector<std::string>{"X_" + key, key + "_W"}});
        complete(result, slabs_in_file(path, uns + "H"), slabs_in_file(path, uns + "W"));
        return result;
    });
}

StoredResult stored_result(AnnDataFile file, const std::string& name, const std::string& key) {
    StoredResult result;
    result.name = name;
    result.key = key;
    result.file = std::move(file);
    const auto entry = result.file.uns.find(key);
    auto* map = entry == result.file.uns.end() ? nullptr : std::get_if<AnnDataMap>(&entry->second.value);
    require(map != nullptr, "{}: uns/{} is missing: no fit is stored there", name, key);
    Slabs H = slabs_in_memory(*map, "H");
    Slabs W = slabs_in_memory(*map, "W");
    complete(result, std::move(H), std::move(W));
    return result;
}

} // namespace pnmf
