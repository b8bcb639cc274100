#include "cells/processes.hpp"
#include "io/formats.hpp"
#include "io/h5ad_parts.hpp"
#include "io/hdf5_handle.hpp"
#include "io/trial_read.hpp"

#include <pnmf/error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

using hdf5::Object;

/// The group with the matrix: `matrix` since CellRanger 3, before that one named after the genome.
Object open_matrix(const Object& root) {
    if (root.contains("matrix")) {
        return root.open("matrix");
    }
    std::vector<std::string> genomes;
    for (const std::string& name : root.names()) {
        const Object group = root.open(name);
        if (group.contains("barcodes") && group.contains("indptr") && group.contains("genes")) {
            genomes.push_back(name);
        }
    }
    if (genomes.empty()) {
        root.reject(
            "must be a 10x matrix: with a group 'matrix' (CellRanger 3 and later) or one for a genome");
    }
    if (genomes.size() > 1) {
        root.reject(fmt::format("must hold one genome, got {}", fmt::join(genomes, ", ")));
    }
    return root.open(genomes.front());
}

std::vector<std::string> read_names(const Object& group, const std::string& name, Index count) {
    const Object list = group.open(name);
    auto names = list.read_texts();
    if (static_cast<Index>(names.size()) != count) {
        list.reject(fmt::format("must have {} names, by the matrix's shape, got {}", count, names.size()));
    }
    return names;
}

void add_column(const Object& group, const std::string& stored_as, const std::string& name, Index count,
                std::vector<TableColumn>& table) {
    if (group.contains(stored_as)) {
        table.push_back({.name = name, .values = read_names(group, stored_as, count)});
    }
}

/// Gene symbols are the names, made unique as AnnData does; identifiers go to the table.
void read_features(const Object& matrix, Index count, Dataset& data) {
    if (matrix.contains("features")) {
        const Object features = matrix.open("features");
        data.feature_names = read_names(features, "name", count);
        add_column(features, "id", "gene_ids", count, data.feature_table);
        add_column(features, "feature_type", "feature_types", count, data.feature_table);
        add_column(features, "genome", "genome", count, data.feature_table);
    } else {
        data.feature_names = read_names(matrix, "gene_names", count);
        add_column(matrix, "genes", "gene_ids", count, data.feature_table);
    }
}

Dataset read_matrix_and_names(const fs::path& path, const ReadOptions& options) {
    const hdf5::Session session;
    const Object root = Object::open_file(path);
    const Object group = open_matrix(root);
    const auto shape = group.open("shape").read<std::int64_t>();
    if (shape.size() != 2 || std::min(shape[0], shape[1]) < 0 ||
        std::max(shape[0], shape[1]) > std::numeric_limits<std::int32_t>::max()) {
        group.open("shape").reject("must be two sizes from 0 to 2147483647: features and barcodes");
    }
    Dataset data;
    if (options.local && options.cells != CellAxis::rows && all_processes().count() > 1) {
        data.local = local_range(shape[1], all_processes());
    }
    data.X = read_compressed(group, shape[0], shape[1], data.notices, {}, data.local);
    data.cell_names = read_names(group, "barcodes", shape[1]);
    read_features(group, shape[0], data);
    keep_gene_expression(path.string() + ": ", data);
    tell_symbols_apart(path, data);
    if (options.cells == CellAxis::rows) {
        swap_axes(data);
    }
    return data;
}

} // namespace

Dataset read_tenx_h5(const fs::path& path, const ReadOptions& options) {
    return read_after_trial(path, [&] { return read_matrix_and_names(path, options); });
}

} // namespace pnmf::io
