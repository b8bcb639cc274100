#include "io/mat.hpp"
#include "io/formats.hpp"
#include "io/mat_variables.hpp"
#include "io/trial_read.hpp"

#include <pnmf/error.hpp>

#include <fmt/ranges.h>

#include <array>
#include <fstream>
#include <string_view>

namespace pnmf {

namespace fs = std::filesystem;

namespace {

/// True for version 7.3, which is HDF5 after a header, or without one when other programs wrote it.
bool is_version_73(const fs::path& path) {
    std::array<char, 128> header{};
    std::ifstream in(path, std::ios::binary);
    require(bool(in), "{}: no such file, or it cannot be read", path.string());
    in.read(header.data(), header.size());
    const std::string_view bytes(header.data(), static_cast<std::size_t>(in.gcount()));
    if (bytes.starts_with("\x89HDF")) {
        return true;
    }
    const bool little = bytes.ends_with("IM");
    require(bytes.size() == header.size() && (little || bytes.ends_with("MI")),
            "{}: must be a MATLAB file of version 5, 7 or 7.3", path.string());
    return header[little ? 125 : 124] == 2;
}

io::MatValue load(const fs::path& path, const std::string& variable) {
    return is_version_73(path) ? io::load_mat_73(path, variable) : io::load_mat_5(path, variable);
}

/// "X (80 x 100)"
std::string describe(const io::MatSummary& variable) {
    return fmt::format("{} ({})", variable.name, fmt::join(variable.shape, " x "));
}

/// The only matrix of numbers in the file; InputError that lists the candidates when there are others.
std::string choose_variable(const fs::path& path, std::vector<std::string>& notices) {
    std::vector<std::string> names;
    std::vector<std::string> candidates;
    for (const auto& variable : is_version_73(path) ? io::list_mat_73(path) : io::list_mat_5(path)) {
        if (variable.numbers && variable.shape.size() == 2) {
            names.push_back(variable.name);
            candidates.push_back(describe(variable));
        }
    }
    require(!names.empty(), "{}: has no variable that is a matrix of numbers", path.string());
    require(names.size() == 1, Remedy::choose_variable, "{}: has several matrices, choose one: {}",
            path.string(), fmt::join(candidates, ", "));
    notices.push_back(
        fmt::format("{}: took the variable {}, the only matrix in it", path.string(), candidates.front()));
    return names.front();
}

} // namespace

MatArray read_mat_array(const fs::path& path, const std::string& variable) {
    io::MatValue value = io::read_after_trial(path, [&] { return load(path, variable); });
    auto* array = std::get_if<MatArray>(&value);
    require(array != nullptr, "{}:{}: must not be sparse", path.string(), variable);
    return std::move(*array);
}

namespace io {

namespace {

Dataset read_one_variable(const fs::path& path, const ReadOptions& options) {
    Dataset data;
    const std::string name = options.variable ? *options.variable : choose_variable(path, data.notices);
    MatValue value = load(path, name);
    const bool transposed = options.cells == CellAxis::rows;
    if (auto* sparse = std::get_if<SparseMatrix<double>>(&value)) {
        data.X = transposed ? transpose(*sparse) : std::move(*sparse);
    } else {
        const auto& array = std::get<MatArray>(value);
        require(array.shape.size() == 2, "{}:{}: must be a matrix, got {} axes", path.string(), name,
                array.shape.size());
        const Eigen::Map<const Matrix> matrix(array.values.data(), array.shape[0], array.shape[1]);
        data.X = transposed ? Matrix(matrix.transpose()) : Matrix(matrix);
    }
    name_missing(path.string(), data);
    return data;
}

} // namespace

Dataset read_mat(const fs::path& path, const ReadOptions& options) {
    return read_after_trial(path, [&] { return read_one_variable(path, options); });
}

} // namespace io
} // namespace pnmf
