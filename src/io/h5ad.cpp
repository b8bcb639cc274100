#include "cells/processes.hpp"
#include "io/formats.hpp"
#include "io/h5ad_parts.hpp"
#include "io/keep_parts.hpp"
#include "io/trial_read.hpp"
#include "io/unnamed_anndata.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {

namespace fs = std::filesystem;

namespace io {

namespace {

using hdf5::Object;

/// Whether `raw` is asked for: the values that AnnData keeps beside X, with genes of their own.
bool reads_raw(const Object& root, const ReadOptions& options) {
    return options.layer == "raw" && root.contains("raw") && root.open("raw").contains("X") &&
           root.open("raw").contains("var") &&
           !(root.contains("layers") && root.open("layers").contains("raw"));
}

/// A number above 0 in a group; none where there is no such thing.
std::optional<double> positive_in(const Object& group, const char* name) {
    if (!group.is_group() || !group.contains(name)) {
        return std::nullopt;
    }
    const Object value = group.open(name);
    const auto kind = value.is_dataset() ? value.element() : hdf5::Element::text;
    if ((kind != hdf5::Element::real && kind != hdf5::Element::integer) || value.size() != 1) {
        return std::nullopt;
    }
    const double number = value.read<double>().at(0);
    return std::isfinite(number) && number > 0.0 ? std::optional(number) : std::nullopt;
}

/// Micrometres of one unit of the places of one library: as Visium HD says it, or by the spots of Visium,
/// which are 55 µm wide and whose width in units is there.
std::optional<double> unit_of_library(const Object& library) {
    if (!library.is_group() || !library.contains("scalefactors")) {
        return std::nullopt;
    }
    const Object factors = library.open("scalefactors");
    if (const auto unit = positive_in(factors, "microns_per_pixel")) {
        return unit;
    }
    const auto units = positive_in(factors, "spot_diameter_fullres");
    return units ? std::optional(positive_in(factors, "bin_size_um").value_or(55.0) / *units) : std::nullopt;
}

/// That of all libraries; none where one does not say it, or where they differ.
std::optional<double> unit_of_places(const Object& images) {
    std::optional<double> unit;
    for (const std::string& name : images.is_group() ? images.names() : std::vector<std::string>{}) {
        const auto one = unit_of_library(images.open(name));
        if (!one || (unit && std::abs(*one / *unit - 1.0) > 0.01)) {
            return std::nullopt;
        }
        unit = unit.value_or(*one);
    }
    return unit;
}

FileFacts facts_of(const Object& root) {
    FileFacts facts;
    facts.log_recorded = root.contains("uns") && root.open("uns").contains("log1p");
    facts.has_image = root.contains("uns") && root.open("uns").contains("spatial");
    facts.unit_um = facts.has_image ? unit_of_places(root.open("uns").open("spatial")) : std::nullopt;
    if (root.contains("layers")) {
        facts.layers = root.open("layers").names();
    }
    facts.has_raw = root.contains("raw") && root.open("raw").contains("X");
    if (root.contains("obsm")) {
        facts.obsm = root.open("obsm").names();
    }
    return facts;
}

/// An entry of obsm as the space, a column for each cell.
Space read_space(const Object& root, const std::string& key, Index cells) {
    std::vector<std::string> keys;
    if (root.contains("obsm")) {
        keys = root.open("obsm").names();
    }
    if (std::count(keys.begin(), keys.end(), key) == 0) {
        root.reject(fmt::format("has no obsm '{}'; there are: {}", key,
                                keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "))));
    }
    const Object element = root.open("obsm").open(key);
    if (!element.is_dataset() || element.shape().size() != 2) {
        element.reject("must be a dense matrix to be a space");
    }
    const Matrix values = read_dense(element);
    if (values.rows() != cells || values.cols() < 1) {
        element.reject(fmt::format("must have a row for each of the {} cells, got {} x {}", cells,
                                   values.rows(), values.cols()));
    }
    if (!values.allFinite()) {
        element.reject("holds NaN or infinite values: a space must be finite");
    }
    return {.name = "obsm:" + key, .coordinates = values.transpose()};
}

/// The matrix that the options ask for: X, or a layer.
Object open_matrix(const Object& root, const ReadOptions& options) {
    std::vector<std::string> layers;
    if (root.contains("layers")) {
        layers = root.open("layers").names();
    }
    if (!options.layer || *options.layer == "X") {
        if (!root.contains("X")) {
            root.reject(fmt::format("has no X; its layers are: {}",
                                    layers.empty() ? "none" : fmt::format("{}", fmt::join(layers, ", "))));
        }
        return root.open("X");
    }
    if (reads_raw(root, options)) {
        return root.open("raw").open("X");
    }
    if (std::count(layers.begin(), layers.end(), *options.layer) == 0) {
        root.reject(fmt::format("has no layer '{}'; its layers are: {}", *options.layer,
                                layers.empty() ? "none" : fmt::format("{}", fmt::join(layers, ", "))));
    }
    return root.open("layers").open(*options.layer);
}

/// `shape`: features and cells.
void check_shape(const Object& element, const std::pair<Index, Index>& shape, const DataFrame& obs,
                 const DataFrame& var) {
    const auto [cols, rows] = shape;
    if (rows != static_cast<Index>(obs.names.size()) || cols != static_cast<Index>(var.names.size())) {
        element.reject(fmt::format("must be {} x {}, as obs and var have names, got {} x {}",
                                   obs.names.size(), var.names.size(), rows, cols));
    }
}

/// Of a file: itself, or one AnnData of a MuData file.
Object open_anndata(const fs::path& path, const std::optional<std::string>& modality,
                    std::vector<std::string>* notices = nullptr) {
    Object root = Object::open_file(path);
    if (!root.contains("mod")) {
        require(!modality, "{}: only MuData files have modalities", path.string());
        return root;
    }
    const Object all = root.open("mod");
    const std::vector<std::string> names = all.names();
    const std::string wanted = modality.value_or(names.size() == 1 ? names.front() : "rna");
    if (std::count(names.begin(), names.end(), wanted) == 0) {
        root.reject(fmt::format("has no modality '{}'; there are: {}", wanted, fmt::join(names, ", ")));
    }
    if (notices != nullptr) {
        notices->push_back(
            fmt::format("{}: modality '{}' of {}", path.string(), wanted, fmt::join(names, ", ")));
    }
    return all.open(wanted);
}

/// The parts of a file to write, by reference, so that a data set need not be copied.
struct Parts {
    const MatrixValues* X;
    const std::vector<std::string>& cell_names;
    const std::vector<std::string>& feature_names;
    const std::vector<TableColumn>& cell_table;
    const std::vector<TableColumn>& feature_table;
};

void check_matrix(const std::string& name, const MatrixValues& values, const Parts& parts) {
    const auto [rows, cols] = shape_of(values);
    require(rows == static_cast<Index>(parts.feature_names.size()) &&
                cols == static_cast<Index>(parts.cell_names.size()),
            "{} must be {} features x {} cells, as there are names, got {} x {}", name,
            parts.feature_names.size(), parts.cell_names.size(), rows, cols);
}

void write_embeddings(Object& root, const std::string& name, const std::map<std::string, Matrix>& matrices,
                      std::size_t rows, const hdf5::Storage& storage) {
    Object group = root.make_group(name);
    mark(group, "dict", "0.1.0");
    for (const auto& [key, matrix] : matrices) {
        require(matrix.rows() == static_cast<Index>(rows), "{}/{} must have {} rows, got {}", name, key, rows,
                matrix.rows());
        write_dense(group, key, matrix, storage);
    }
}

void write_parts(AtomicFile& target, const fs::path& path, const Parts& parts, const AnnDataFile& rest,
                 const AnnDataWriteOptions& options) {
    if (parts.X != nullptr) {
        check_matrix("X", *parts.X, parts);
    }
    for (const auto& [name, layer] : rest.layers) {
        check_matrix("the layer " + name, layer, parts);
    }
    const hdf5::Storage storage{.compress = options.compress};
    Object root = Object::create_file(target.temporary(), path);
    mark(root, "anndata", "0.1.0");
    if (parts.X != nullptr) {
        write_matrix_transposed(root, "X", *parts.X, storage);
    }
    write_frame(root, "obs", parts.cell_names, parts.cell_table);
    write_frame(root, "var", parts.feature_names, parts.feature_table);
    write_embeddings(root, "obsm", rest.obsm, parts.cell_names.size(), storage);
    write_embeddings(root, "varm", rest.varm, parts.feature_names.size(), storage);
    write_map(root, "obsp", {});
    write_map(root, "varp", {});
    {
        Object layers = root.make_group("layers");
        mark(layers, "dict", "0.1.0");
        for (const auto& [name, layer] : rest.layers) {
            write_matrix_transposed(layers, name, layer, storage);
        }
    }
    write_map(root, "uns", rest.uns);
    if (!rest.kept_from.empty()) {
        keep_parts(root, rest.kept_from, parts.cell_names, parts.feature_names);
    }
    root.close_file();
}

std::map<std::string, Matrix> read_embeddings(const Object& root, const std::string& name, Index rows,
                                              const std::set<std::string>& skip,
                                              const std::optional<std::vector<std::string>>& wanted,
                                              std::vector<std::string>& notices) {
    std::map<std::string, Matrix> matrices;
    if (!root.contains(name)) {
        return matrices;
    }
    const Object group = root.open(name);
    for (const std::string& key : group.names()) {
        if (wanted && std::count(wanted->begin(), wanted->end(), key) == 0) {
            continue;
        }
        const Object element = group.open(key);
        if (skip.contains(element.path())) {
            continue;
        }
        if (!element.is_dataset() || element.shape().size() != 2) {
            notices.push_back(
                fmt::format("{}: left out, only dense matrices are read here", element.where()));
            continue;
        }
        Matrix matrix = read_dense(element);
        if (matrix.rows() != rows) {
            element.reject(fmt::format("must have {} rows, got {}", rows, matrix.rows()));
        }
        matrices.emplace(key, std::move(matrix));
    }
    return matrices;
}

} // namespace

void check_h5ad(const Object& root) {
    if (!root.contains("obs") || !root.contains("var")) {
        root.reject("must be an AnnData file, with 'obs' and 'var'");
    }
}

void swap_axes(Dataset& data) {
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        *dense = Matrix(dense->transpose());
    } else {
        data.X = transpose(std::get<SparseMatrix<double>>(data.X));
    }
    std::swap(data.feature_names, data.cell_names);
    std::swap(data.feature_table, data.cell_table);
}

FileFacts facts_of_h5ad(const fs::path& path, const std::optional<std::string>& modality) {
    return read_after_trial(path, [&] {
        const hdf5::Session session;
        return facts_of(open_anndata(path, modality));
    });
}

namespace {

Dataset read_parts(const fs::path& path, const ReadOptions& options) {
    const hdf5::Session session;
    Dataset data;
    const Object root = open_anndata(path, options.modality, &data.notices);
    check_h5ad(root);
    DataFrame obs = read_frame(root.open("obs"), data.notices);
    const bool raw = reads_raw(root, options);
    DataFrame var = read_frame(raw ? root.open("raw").open("var") : root.open("var"), data.notices);
    const Object element = open_matrix(root, options);
    const bool rows_are_cells = options.cells.value_or(CellAxis::rows) == CellAxis::rows;
    const bool local = options.local && rows_are_cells && all_processes().count() > 1;
    data.X = read_matrix_transposed(element, data.notices, local ? &data.local : nullptr);
    check_shape(element, {data.features(), data.cells()}, obs, var);
    data.facts = facts_of(root);
    if (options.space) {
        if (options.cells.value_or(CellAxis::rows) == CellAxis::columns) {
            root.reject("has its cells as columns: an entry of obsm belongs to the rows");
        }
        data.space = read_space(root, *options.space, static_cast<Index>(obs.names.size()));
    }
    if (!raw && root.contains("raw")) {
        data.notices.push_back(
            fmt::format("{}:/raw was not read; values are those of {}", path.string(), element.path()));
    }
    data.cell_names = std::move(obs.names);
    data.cell_table = std::move(obs.columns);
    data.feature_names = std::move(var.names);
    data.feature_table = std::move(var.columns);
    if (options.cells.value_or(CellAxis::rows) == CellAxis::columns) {
        swap_axes(data);
    }
    return data;
}

} // namespace

Dataset read_h5ad(const fs::path& path, const ReadOptions& options) {
    return read_after_trial(path, [&] { return read_parts(path, options); });
}

void write_anndata(AtomicFile& target, const fs::path& path, const AnnDataFile& file,
                   const AnnDataWriteOptions& options) {
    const Parts parts{.X = file.X ? &*file.X : nullptr,
                      .cell_names = file.cell_names,
                      .feature_names = file.feature_names,
                      .cell_table = file.cell_table,
                      .feature_table = file.feature_table};
    std::optional<TrialRead> trial;
    if (!file.kept_from.empty()) {
        trial.emplace(file.kept_from, [&file] { Object::manifest_of(file.kept_from); });
    }
    write_parts(target, path, parts, file, options);
}

} // namespace io

void write_anndata(const fs::path& path, const AnnDataFile& file, const AnnDataWriteOptions& options) {
    AtomicFile target(path);
    io::write_anndata(target, path, file, options);
    target.commit();
}

void write_h5ad(const fs::path& path, const Dataset& data, const AnnDataWriteOptions& options) {
    const io::Parts parts{.X = &data.X,
                          .cell_names = data.cell_names,
                          .feature_names = data.feature_names,
                          .cell_table = data.cell_table,
                          .feature_table = data.feature_table};
    AtomicFile target(path);
    io::write_parts(target, path, parts, {}, options);
    target.commit();
}

namespace {

AnnDataFile read_all_parts(const fs::path& path, const AnnDataReadOptions& options) {
    const hdf5::Session session;
    const auto root = hdf5::Object::open_file(path);
    io::check_h5ad(root);
    std::set<std::string> skip;
    for (const std::string& name : options.skip) {
        skip.insert("/" + name);
    }
    AnnDataFile file;
    io::DataFrame obs = io::read_frame(root.open("obs"), file.notices);
    io::DataFrame var = io::read_frame(root.open("var"), file.notices);
    if (root.contains("X") && !skip.contains("/X")) {
        file.X = io::read_matrix_transposed(root.open("X"), file.notices);
        io::check_shape(root.open("X"), io::shape_of(*file.X), obs, var);
    }
    if (root.contains("layers") && !skip.contains("/layers")) {
        const auto layers = root.open("layers");
        for (const std::string& name : layers.names()) {
            const auto element = layers.open(name);
            if (!skip.contains(element.path())) {
                auto values = io::read_matrix_transposed(element, file.notices);
                io::check_shape(element, io::shape_of(values), obs, var);
                file.layers.emplace(name, std::move(values));
            }
        }
    }
    const auto cells = static_cast<Index>(obs.names.size());
    const auto features = static_cast<Index>(var.names.size());
    file.obsm = io::read_embeddings(root, "obsm", cells, skip, options.matrices, file.notices);
    file.varm = io::read_embeddings(root, "varm", features, skip, options.matrices, file.notices);
    if (root.contains("uns") && !skip.contains("/uns")) {
        file.uns = io::read_map(root.open("uns"), skip, file.notices);
    }
    for (const std::string& name : root.names()) {
        const auto element = root.open(name);
        if (name == "raw" || ((name == "obsp" || name == "varp") && !element.names().empty())) {
            file.notices.push_back(fmt::format("{}: left out", element.where()));
        }
    }
    file.cell_names = std::move(obs.names);
    file.cell_table = std::move(obs.columns);
    file.feature_names = std::move(var.names);
    file.feature_table = std::move(var.columns);
    return file;
}

} // namespace

AnnDataFile read_anndata(const fs::path& path, const AnnDataReadOptions& options) {
    return io::read_after_trial(path, [&] { return read_all_parts(path, options); });
}

} // namespace pnmf
