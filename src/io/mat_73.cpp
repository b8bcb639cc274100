#include "io/formats.hpp"
#include "io/h5ad_parts.hpp"
#include "io/hdf5_handle.hpp"
#include "io/mat_variables.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

using hdf5::Element;
using hdf5::Object;

/// The attribute MATLAB_class names what a dataset means: text, for one, is stored as numbers too.
bool is_number_class(const Object& element) {
    constexpr std::array<std::string_view, 11> classes{"double", "single", "int8",   "uint8",
                                                       "int16",  "uint16", "int32",  "uint32",
                                                       "int64",  "uint64", "logical"};
    const auto found = element.text_attribute("MATLAB_class");
    return !found || std::count(classes.begin(), classes.end(), *found) > 0;
}

bool is_sparse(const Object& element) {
    return element.is_group() && element.has_attribute("MATLAB_sparse");
}

/// MATLAB's axes run the other way than HDF5's.
std::vector<Index> shape_of_array(const Object& element) {
    auto shape = element.shape();
    std::reverse(shape.begin(), shape.end());
    return shape;
}

/// Rows are an attribute, columns one less than offsets.
std::vector<Index> shape_of_sparse(const Object& element) {
    const Index rows =
        element.integers_attribute("MATLAB_sparse").value_or(std::vector<std::int64_t>{-1}).front();
    const Index cols = element.open("jc").size() - 1;
    constexpr Index largest = std::numeric_limits<std::int32_t>::max();
    if (rows < 0 || cols < 0 || rows > largest || cols > largest) {
        element.reject(fmt::format("a sparse matrix must have 0 to {} rows and columns, got {} x {}", largest,
                                   rows, cols));
    }
    return {rows, cols};
}

bool is_numbers(const Object& element) {
    if (is_sparse(element)) {
        return true;
    }
    return element.is_dataset() && !element.has_attribute("MATLAB_empty") &&
           element.element() != Element::text && element.element() != Element::other &&
           is_number_class(element);
}

} // namespace

std::vector<MatSummary> list_mat_73(const fs::path& path) {
    const hdf5::Session session;
    const Object root = Object::open_file(path);
    std::vector<MatSummary> variables;
    for (const std::string& name : root.names()) {
        // "#refs#" and "#subsystem#" are MATLAB's own.
        if (name.starts_with('#')) {
            continue;
        }
        const Object element = root.open(name);
        MatSummary summary{.name = name, .shape = {}, .numbers = is_numbers(element)};
        if (summary.numbers) {
            summary.shape = is_sparse(element) ? shape_of_sparse(element) : shape_of_array(element);
        }
        variables.push_back(std::move(summary));
    }
    return variables;
}

MatValue load_mat_73(const fs::path& path, const std::string& variable) {
    const hdf5::Session session;
    const Object root = Object::open_file(path);
    const auto names = root.names();
    if (std::count(names.begin(), names.end(), variable) == 0) {
        root.reject(fmt::format("has no variable '{}'; it has: {}", variable, fmt::join(names, ", ")));
    }
    const Object element = root.open(variable);
    if (!is_numbers(element)) {
        element.reject("must hold real numbers");
    }
    if (!is_sparse(element)) {
        return MatArray{.shape = shape_of_array(element), .values = element.read<double>()};
    }
    const auto shape = shape_of_sparse(element);
    const bool empty_matrix = !element.contains("data");
    check_extent(element.where(), shape[0], shape[1], empty_matrix ? 0 : element.open("data").size());
    if (empty_matrix) {
        SparseMatrix<double> empty;
        empty.rows = shape[0];
        empty.cols = shape[1];
        empty.start.assign(static_cast<std::size_t>(shape[1]) + 1, 0);
        return empty;
    }
    std::vector<std::string> notices;
    return read_compressed(element, shape[0], shape[1], notices, {.indices = "ir", .offsets = "jc"});
}

} // namespace pnmf::io
