#include "io/formats.hpp"
#include "io/h5ad_parts.hpp"
#include "io/hdf5_handle.hpp"
#include "io/trial_read.hpp"

#include <pnmf/error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

/// Loom files: `matrix` and `layers/NAME` are genes × cells, what is known of genes stands in `row_attrs`, of
/// cells in `col_attrs`, an array for each.
namespace pnmf::io {
namespace {

namespace fs = std::filesystem;
using hdf5::Element;
using hdf5::Object;

Object open_values(const Object& root, const std::string& layer) {
    if (layer == "X") {
        return root.open("matrix");
    }
    const std::vector<std::string> layers =
        root.contains("layers") ? root.open("layers").names() : std::vector<std::string>{};
    if (std::count(layers.begin(), layers.end(), layer) == 0) {
        root.reject(fmt::format("has no layer '{}'; its layers are: {}", layer,
                                layers.empty() ? "none" : fmt::format("{}", fmt::join(layers, ", "))));
    }
    return root.open("layers").open(layer);
}

/// The table is stored in full, but mostly zero: blocks of rows become sparse, and cells its columns.
SparseMatrix<double> read_values(const Object& values) {
    const std::vector<Index> shape = values.is_dataset() ? values.shape() : std::vector<Index>{};
    if (shape.size() != 2 || std::max(shape[0], shape[1]) > std::numeric_limits<std::int32_t>::max()) {
        values.reject("must be a matrix, genes x cells");
    }
    values.check_fits_file();
    constexpr Index block_values = Index{1} << 22;
    const Index step = std::max<Index>(1, block_values / std::max<Index>(1, shape[1]));
    SparseMatrix<double> genes{.rows = shape[1], .cols = shape[0], .start = {0}, .row = {}, .value = {}};
    std::vector<double> block;
    for (Index first = 0; first < shape[0]; first += step) {
        const Index count = std::min(step, shape[0] - first);
        block.resize(static_cast<std::size_t>(count * shape[1]));
        values.read_rows(first, count, block.data());
        for (Index i = 0; i < count; ++i) {
            for (Index j = 0; j < shape[1]; ++j) {
                if (const double x = block[static_cast<std::size_t>(i * shape[1] + j)]; x != 0.0) {
                    genes.row.push_back(static_cast<std::int32_t>(j));
                    genes.value.push_back(x);
                }
            }
            genes.start.push_back(std::ssize(genes.value));
        }
    }
    return transpose(genes);
}

/// Arrays of other shapes are left out. The first of `names_of` that is there has the names.
void read_attributes(const Object& group, Index count, const std::array<const char*, 4>& names_of,
                     std::vector<std::string>& names, std::vector<TableColumn>& table) {
    const std::vector<std::string> there = group.names();
    const auto* const found = std::find_if(names_of.begin(), names_of.end(), [&](const char* name) {
        return std::count(there.begin(), there.end(), name) > 0;
    });
    for (const std::string& name : there) {
        const Object values = group.open(name);
        const Element kind = values.is_dataset() ? values.element() : Element::other;
        if (kind == Element::other || values.shape().size() != 1) {
            continue;
        }
        if (values.size() != count) {
            values.reject(
                fmt::format("must have {} values, by the matrix's shape, got {}", count, values.size()));
        }
        if (found != names_of.end() && name == *found && kind == Element::text) {
            names = values.read_texts();
        } else if (kind == Element::text) {
            table.push_back({.name = name, .values = values.read_texts()});
        } else {
            table.push_back({.name = name,
                             .values = values.read<double>(),
                             .number = kind == Element::real ? NumberType::real : NumberType::integer});
        }
    }
}

Dataset read_loom_parts(const fs::path& path, const ReadOptions& options) {
    const hdf5::Session session;
    const Object root = Object::open_file(path);
    Dataset data;
    SparseMatrix<double> X = read_values(open_values(root, options.layer.value_or("X")));
    read_attributes(root.open("row_attrs"), X.rows, {"Gene", "var_names", "gene_names", "Accession"},
                    data.feature_names, data.feature_table);
    read_attributes(root.open("col_attrs"), X.cols, {"CellID", "obs_names", "cell_names", "cell_id"},
                    data.cell_names, data.cell_table);
    data.X = std::move(X);
    name_missing(path.string(), data);
    if (options.cells == CellAxis::rows) {
        swap_axes(data);
    }
    return data;
}

} // namespace

Dataset read_loom(const fs::path& path, const ReadOptions& options) {
    return read_after_trial(path, [&] { return read_loom_parts(path, options); });
}

} // namespace pnmf::io
