#include "cells/processes.hpp"
#include "io/h5ad_parts.hpp"
#include "linalg/parallel_copy.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>

namespace pnmf::io {

namespace {

using hdf5::Element;
using hdf5::Object;

constexpr std::int32_t largest_index = std::numeric_limits<std::int32_t>::max();

/// The offsets of a compressed matrix, checked: `count` + 1 of them, ascending from 0 to `entries`.
std::vector<std::int64_t> read_offsets(const Object& array, Index count, Index entries) {
    if (array.element() != Element::integer || array.size() != count + 1) {
        array.reject(fmt::format("must hold {} integer offsets, got {}", count + 1, array.size()));
    }
    auto offsets = array.read<std::int64_t>();
    if (offsets.front() != 0 || offsets.back() != entries) {
        array.reject(fmt::format("offsets must run from 0 to {}, the number of entries, got {} to {}",
                                 entries, offsets.front(), offsets.back()));
    }
    const auto fall = std::is_sorted_until(offsets.begin(), offsets.end());
    if (fall != offsets.end()) {
        array.reject(fmt::format("offsets must not fall, but do at place {}", fall - offsets.begin() + 1));
    }
    return offsets;
}

/// Sorts the entries of columns [begin, end) that are not in ascending order; true when a place occurs twice.
bool sort_columns(SparseMatrix<double>& matrix, Index begin, Index end) {
    bool repeated = false;
    std::vector<std::int64_t> order;
    std::vector<std::pair<std::int32_t, double>> sorted;
    for (Index j = begin; j < end; ++j) {
        const auto first = matrix.row.begin() + matrix.start[j];
        const auto last = matrix.row.begin() + matrix.start[j + 1];
        if (std::adjacent_find(first, last, std::greater_equal<>()) == last) {
            continue;
        }
        const auto values = matrix.value.begin() + matrix.start[j];
        order.resize(static_cast<std::size_t>(last - first));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int64_t a, std::int64_t b) { return first[a] < first[b]; });
        sorted.clear();
        for (const std::int64_t e : order) {
            sorted.emplace_back(first[e], values[e]);
        }
        for (std::size_t e = 0; e < sorted.size(); ++e) {
            first[static_cast<std::int64_t>(e)] = sorted[e].first;
            values[static_cast<std::int64_t>(e)] = sorted[e].second;
            repeated = repeated || (e > 0 && sorted[e - 1].first == sorted[e].first);
        }
    }
    return repeated;
}

/// Adds up equal places, which stand side by side; returns how many entries went.
std::int64_t add_up_repeated(SparseMatrix<double>& matrix) {
    std::int64_t kept = 0;
    std::int64_t begin = 0;
    for (Index j = 0; j < matrix.cols; ++j) {
        const std::int64_t end = matrix.start[j + 1];
        const std::int64_t first = kept;
        for (std::int64_t e = begin; e < end; ++e) {
            if (kept > first && matrix.row[kept - 1] == matrix.row[e]) {
                matrix.value[kept - 1] += matrix.value[e];
            } else {
                matrix.row[kept] = matrix.row[e];
                matrix.value[kept] = matrix.value[e];
                ++kept;
            }
        }
        begin = end;
        matrix.start[j + 1] = kept;
    }
    const auto gone = static_cast<std::int64_t>(matrix.row.size()) - kept;
    matrix.row.resize(static_cast<std::size_t>(kept));
    matrix.value.resize(static_cast<std::size_t>(kept));
    return gone;
}

/// "csr", "csc", or empty when the group is no sparse matrix.
std::string sparse_format(const Object& group) {
    const std::string encoding = encoding_of(group);
    if (encoding == "csr_matrix" || encoding == "csc_matrix") {
        return encoding.substr(0, 3);
    }
    const std::string old = group.text_attribute("h5sparse_format").value_or("");
    return old == "csr" || old == "csc" ? old : "";
}

/// Elements [first, past) of an array; all of them as `read` does, which is quicker.
template <class Value>
std::vector<Value> read_elements(const Object& array, std::int64_t first, std::int64_t past) {
    if (first == 0 && past == array.size()) {
        return array.read<Value>();
    }
    std::vector<Value> values(static_cast<std::size_t>(past - first));
    array.read_rows(first, past - first, values.data());
    return values;
}

MatrixValues read_sparse_transposed(const Object& group, std::vector<std::string>& notices,
                                    std::optional<CellRange>* local) {
    const std::string format = sparse_format(group);
    if (format.empty()) {
        group.reject(fmt::format(
            "must be a matrix: an array, csr_matrix or csc_matrix, but is a group of encoding '{}'",
            encoding_of(group)));
    }
    const auto shape = group.has_attribute("shape") ? group.integers_attribute("shape")
                                                    : group.integers_attribute("h5sparse_shape");
    if (!shape || shape->size() != 2 || std::min((*shape)[0], (*shape)[1]) < 0 ||
        std::max((*shape)[0], (*shape)[1]) > largest_index) {
        group.reject(fmt::format(
            "a sparse matrix must have the attribute 'shape' with two sizes from 0 to {}", largest_index));
    }
    const auto [rows, cols] = std::pair((*shape)[0], (*shape)[1]);
    if (format == "csr" && local != nullptr) {
        *local = local_range(rows, all_processes());
        return read_compressed(group, cols, rows, notices, {}, *local);
    }
    // The rows of a CSR matrix are the columns of its transpose.
    return format == "csr" ? read_compressed(group, cols, rows, notices)
                           : transpose(read_compressed(group, rows, cols, notices));
}

} // namespace

std::pair<Index, Index> shape_of(const MatrixValues& values) {
    if (const auto* dense = std::get_if<Matrix>(&values)) {
        return {dense->rows(), dense->cols()};
    }
    const auto& sparse = std::get<SparseMatrix<double>>(values);
    return {sparse.rows, sparse.cols};
}

SparseMatrix<double> read_compressed(const Object& group, Index rows, Index cols,
                                     std::vector<std::string>& notices, const CompressedNames& names,
                                     const std::optional<CellRange>& local) {
    const Object data = group.open(names.data);
    const Object indices = group.open(names.indices);
    const Index entries = data.size();
    if (indices.size() != entries || indices.element() != Element::integer) {
        indices.reject(fmt::format("must hold {} integers, one for each entry of 'data', got {}", entries,
                                   indices.size()));
    }
    SparseMatrix<double> matrix;
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.start = read_offsets(group.open(names.offsets), cols, entries);
    std::int64_t before = 0;
    if (local) {
        before = matrix.start[static_cast<std::size_t>(local->first)];
        matrix.cols = local->count;
        matrix.start.resize(static_cast<std::size_t>(local->past()) + 1);
        matrix.start.erase(matrix.start.begin(), matrix.start.begin() + local->first);
        for (std::int64_t& place : matrix.start) {
            place -= before;
        }
    }
    matrix.row = read_elements<std::int32_t>(indices, before, before + matrix.start.back());
    matrix.value = read_elements<double>(data, before, before + matrix.start.back());

    constexpr Index block = 256;
    std::atomic<bool> repeated = false;
    parallel_blocks(matrix.cols, block, [&](Index begin, Index end) {
        for (std::int64_t e = matrix.start[begin]; e < matrix.start[end]; ++e) {
            if (matrix.row[e] < 0 || matrix.row[e] >= rows) {
                indices.reject(fmt::format("indices must be from 0 to {}, but number {} is {}", rows - 1,
                                           before + e + 1, matrix.row[e]));
            }
        }
        if (sort_columns(matrix, begin, end)) {
            repeated = true;
        }
    });
    if (repeated) {
        notices.push_back(
            fmt::format("{}: {} {}", group.where(), add_up_repeated(matrix), repeated_entries_notice));
    }
    return matrix;
}

MatrixValues read_matrix_transposed(const Object& element, std::vector<std::string>& notices,
                                    std::optional<CellRange>* local) {
    if (element.is_group()) {
        return read_sparse_transposed(element, notices, local);
    }
    const auto shape = element.shape();
    if (!element.is_dataset() || shape.size() != 2) {
        element.reject(fmt::format("must be a matrix, got an array of {} axes", shape.size()));
    }
    element.check_fits_file();
    if (local != nullptr) {
        *local = local_range(shape[0], all_processes());
        Matrix transposed(shape[1], (*local)->count);
        if ((*local)->count > 0) {
            element.read_rows((*local)->first, (*local)->count, transposed.data());
        }
        return transposed;
    }
    Matrix transposed(shape[1], shape[0]);
    element.read_into(transposed.data());
    return transposed;
}

void write_matrix_transposed(Object& parent, const std::string& name, const MatrixValues& values,
                             const hdf5::Storage& storage) {
    if (const auto* dense = std::get_if<Matrix>(&values)) {
        Object array = parent.write_array(name, {dense->cols(), dense->rows()}, dense->data(), storage);
        mark(array, "array", "0.2.0");
        return;
    }
    const auto& sparse = std::get<SparseMatrix<double>>(values);
    const auto entries = static_cast<Index>(sparse.nonzeros());
    hdf5::Storage growing = storage;
    growing.resizable = true;
    Object group = parent.make_group(name);
    mark(group, "csr_matrix", "0.1.0");
    group.set_attribute("shape", std::vector<std::int64_t>{sparse.cols, sparse.rows});
    group.write_array("data", {entries}, sparse.value.data(), growing);
    // SciPy wants offsets and indices of one type.
    if (entries <= largest_index) {
        const std::vector<std::int32_t> offsets(sparse.start.begin(), sparse.start.end());
        group.write_array("indices", {entries}, sparse.row.data(), growing);
        group.write_array("indptr", {sparse.cols + 1}, offsets.data(), growing);
        return;
    }
    Object indices = group.create_array<std::int64_t>("indices", {entries}, growing);
    constexpr Index block = Index{1} << 20;
    for (Index first = 0; first < entries; first += block) {
        const Index count = std::min(block, entries - first);
        const std::vector<std::int64_t> wide(sparse.row.begin() + first, sparse.row.begin() + first + count);
        indices.write_rows(first, count, wide.data());
    }
    group.write_array("indptr", {sparse.cols + 1}, sparse.start.data(), growing);
}

Matrix read_dense(const Object& array) {
    const auto shape = array.shape();
    if (!array.is_dataset() || shape.size() != 2) {
        array.reject(fmt::format("must be a matrix, got an array of {} axes", shape.size()));
    }
    const auto values = array.read<double>();
    return Eigen::Map<const Matrix>(values.data(), shape[1], shape[0]).transpose();
}

void write_dense(Object& parent, const std::string& name, const Matrix& matrix,
                 const hdf5::Storage& storage) {
    const Matrix by_rows = converted_transpose<double>(matrix);
    Object array = parent.write_array(name, {matrix.rows(), matrix.cols()}, by_rows.data(), storage);
    mark(array, "array", "0.2.0");
}

} // namespace pnmf::io
