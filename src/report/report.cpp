#include "report/cells.hpp"
#include "report/expression.hpp"
#include "report/page.hpp"
#include "report/payload.hpp"
#include "report/plane.hpp"
#include "report/programs.hpp"
#include "report/sample.hpp"
#include "report/tissue.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/error.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/report/report.hpp>
#include <pnmf/results/score_result.hpp>
#include <pnmf/results/stored_result.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

namespace pnmf {

using namespace report;

namespace {

namespace fs = std::filesystem;

constexpr Index most_plane_scales = 32;   ///< for the common plane
constexpr Index most_program_scales = 60; ///< every basis is looked at twice
constexpr std::size_t longest_trace = 2000;
constexpr std::size_t most_left_out = 50000;

/// The bytes a page may spend on one of several results.
ReportOptions shared_by(ReportOptions options, Index results) {
    for (Index* budget : {&options.position_bytes, &options.component_bytes, &options.program_bytes,
                          &options.expression_bytes}) {
        *budget /= results;
    }
    return options;
}

std::vector<Index> shown_scales(const StoredResult& result, const ReportOptions& options) {
    std::vector<Index> all(static_cast<std::size_t>(result.scales));
    std::iota(all.begin(), all.end(), Index{0});
    const Index fit = options.position_bytes / (4 * std::max<Index>(1, result.cells()));
    return evenly(all, std::max<Index>(3, fit), result.recommended);
}

/// The values of the shown scales; null when the file has none for every scale.
Json at_scales(const std::vector<double>& values, const std::vector<Index>& scales) {
    if (values.empty()) {
        return nullptr;
    }
    Json chosen = Json::array();
    for (const Index t : scales) {
        const double value = values[static_cast<std::size_t>(t)];
        chosen.push_back(std::isfinite(value) ? Json(value) : Json(nullptr));
    }
    return chosen;
}

void add_scales(Payload& payload, const StoredResult& result, const std::vector<Index>& scales) {
    Json described;
    described["total"] = result.scales;
    described["position"] = scales;
    for (const char* name :
         {"epsilon", "betti0", "multiplicity", "kkt", "kkt_H", "kkt_W", "effective_rank"}) {
        described[name] = at_scales(result.numbers(name, result.scales), scales);
    }
    if (described["epsilon"].is_null()) { // a baseline has no scales of its own
        described["epsilon"] = Json::array();
        for (const Index t : scales) {
            described["epsilon"].push_back(t + 1);
        }
        payload.meta["numbered"] = true;
    }
    Json scores = Json::object();
    for (const char* name : {"gap_prominence", "stability", "silhouette", "resampling", "combined"}) {
        const Json values = at_scales(result.numbers(std::string("scores/") + name, result.scales), scales);
        if (!values.is_null() &&
            std::any_of(values.begin(), values.end(), [](const Json& v) { return !v.is_null(); })) {
            scores[name] = values;
        }
    }
    described["scores"] = scores;
    payload.meta["scales"] = described;
    const auto place = std::find(scales.begin(), scales.end(), result.recommended);
    payload.meta["recommended"] = place - scales.begin();
}

/// Where each cell of the fit stands in the file: a leaf of the merge tree is a cell of the fit.
std::vector<std::int32_t> leaves_of(const StoredResult& result) {
    std::vector<std::int32_t> leaves(static_cast<std::size_t>(result.order.of_fit));
    std::iota(leaves.begin(), leaves.end(), 0);
    for (std::size_t j = 0; j < result.order.position.size(); ++j) {
        leaves[static_cast<std::size_t>(result.order.position[j])] = static_cast<std::int32_t>(j);
    }
    return leaves;
}

void add_topology(Payload& payload, const StoredResult& result) {
    if (!result.order.whole) {
        payload.add("core", "deaths", std::vector<double>{});
        return;
    }
    const Index cells = result.cells();
    const std::vector<double> tree = result.numbers("merge_tree", 4 * (cells - 1));
    std::vector<double> deaths = result.numbers("deaths", cells - 1);
    std::vector<std::int32_t> merged;
    if (cells > 1 && !tree.empty()) {
        const std::vector<std::int32_t> leaves = leaves_of(result);
        const auto node = [&](double id) {
            require(id >= 0.0 && id < static_cast<double>(2 * cells - 1),
                    "{}: uns/{}/merge_tree joins {}, and there are {} cells", result.name, result.key, id,
                    cells);
            return id < static_cast<double>(cells) ? leaves[static_cast<std::size_t>(id)]
                                                   : static_cast<std::int32_t>(id);
        };
        deaths.clear();
        for (std::size_t row = 0; row < tree.size(); row += 4) {
            merged.push_back(node(tree[row]));
            merged.push_back(node(tree[row + 1]));
            deaths.push_back(tree[row + 2]);
        }
        payload.add("core", "merges", merged);
    }
    payload.add("core", "deaths", deaths);
}

void add_run(Payload& payload, const StoredResult& result, const ReportOptions& options) {
    Json run;
    run["program"] = options.program;
    const Json chosen = Json::parse(result.text("options"), nullptr, false);
    run["options"] = chosen.is_object() ? chosen : Json::object();
    for (const char* name : {"command", "stop", "transform", "method"}) {
        run[name] = result.text(name);
    }
    run["warnings"] = result.warnings;
    run["notices"] = result.notices;
    if (!result.order.whole) {
        run["notices"].push_back(
            fmt::format("{} of the {} cells of the fit are shown; merge tree, persistence "
                        "and graph belong to all of them and are left out",
                        result.cells(), result.order.of_fit));
    }
    for (const Json& labels : payload.meta.value("label_scores", Json::array())) {
        if (const Index missing = labels["missing"].get<Index>(); missing > 0) {
            run["notices"].push_back(
                fmt::format("{} of {} cells have no label in {} and are left out of the agreement with it",
                            missing, result.cells(), labels["column"].get<std::string>()));
        }
    }
    const std::vector<double> total = result.numbers("objective");
    const std::size_t step = std::max<std::size_t>(1, (total.size() + longest_trace - 1) / longest_trace);
    Json objective;
    for (const char* name :
         {"objective", "objective_fit", "objective_graph", "objective_smoothness", "objective_anchor"}) {
        const std::vector<double> values = result.numbers(name, std::ssize(total));
        Json kept = Json::array();
        for (std::size_t sweep = 0; sweep < values.size(); ++sweep) {
            if (sweep % step == 0 || sweep + 1 == values.size()) {
                kept.push_back(values[sweep]);
            }
        }
        objective[name] = kept;
    }
    Json sweeps = Json::array();
    for (std::size_t sweep = 0; sweep < total.size(); ++sweep) {
        if (sweep % step == 0 || sweep + 1 == total.size()) {
            sweeps.push_back(sweep);
        }
    }
    objective["sweep"] = sweeps;
    run["objective"] = objective;
    if (const auto scores = batch_scores(result)) {
        run["batch"] = Json::parse(to_json(*scores));
    }
    payload.meta["run"] = run;
}

/// Positions at every shown scale and the rows of H at as many as the budget allows, in one pass over H.
void add_embeddings(Payload& payload, const StoredResult& result, const std::vector<Index>& scales,
                    const ReportOptions& options) {
    const Plane plane = common_plane([&](Index t) { return result.H(t); },
                                     evenly(scales, most_plane_scales, result.recommended), result.rank);
    payload.meta["plane"] = result.rank <= 2 ? "H" : "principal";
    payload.meta["plane_share"] = plane.share;
    const Index fit = options.component_bytes / (result.rank * result.cells());
    const std::vector<Index> stored = evenly(scales, std::max<Index>(1, fit), result.recommended);
    PositionCoder coder(result.cells());
    std::vector<std::uint8_t> shares;
    std::vector<float> largest;
    Json boxes = Json::array();
    Json component_scales = Json::array();
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const Matrix H = result.H(scales[i]);
        require(H.allFinite(), "{}: uns/pnmf/H has values that are not finite at scale {}", result.name,
                scales[i] + 1);
        const ScalePositions positions = quantised_positions(plane, H);
        coder.add(positions);
        boxes.push_back(positions.box);
        if (!std::binary_search(stored.begin(), stored.end(), scales[i])) {
            continue;
        }
        component_scales.push_back(i);
        for (Index k = 0; k < H.rows(); ++k) {
            const double most = H.row(k).maxCoeff();
            largest.push_back(static_cast<float>(most));
            for (Index j = 0; j < H.cols(); ++j) {
                const double share = most > 0.0 ? std::max(0.0, H(k, j) / most) : 0.0;
                shares.push_back(static_cast<std::uint8_t>(std::lround(255.0 * share)));
            }
        }
    }
    payload.meta["boxes"] = boxes;
    payload.meta["component_scales"] = component_scales;
    payload.add("core", "positions", coder.bytes());
    payload.add("components", "components", shares);
    payload.add("components", "component_largest", largest);
}

/// The bases of the shown scales: all of them, or the one of the recommended scale.
std::function<Matrix(Index)> basis_of(const StoredResult& result, const std::vector<Index>& scales,
                                      std::vector<Index>& at_hand) {
    at_hand.resize(scales.size());
    std::iota(at_hand.begin(), at_hand.end(), Index{0});
    if (result.has_basis) {
        return [&](Index i) { return result.W(scales[static_cast<std::size_t>(i)]); };
    }
    std::optional<Matrix> one = result.recommended_basis();
    if (!one) {
        at_hand.clear();
        return {};
    }
    at_hand = {std::find(scales.begin(), scales.end(), result.recommended) - scales.begin()};
    return [matrix = std::move(*one)](Index) { return matrix; };
}

/// How each program of the recommended scale goes on at the others; an empty list where it is not known.
/// Scales are numbered from 1.
Json program_paths(const StoredResult& result) {
    Json list = Json::array();
    const std::optional<StoredPrograms> programs = stored_programs(result);
    for (Index k = 0; programs && k < programs->count(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        Json one{{"first", programs->first_scale[at] + 1},
                 {"last", programs->last_scale[at] + 1},
                 {"persistence", programs->persistence[at]},
                 {"merges_into", programs->merges_into[at]}};
        if (programs->follows_depth(k)) {
            one["depth"] = programs->depth_correlation[at];
        }
        list.push_back(std::move(one));
    }
    return list;
}

/// Scores of genes at each of the page's scales: from the data where they are at hand, else those stored for
/// the recommended scale, when no other is shown. Empty: there are none, or not for every scale.
std::function<Matrix(Index)> scores_of(const StoredResult& result, const ReportSource& source,
                                       const std::vector<Index>& scales, const std::vector<Index>& at_hand,
                                       const std::function<Matrix(Index)>& basis) {
    if (source.data != nullptr) {
        const auto X = std::make_shared<DataMatrix<double>>(std::visit(
            [](const auto& values) { return DataMatrix<double>(view_of(values)); }, source.data->X));
        return [&result, &scales, &basis, X](Index i) {
            return program_scores(*X,
                                  program_usages(basis(i), result.H(scales[static_cast<std::size_t>(i)])));
        };
    }
    if (at_hand.size() == 1) {
        if (const std::optional<StoredPrograms> programs = stored_programs(result)) {
            return [scores = Matrix(programs->scores.cast<double>())](Index) { return scores; };
        }
    }
    return {};
}

/// Why a gene of the file may be missing: names of those that steps left out, and how many were chosen.
void add_left_out(Payload& payload, const StoredResult& result) {
    Json left_out = Json::object();
    for (const char* name : {step::genes, step::rare_genes}) {
        if (const auto* done = result.input.step(name);
            done != nullptr && done->names.size() <= most_left_out) {
            left_out[name] = done->names;
        }
    }
    payload.meta["left_out"] = left_out;
    if (const auto* chosen = result.input.step(step::chosen_genes)) {
        payload.meta["chosen_genes"] = static_cast<Index>(chosen->count);
    }
}

void add_programs(Payload& payload, const StoredResult& result, const ReportSource& source,
                  const std::vector<Index>& scales, const ReportOptions& options, std::string* beside) {
    const auto& names = result.features;
    std::vector<Index> at_hand;
    const std::function<Matrix(Index)> basis = basis_of(result, scales, at_hand);
    std::vector<Index> genes;
    if (basis && !names.empty()) {
        const Index first = payload.meta["recommended"].get<Index>();
        const Programs programs =
            gene_programs(basis, scores_of(result, source, scales, at_hand, basis),
                          evenly(at_hand, most_program_scales, first), first, options.program_bytes);
        payload.meta["programs"] = {{"top", programs.top},
                                    {"scales", programs.scales},
                                    {"genes", programs.genes.size()},
                                    {"scored", !programs.by_score.empty()}};
        payload.meta["programs"]["paths"] = program_paths(result);
        if (const std::optional<StoredPrograms> stored = stored_programs(result)) {
            payload.meta["programs"]["order"] = stored->order();
        }
        payload.add("programs", "by_score", programs.by_score);
        payload.add("programs", "by_weight", programs.by_weight);
        payload.add("programs", "by_lead", programs.by_lead);
        payload.add("programs", "weight", programs.weight);
        payload.add("programs", "weight_largest", programs.largest);
        genes = programs.genes;
    }
    if (source.data != nullptr && !names.empty()) {
        payload.meta["genes"] =
            add_expression(payload, *source.data, std::move(genes), options.expression_bytes, beside);
        add_left_out(payload, result);
        return;
    }
    payload.meta["genes"] = Json::array();
    for (const Index gene : genes) {
        payload.meta["genes"].push_back(names[static_cast<std::size_t>(gene)]);
    }
}

void check_data(const StoredResult& result, const Dataset& data) {
    require(data.cell_names == result.file.cell_names,
            "the data do not belong to {}: names or order of the cells differ ({} cells in the data, {} in "
            "the result)",
            result.name, data.cells(), result.cells());
    require(data.feature_names == result.features,
            "the data do not belong to {}: names or order of the features differ ({} in the data, {} in the "
            "result)",
            result.name, data.features(), result.features.size());
}

std::string name_of(const ReportSource& source, const StoredResult& result) {
    if (!source.name.empty()) {
        return source.name;
    }
    const fs::path whole = fs::absolute(fs::path(result.name)).lexically_normal();
    return whole.filename() == "result.h5ad" ? whole.parent_path().filename().string()
                                             : whole.filename().string();
}

std::string elements_of(const ReportSource& source, int number, const ReportOptions& options,
                        std::string* beside) {
    require(source.result != nullptr, "a page needs a result");
    const StoredResult& result = *source.result;
    if (source.data != nullptr) {
        check_data(result, *source.data);
    }
    if (result.cells() > options.most_cells) {
        const std::vector<Index> cells = drawn_by_name(result.file.cell_names, options.most_cells);
        const StoredResult some = sample_of(result, cells);
        const Dataset values = source.data != nullptr ? sample_of(*source.data, cells) : Dataset{};
        return elements_of(
            {.result = &some, .name = source.name, .data = source.data != nullptr ? &values : nullptr},
            number, options, beside);
    }
    const std::vector<Index> scales = shown_scales(result, options);
    Payload payload;
    payload.meta["format"] = 1;
    payload.meta["name"] = name_of(source, result);
    payload.meta["cells"] = result.cells();
    if (!result.order.whole) {
        payload.meta["cells_of_fit"] = result.order.of_fit;
    }
    payload.meta["features"] = result.features.size();
    payload.meta["rank"] = result.rank;
    payload.meta["largest_graph"] = options.largest_graph;
    payload.meta["cell_names"] = result.file.cell_names;
    add_scales(payload, result, scales);
    add_columns(payload, result);
    add_clusters(payload, result, scales);
    add_tissue(payload, result, scales);
    add_resolutions(payload, result);
    add_topology(payload, result);
    add_loops(payload, result);
    add_run(payload, result, options);
    add_embeddings(payload, result, scales, options);
    add_programs(payload, result, source, scales, options, beside);
    if (source.data != nullptr) {
        add_graph(payload, result, *source.data, options);
    }
    return payload.elements(number);
}

std::string page_of(const std::vector<ReportSource>& results, const ReportOptions& options,
                    std::string* beside) {
    require(results.size() == 1 || results.size() == 2, "a page shows one result or two, got {}",
            results.size());
    std::string data;
    for (std::size_t i = 0; i < results.size(); ++i) {
        data += elements_of(results[i], static_cast<int>(i), shared_by(options, std::ssize(results)), beside);
    }
    const std::string page = page_text();
    const std::size_t place = page.find(data_mark);
    require(place != std::string::npos, "the page of this build has no place for data");
    std::string whole;
    whole.reserve(page.size() + data.size());
    whole.append(page, 0, place).append(data).append(page, place + data_mark.size());
    return whole;
}

} // namespace

std::string report_html(const std::vector<ReportSource>& results, const ReportOptions& options) {
    return page_of(results, options, nullptr);
}

ReportFiles report_files(const std::vector<ReportSource>& results, const ReportOptions& options) {
    ReportFiles files;
    files.html = page_of(results, options, &files.genes);
    return files;
}

fs::path genes_beside(const fs::path& page) {
    return fs::path(page).replace_extension(".genes");
}

void write_report(const fs::path& page, const ReportFiles& files) {
    if (!files.genes.empty()) {
        const fs::path genes = genes_beside(page);
        require(genes != page, "{}: genes that do not fit into the page go into the file of this name",
                page.string());
        write_text(genes, files.genes); // first: the page asks for it
    }
    write_text(page, files.html);
}

} // namespace pnmf
