#include "transform_output.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace pnmf::cli {
namespace {

namespace fs = std::filesystem;

/// The ending that says what a file is, without .gz of text.
std::string ending(const fs::path& path) {
    return path.extension() == ".gz" ? path.stem().extension().string() : path.extension().string();
}

void write_table_of(const fs::path& path, const Transformed& result) {
    std::vector<TableColumn> columns{{.name = "cell", .values = result.cell_names}};
    for (std::size_t s = 0; s < result.H.size(); ++s) {
        const std::string prefix = result.H.size() == 1 ? "" : fmt::format("t{}_", result.scales[s] + 1);
        for (Index k = 0; k < result.H[s].rows(); ++k) {
            const Vector row = result.H[s].row(k);
            columns.push_back({.name = fmt::format("{}d{}", prefix, k + 1),
                               .values = std::vector<double>(row.begin(), row.end())});
        }
    }
    write_table(path, columns);
}

void write_array(const fs::path& path, const Transformed& result) {
    const auto scales = static_cast<Index>(result.H.size());
    const Index rank = result.H.front().rows();
    const Index cells = result.H.front().cols();
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(scales * rank * cells));
    for (const Matrix& H : result.H) {
        values.insert(values.end(), H.data(), H.data() + H.size()); // by columns: cell after cell
    }
    const std::array<Index, 3> shape{scales, cells, rank};
    const std::span<const Index> axes(shape);
    write_npy<double>(path, values, scales == 1 ? axes.subspan(1) : axes);
}

void write_annotated(const fs::path& path, const Transformed& result) {
    AnnDataFile file;
    file.cell_names = result.cell_names;
    file.cell_table = result.cell_table;
    std::vector<std::int64_t> numbers;
    for (std::size_t s = 0; s < result.H.size(); ++s) {
        numbers.push_back(result.scales[s] + 1);
        const std::string name =
            result.H.size() == 1 ? "X_pnmf" : fmt::format("X_pnmf_t{}", result.scales[s] + 1);
        file.obsm[name] = result.H[s].transpose();
    }
    file.uns["pnmf_transform"] =
        AnnDataMap{{"scale", numeric_array(numbers)}, {"epsilon", numeric_array(result.epsilon)}};
    write_anndata(path, file);
}

} // namespace

void check_transform_file(const fs::path& path) {
    const std::string kind = ending(path);
    const bool text = kind == ".csv" || kind == ".tsv";
    require(text || ((kind == ".h5ad" || kind == ".npy") && path.extension() != ".gz"),
            "{}: the output must end in .h5ad, .npy, .csv or .tsv", path.string());
}

void write_transformed(const fs::path& path, const Transformed& result) {
    const std::string kind = ending(path);
    if (kind == ".h5ad") {
        write_annotated(path, result);
    } else if (kind == ".npy") {
        write_array(path, result);
    } else {
        write_table_of(path, result);
    }
}

} // namespace pnmf::cli
