#include "io/formats.hpp"
#include "linalg/arrays_on_disk.hpp"
#include "linalg/parallel_copy.hpp"
#include "results/option_values.hpp"
#include "results/program_entries.hpp"
#include "results/resolution_columns.hpp"

#include <pnmf/io/annotations.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/preparation.hpp>
#include <pnmf/persistence/diagram.hpp>
#include <pnmf/precision.hpp>
#include <pnmf/results/result_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace pnmf {
namespace {

std::vector<std::int64_t> integers(const std::vector<Index>& values) {
    return {values.begin(), values.end()};
}

/// The merges as SciPy's linkage matrix: left, right, height, cells.
Matrix linkage(const SpanningTree& tree) {
    const auto merges = merge_tree(tree);
    Matrix rows(static_cast<Index>(merges.size()), 4);
    for (Index i = 0; i < rows.rows(); ++i) {
        const Merge& merge = merges[static_cast<std::size_t>(i)];
        rows.row(i) << static_cast<double>(merge.left), static_cast<double>(merge.right), merge.height,
            static_cast<double>(merge.size);
    }
    return rows;
}

template <class Real>
SlabArray slabs(Index count, Index rows, Index cols, std::function<DenseMatrix<Real>(Index)> slab) {
    SlabArray array{.slabs = count, .rows = rows, .cols = cols};
    if constexpr (std::is_same_v<Real, float>) {
        array.float_slab = std::move(slab);
    } else {
        array.slab = std::move(slab);
    }
    return array;
}

template <class Real>
void add_trace(AnnDataMap& uns, const FitResult<Real>& result) {
    const auto column = [&](const char* name, auto term) {
        std::vector<double> values;
        for (const Objective& objective : result.trace) {
            values.push_back(term(objective));
        }
        uns[name] = numeric_array(values);
    };
    column("objective", [](const Objective& o) { return o.total(); });
    column("objective_fit", [](const Objective& o) { return o.fit; });
    column("objective_graph", [](const Objective& o) { return o.graph; });
    column("objective_smoothness", [](const Objective& o) { return o.smoothness; });
    column("objective_anchor", [](const Objective& o) { return o.anchor; });
}

template <class Real>
void add_certificate(AnnDataMap& uns, const FitResult<Real>& result) {
    std::vector<double> both;
    std::vector<double> of_H;
    std::vector<double> of_W;
    for (const KktResidual& residual : result.residuals) {
        both.push_back(residual.certificate());
        of_H.push_back(residual.H.ratio());
        of_W.push_back(residual.W.ratio());
    }
    uns["kkt"] = numeric_array(both);
    uns["kkt_H"] = numeric_array(of_H);
    uns["kkt_W"] = numeric_array(of_W);
    uns["effective_rank"] = numeric_array(result.effective_rank);
}

template <class Real>
void add_scales(AnnDataMap& uns, const PreparedFit<Real>& prepared, const ScaleSet& scales) {
    uns["epsilon"] = numeric_array(scales.epsilon);
    uns["multiplicity"] = numeric_array(integers(scales.multiplicity));
    uns["deaths"] = numeric_array(h0_diagram(*prepared.tree).deaths);
    uns["merge_tree"] = numeric_array(linkage(*prepared.tree));
    uns["scales_all"] = scales.available;
    if (prepared.kept) {
        uns["scale_position"] = numeric_array(integers(prepared.kept->position));
        uns["scale_weight"] = numeric_array(scales.weight);
        uns["coupling"] = numeric_array(prepared.kept->smoothness);
    }
}

/// Coordinates have a row for each cell of the fit, in its order; directions one for each of its features.
void add_space(AnnDataMap& uns, const Space& space) {
    AnnDataMap map;
    map["name"] = space.name;
    const Matrix& coordinates = space.coordinates; // as it stands, a row of the array is a cell
    std::vector<double> values(coordinates.data(), coordinates.data() + coordinates.size());
    keep_on_disk(values.data(), values.size() * sizeof(double));
    map["coordinates"] =
        NumericArray{.shape = {coordinates.cols(), coordinates.rows()}, .values = std::move(values)};
    if (space.downwards) {
        map["downwards"] = true;
    }
    if (space.unit_um) {
        map["unit_um"] = *space.unit_um;
    }
    if (space.slices) {
        map["slices"] = AnnDataMap{{"names", space.slices->names},
                                   {"of_cell", numeric_array(integers(space.slices->of_cell))},
                                   {"moved", numeric_array(space.slices->moved)}};
    }
    if (space.components) {
        map["directions"] = numeric_array(space.components->directions);
        map["mean"] =
            numeric_array(std::vector<double>(space.components->mean.begin(), space.components->mean.end()));
        map["variance"] = numeric_array(
            std::vector<double>(space.components->variance.begin(), space.components->variance.end()));
    }
    uns["space"] = std::move(map);
}

/// One number of each cell at each scale.
NumericArray table_of_scales(const std::vector<std::vector<Index>>& labels) {
    std::vector<std::int32_t> values;
    for (const std::vector<Index>& of_scale : labels) {
        values.insert(values.end(), of_scale.begin(), of_scale.end());
    }
    return {.shape = {std::ssize(labels), std::ssize(labels.front())}, .values = std::move(values)};
}

void add_domains(AnnDataFile& file, AnnDataMap& uns, const Dataset& data, const Domains& domains,
                 const std::vector<double>& epsilon) {
    io::set_column(file.cell_table,
                   cluster_column("pnmf_domains", domains.labels[static_cast<std::size_t>(domains.scale)],
                                  domains.count));
    if (data.space) {
        file.obsm[usual_places] = places_in_slices(*data.space).transpose();
    }
    uns["domains"] = AnnDataMap{{"scale", static_cast<std::int64_t>(domains.scale)},
                                {"count", static_cast<std::int64_t>(domains.count)},
                                {"of_scale", table_of_scales(domains.labels)},
                                {"neighbors", numeric_array(domains.neighbors)},
                                {"distinct", numeric_array(domains.distinct)},
                                {"coherence", numeric_array(domains.coherence)},
                                {"moran", numeric_array(domains.moran)}};
    if (data.space && data.space->unit_um) {
        std::vector<double> reach;
        std::transform(epsilon.begin(), epsilon.end(), std::back_inserter(reach),
                       [&](double e) { return e * *data.space->unit_um; });
        std::get<AnnDataMap>(uns["domains"].value)["micrometres"] = numeric_array(reach);
    }
}

/// The batch of each cell of the fit, in its order.
void put_batches(AnnDataMap& uns, const std::vector<Index>& batch, const Dataset& data) {
    if (batch.empty()) {
        return;
    }
    AnnDataMap map;
    map["of_cell"] = numeric_array(integers(batch));
    const auto named = batches_of(data);
    std::vector<std::string> names = named ? named->names : std::vector<std::string>{};
    for (Index b = std::ssize(names); b <= *std::max_element(batch.begin(), batch.end()); ++b) {
        names.push_back(fmt::format("{}", b + 1)); // a library's user need not name them
    }
    map["names"] = names;
    map["column"] = named ? named->column : std::string("batch");
    uns["batch"] = std::move(map);
}

void add_assessment(AnnDataFile& file, AnnDataMap& uns, const Assessment& assessment) {
    uns["clusters"] = table_of_scales(assessment.clusters);
    uns["cluster_count"] = assessment.cluster_count;
    const ScaleScores& scores = assessment.scores;
    uns["scores"] = AnnDataMap{{"gap_prominence", numeric_array(scores.gap_prominence)},
                               {"stability", numeric_array(scores.stability)},
                               {"silhouette", numeric_array(scores.silhouette)},
                               {"resampling", numeric_array(scores.resampling)},
                               {"combined", numeric_array(scores.combined)}};
    io::set_column(file.cell_table,
                   cluster_column("pnmf_clusters",
                                  assessment.clusters[static_cast<std::size_t>(assessment.recommended)],
                                  assessment.cluster_count));
    add_resolutions(file, uns, assessment.resolutions);
}

} // namespace

template <class Real>
AnnDataFile result_file(const Dataset& data, const PreparedFit<Real>& prepared, const FitResult<Real>& result,
                        const Assessment& assessment, const ResultFileOptions& options) {
    AnnDataFile file;
    file.cell_names = data.cell_names;
    file.feature_names = data.feature_names;
    file.cell_table = data.cell_table;
    file.feature_table = data.feature_table;
    file.kept_from = options.kept_from;
    const Index recommended = assessment.recommended;
    const Factors<Real>& factors = result.factors;
    DenseMatrix<Real> buffer;
    file.obsm["X_pnmf"] = converted_transpose<double>(result.embedding(recommended, buffer));
    const auto basis = [&factors](Index t) {
        DenseMatrix<Real> buffer;
        return DenseMatrix<Real>(factors.basis(t, buffer));
    };
    file.varm["pnmf_W"] = basis(recommended).template cast<double>();
    AnnDataMap uns;
    uns["method"] = options.method;
    if (options.method == "pnmf") {
        add_scales(uns, prepared, result.scales);
        uns["scale_error"] = result.scale_error;
    } else {
        file.obsm["X_" + options.method] = file.obsm["X_pnmf"];
    }
    uns["betti0"] = numeric_array(integers(result.scales.betti0));
    const Index cells = result.embeddings ? prepared.X->cells() : factors.H.front().cols();
    uns["H"] = slabs<Real>(factors.scales(), factors.rank(), cells, [&result](Index t) {
        DenseMatrix<Real> read;
        return converted<Real>(result.embedding(t, read));
    });
    if (options.save_basis) {
        uns["W"] = slabs<Real>(factors.scales(), file.varm["pnmf_W"].rows(), factors.rank(), basis);
    }
    add_trace(uns, result);
    add_certificate(uns, result);
    uns["options"] = options.options.empty() ? options_json(prepared.options) : options.options;
    const Penalty& penalty = prepared.penalty;
    uns["penalty"] = numeric_array(std::vector<double>{penalty.graph, penalty.smoothness, penalty.anchor});
    uns["recommended"] = static_cast<std::int64_t>(recommended);
    add_assessment(file, uns, assessment);
    add_programs(uns, assessment, data.cell_table, [&] {
        return program_usages(basis(recommended).template cast<double>(),
                              converted<double>(result.embedding(recommended, buffer)));
    });
    if (options.domains != nullptr) {
        add_domains(file, uns, data, *options.domains, result.scales.epsilon);
    }
    uns["stop"] = std::string(name_of(result.stop));
    uns["warnings"] = result.warnings;
    std::vector<std::string> notices = data.notices;
    notices.insert(notices.end(), prepared.notices.begin(), prepared.notices.end());
    uns["notices"] = notices;
    uns["precision"] = std::string(name_of(precision_of<Real>));
    uns["input"] = to_json(data.input);
    if (data.space) {
        add_space(uns, *data.space);
    }
    put_batches(uns, prepared.options.filtration.batch, data);
    uns["transform"] = std::string(name_of(transform_of(data.input)));
    if (!data.cell_names.empty()) {
        uns["cells"] = data.cell_names;
        uns["features"] = data.feature_names;
    }
    uns["command"] = options.command;
    file.uns["pnmf"] = std::move(uns);
    return file;
}

template <class Real>
void write_result(const std::filesystem::path& path, const Dataset& data, const PreparedFit<Real>& prepared,
                  const FitResult<Real>& result, const Assessment& assessment,
                  const ResultFileOptions& options) {
    write_anndata(path, result_file(data, prepared, result, assessment, options));
}

template AnnDataFile result_file(const Dataset&, const PreparedFit<float>&, const FitResult<float>&,
                                 const Assessment&, const ResultFileOptions&);
template AnnDataFile result_file(const Dataset&, const PreparedFit<double>&, const FitResult<double>&,
                                 const Assessment&, const ResultFileOptions&);

template void write_result(const std::filesystem::path&, const Dataset&, const PreparedFit<float>&,
                           const FitResult<float>&, const Assessment&, const ResultFileOptions&);
template void write_result(const std::filesystem::path&, const Dataset&, const PreparedFit<double>&,
                           const FitResult<double>&, const Assessment&, const ResultFileOptions&);

} // namespace pnmf
