#include "report/stored_result.hpp"

#include <pnmf/error.hpp>

#include <algorithm>

namespace pnmf::report {
namespace {

namespace fs = std::filesystem;

template <class Value>
const Value* entry(const AnnDataFile& file, const std::string& name) {
    const AnnDataValue* found = find(file.uns, "pnmf/" + name);
    return found == nullptr ? nullptr : std::get_if<Value>(&found->value);
}

std::vector<Index> shape_or_none(const fs::path& path, const std::string& array) {
    try {
        return array_shape(path, array);
    } catch (const InputError&) {
        return {};
    }
}

} // namespace

std::vector<double> StoredResult::numbers(const std::string& name) const {
    const auto* array = entry<NumericArray>(file, name);
    if (array == nullptr) {
        return {};
    }
    return std::visit([](const auto& values) { return std::vector<double>(values.begin(), values.end()); },
                      array->values);
}

std::vector<double> StoredResult::numbers(const std::string& name, Index count) const {
    std::vector<double> values = numbers(name);
    return static_cast<Index>(values.size()) == count ? values : std::vector<double>{};
}

std::string StoredResult::text(const std::string& name) const {
    const auto* value = entry<std::string>(file, name);
    return value == nullptr ? "" : *value;
}

std::vector<std::string> StoredResult::texts(const std::string& name) const {
    if (const auto* values = entry<std::vector<std::string>>(file, name)) {
        return *values;
    }
    const std::string one = text(name);
    return one.empty() ? std::vector<std::string>{} : std::vector<std::string>{one};
}

Matrix StoredResult::embedding(Index t) const {
    return read_slab(path, "uns/pnmf/H", t);
}

StoredResult read_stored_result(const fs::path& given) {
    StoredResult result;
    result.path = fs::is_directory(given) ? given / "result.h5ad" : given;
    require(fs::exists(result.path), "{}: there is no such result of `pnmf fit`", result.path.string());
    result.file = read_anndata(result.path, {.skip = {"X", "layers", "uns/pnmf/H", "uns/pnmf/W"}});
    result.cells = std::ssize(result.file.cell_names);
    const std::vector<Index> shape = shape_or_none(result.path, "uns/pnmf/H");
    require(shape.size() == 3 && shape[0] > 0 && shape[1] > 0,
            "{}: uns/pnmf/H is missing: this is not a result of `pnmf fit`", result.path.string());
    require(shape[2] == result.cells, "{}: uns/pnmf/H must have a column for each of {} cells, got {}",
            result.path.string(), result.cells, shape[2]);
    result.scales = shape[0];
    result.rank = shape[1];
    if (const auto* position = entry<std::int64_t>(result.file, "recommended")) {
        result.recommended = std::clamp<Index>(*position, 0, result.scales - 1);
    }
    const std::vector<Index> basis = shape_or_none(result.path, "uns/pnmf/W");
    result.has_basis = basis.size() == 3 && basis[0] == result.scales &&
                       basis[1] == std::ssize(result.file.feature_names) && basis[2] == result.rank;
    return result;
}

} // namespace pnmf::report
