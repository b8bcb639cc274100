#include "io/formats.hpp"
#include "io/hdf5_handle.hpp"
#include "io/mat_variables.hpp"

#include <pnmf/error.hpp>

#include <fmt/ranges.h>
#include <matio.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

struct CloseMat {
    void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using MatFile = std::unique_ptr<mat_t, CloseMat>;
using MatVariable = std::unique_ptr<matvar_t, FreeVariable>;

MatFile open_mat(const fs::path& path) {
    MatFile file(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    require(file != nullptr, "{}: must be a whole MATLAB file of version 5, 7 or 7.3", path.string());
    return file;
}

bool is_numeric(const matvar_t& variable) {
    return variable.class_type >= MAT_C_DOUBLE && variable.class_type <= MAT_C_UINT64;
}

std::vector<Index> shape_of(const matvar_t& variable) {
    return {variable.dims, variable.dims + std::max(variable.rank, 0)};
}

/// "X (80 x 100)"
std::string describe(const matvar_t& variable) {
    return fmt::format("{} ({})", variable.name, fmt::join(shape_of(variable), " x "));
}

/// Numbers that a variable of this shape has; InputError when the file could not hold them, compressed.
Index count_values(const fs::path& path, const matvar_t& variable) {
    constexpr Index largest_compression = 1032;
    const Index limit = static_cast<Index>(fs::file_size(path)) * largest_compression;
    Index count = 1;
    for (const Index size : shape_of(variable)) {
        require(size >= 0 && (size == 0 || count <= limit / size),
                "{}:{}: announces more values than the file can hold", path.string(), describe(variable));
        count *= size;
    }
    return count;
}

MatVariable read_variable(const fs::path& path, mat_t* file, const std::string& name) {
    MatVariable variable(Mat_VarReadInfo(file, name.c_str()));
    if (variable == nullptr) {
        std::size_t count = 0;
        char** names = Mat_GetDir(file, &count);
        const std::vector<std::string> known(names, names + count);
        fail("{}: has no variable '{}'; it has: {}", path.string(), name,
             known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
    }
    require(variable->isComplex == 0, "{}:{}: must be real, but is complex", path.string(), name);
    if (variable->class_type != MAT_C_SPARSE) {
        require(is_numeric(*variable), "{}:{}: must hold numbers", path.string(), name);
        count_values(path, *variable);
    }
    require(Mat_VarReadDataAll(file, variable.get()) == 0 &&
                (variable->data != nullptr || variable->nbytes == 0),
            "{}:{}: cannot be read; the file is damaged", path.string(), name);
    return variable;
}

template <class Stored>
void convert(const void* data, std::span<double> out) {
    const auto* values = static_cast<const Stored*>(data);
    std::copy(values, values + out.size(), out.begin());
}

using Converter = void (*)(const void*, std::span<double>);
constexpr std::pair<matio_types, Converter> converters[]{
    {MAT_T_DOUBLE, convert<double>},      {MAT_T_SINGLE, convert<float>},
    {MAT_T_INT8, convert<std::int8_t>},   {MAT_T_UINT8, convert<std::uint8_t>},
    {MAT_T_INT16, convert<std::int16_t>}, {MAT_T_UINT16, convert<std::uint16_t>},
    {MAT_T_INT32, convert<std::int32_t>}, {MAT_T_UINT32, convert<std::uint32_t>},
    {MAT_T_INT64, convert<std::int64_t>}, {MAT_T_UINT64, convert<std::uint64_t>}};

/// Copies numbers of any of matio's types; false for one that is no number.
bool convert_from(matio_types type, const void* data, std::span<double> out) {
    const auto* const found = std::find_if(std::begin(converters), std::end(converters),
                                           [&](const auto& row) { return row.first == type; });
    if (found != std::end(converters)) {
        found->second(data, out);
    }
    return found != std::end(converters);
}

void copy_values(const fs::path& path, const matvar_t& variable, std::span<double> out) {
    const bool enough =
        out.empty() || (variable.data != nullptr && variable.data_size > 0 &&
                        variable.nbytes / static_cast<std::size_t>(variable.data_size) >= out.size() &&
                        Mat_SizeOf(variable.data_type) == static_cast<std::size_t>(variable.data_size));
    require(enough && (out.empty() || convert_from(variable.data_type, variable.data, out)),
            "{}:{}: cannot be read; the file is damaged", path.string(), variable.name);
}

SparseMatrix<double> to_sparse(const fs::path& path, const matvar_t& variable) {
    const auto* stored = static_cast<const mat_sparse_t*>(variable.data);
    const auto shape = shape_of(variable);
    require(stored != nullptr && shape.size() == 2 && shape[0] <= std::numeric_limits<std::int32_t>::max() &&
                shape[1] <= std::numeric_limits<std::int32_t>::max(),
            "{}:{}: must be a sparse matrix of at most 2147483647 rows and columns", path.string(),
            variable.name);
    SparseMatrix<double> matrix;
    matrix.rows = shape[0];
    matrix.cols = shape[1];
    require(stored->njc == static_cast<mat_uint32_t>(shape[1]) + 1, "{}:{}: must have {} offsets, got {}",
            path.string(), variable.name, shape[1] + 1, stored->njc);
    matrix.start.assign(stored->jc, stored->jc + stored->njc);
    const auto entries = static_cast<std::size_t>(matrix.start.back());
    require(entries <= stored->nir && entries <= stored->ndata && (entries == 0 || stored->data != nullptr),
            "{}:{}: announces {} entries, but has {} rows and {} values", path.string(), variable.name,
            entries, stored->nir, stored->ndata);
    check_extent(fmt::format("{}:{}", path.string(), variable.name), matrix.rows, matrix.cols,
                 static_cast<std::int64_t>(entries));
    matrix.row.assign(stored->ir, stored->ir + entries);
    matrix.value.resize(entries);
    require(convert_from(variable.data_type, stored->data, matrix.value), "{}:{}: must hold real numbers",
            path.string(), variable.name);
    try {
        check_structure(matrix);
    } catch (const InputError& error) {
        fail("{}:{}: {}", path.string(), variable.name, error.what());
    }
    return matrix;
}

} // namespace

std::vector<MatSummary> list_mat_5(const fs::path& path) {
    const hdf5::Session session;
    const MatFile file = open_mat(path);
    std::vector<MatSummary> variables;
    while (true) {
        const MatVariable variable(Mat_VarReadNextInfo(file.get()));
        if (variable == nullptr) {
            return variables;
        }
        if (variable->name != nullptr) {
            const bool numbers = is_numeric(*variable) || variable->class_type == MAT_C_SPARSE;
            variables.push_back({.name = variable->name,
                                 .shape = shape_of(*variable),
                                 .numbers = numbers && variable->isComplex == 0});
        }
    }
}

MatValue load_mat_5(const fs::path& path, const std::string& variable) {
    const hdf5::Session session;
    const MatFile file = open_mat(path);
    const MatVariable stored = read_variable(path, file.get(), variable);
    if (stored->class_type == MAT_C_SPARSE) {
        return to_sparse(path, *stored);
    }
    MatArray array;
    array.shape = shape_of(*stored);
    array.values.resize(static_cast<std::size_t>(count_values(path, *stored)));
    copy_values(path, *stored, array.values);
    return array;
}

} // namespace pnmf::io
