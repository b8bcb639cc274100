#include "results/program_entries.hpp"

#include "io/formats.hpp"

#include <algorithm>
#include <cstdint>

namespace pnmf {
namespace {

/// One number of each path.
template <class Value, class Get>
NumericArray of_paths(const std::vector<ProgramPath>& paths, const Get& get) {
    std::vector<Value> values;
    for (const ProgramPath& path : paths) {
        values.push_back(static_cast<Value>(get(path)));
    }
    return numeric_array(values);
}

NumericArray float_array(const DenseMatrix<float>& matrix) {
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(matrix.size()));
    for (Index i = 0; i < matrix.rows(); ++i) {
        for (Index j = 0; j < matrix.cols(); ++j) {
            values.push_back(matrix(i, j));
        }
    }
    return {.shape = {matrix.rows(), matrix.cols()}, .values = std::move(values)};
}

} // namespace

void add_programs(AnnDataMap& uns, const Assessment& assessment, const std::vector<TableColumn>& cell_table,
                  const std::function<Matrix()>& usages) {
    const GenePrograms& programs = assessment.programs;
    if (programs.scores.size() == 0) {
        return;
    }
    AnnDataMap map;
    map["scores"] = float_array(programs.scores);
    map["mean_usage"] =
        numeric_array(std::vector<double>(programs.mean_usage.begin(), programs.mean_usage.end()));
    const Vector& between = programs.between_clusters;
    map["between_clusters"] = numeric_array(std::vector<double>(between.begin(), between.end()));
    const auto& paths = programs.paths;
    map["persistence"] = of_paths<double>(paths, [](const ProgramPath& p) { return p.persistence; });
    map["first_scale"] = of_paths<std::int64_t>(paths, [](const ProgramPath& p) { return p.first; });
    map["last_scale"] = of_paths<std::int64_t>(paths, [](const ProgramPath& p) { return p.last; });
    map["merges_into"] = of_paths<std::int64_t>(paths, [](const ProgramPath& p) { return p.merges_into; });
    if (const TableColumn* const counts = io::find_column(cell_table, counts_column)) {
        if (const auto* numbers = std::get_if<std::vector<double>>(&counts->values)) {
            map["depth_correlation"] = numeric_array(depth_correlation(usages(), *numbers));
        }
    }
    uns["programs"] = std::move(map);
}

} // namespace pnmf
