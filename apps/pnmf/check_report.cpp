#include "check_report.hpp"
#include "json_text.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/names.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace pnmf::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A quantity of every scale: its name in the table and in JSON, and how it is printed.
struct Column {
    std::string title;
    std::string name;
    std::function<double(Index)> value; ///< NaN where there is none
    bool whole = false;
};

/// Entry t of numbers about all scales, or, for increments, about the second scale on.
std::function<double(Index)> of(const std::vector<double>& values, Index first = 0) {
    return [&values, first](Index t) { return t < first ? unknown : values[t - first]; };
}
std::function<double(Index)> of(const std::vector<Index>& values) {
    return [&values](Index t) { return static_cast<double>(values[t]); };
}

std::vector<Column> columns_of(const CheckReport& report) {
    std::vector<Column> columns{{.title = "epsilon", .name = "epsilon", .value = of(report.epsilon)}};
    if (report.graphs) {
        columns.push_back({"beta0", "betti0", of(report.graphs->components), true});
        columns.push_back({"edges", "edges", of(report.graphs->edges), true});
    }
    if (report.increments) {
        const AdjacentLipschitz& path = *report.increments;
        columns.push_back({"d_eps", "epsilon_increment", of(path.gap, 1)});
        columns.push_back({"|dL|", "laplacian_increment", of(path.increment, 1)});
        columns.push_back({"|dL|/d_eps", "laplacian_slope", [&path](Index t) {
                               return t == 0 ? unknown : path.increment[t - 1] / path.gap[t - 1];
                           }});
    }
    if (report.spectrum) {
        columns.push_back(
            {"gamma>0", "smallest_positive_eigenvalue", of(report.spectrum->smallest_positive)});
        columns.push_back({"gamma_n", "largest_eigenvalue", of(report.spectrum->largest)});
    }
    if (report.embeddings) {
        columns.push_back({"|H|", "embedding_norm", of(report.embeddings->norm)});
        columns.push_back({"|dH|", "embedding_increment", of(report.embeddings->increment, 1)});
    }
    if (report.convergence && !report.convergence->kkt.empty()) {
        columns.push_back({"KKT", "kkt", of(report.convergence->kkt)});
    }
    return columns;
}

/// What JSON has beside the table's columns.
std::vector<Column> more_columns_of(const CheckReport& report) {
    std::vector<Column> columns;
    if (report.spectrum) {
        columns.push_back({"", "kernel_dimension", of(report.spectrum->kernel), true});
        columns.push_back({"", "largest_eigenvalue_rise", of(report.spectrum->largest_rise)});
        columns.push_back({"", "largest_eigenvalue_fall", of(report.spectrum->largest_fall)});
    }
    if (report.embeddings) {
        columns.push_back({"", "recursive_left", of(report.embeddings->recursive_left, 1)});
        columns.push_back({"", "recursive_right", of(report.embeddings->recursive_right, 1)});
        columns.push_back({"", "pointwise_bound", of(report.embeddings->pointwise, 1)});
    }
    return columns;
}

/// At most 20 scales, evenly spaced, finest and coarsest among them.
void add_scales(std::string& text, const CheckReport& report) {
    const auto scales = static_cast<Index>(report.epsilon.size());
    const Index rows = std::min<Index>(20, scales);
    const auto columns = columns_of(report);
    text += " scale";
    for (const Column& column : columns) {
        text += fmt::format(" {:>10}", column.title);
    }
    text += '\n';
    for (const Index t : evenly_spaced(rows, scales, Rounding::down)) {
        text += fmt::format("{:6}", t + 1);
        for (const Column& column : columns) {
            const double value = column.value(t);
            if (std::isnan(value)) {
                text += fmt::format(" {:>10}", "-");
            } else if (column.whole) {
                text += fmt::format(" {:>10.0f}", value);
            } else {
                text += fmt::format(" {:>10.4g}", value);
            }
        }
        text += '\n';
    }
    if (rows < scales) {
        text += fmt::format("({} of {} scales; --json has all)\n", rows, scales);
    }
}

void add_correlation(std::string& text, const char* what, const std::optional<Correlation>& correlation) {
    if (correlation) {
        text += fmt::format("  {}  r = {:.4f}, p {}\n", what, correlation->r,
                            correlation->p == 0.0 ? "< 1e-300" : fmt::format("= {:.3g}", correlation->p));
    }
}

void add_constants(std::string& text, const IncrementConstants& c) {
    text += fmt::format(
        "\nConstants of thm:embedding_increment_bounds: C_X = {:.4g}, C_H = {:.4g}, l = {:.4g}, C1 "
        "= {:.4g}, C2 = {:.4g}, C = {:.4g}",
        c.C_X, c.C_H, c.l, c.C1, c.C2, c.C);
    if (c.assumption) {
        text += fmt::format(", a = {:.4g}, b = {:.4g}, rho = {:.4g}", c.a, c.b, c.rho);
    }
    text += '\n';
}

std::string number(double value) {
    return std::isnan(value) ? "-" : fmt::format("{:.4g}", value);
}

void add_findings(std::string& text, const Findings& findings) {
    text += fmt::format("\n{:<12}{:>11} {:>11}  statement\n", "verdict", "measured", "bound");
    for (const Finding& finding : findings) {
        text += fmt::format("{:<12}{:>11} {:>11}  {}: {}\n", name_of(finding.verdict),
                            number(finding.measured), number(finding.bound), finding.statement, finding.what);
        if (!finding.note.empty()) {
            text += fmt::format("{:37}{}\n", "", finding.note);
        }
    }
}

Json json_of(const ScaleSetProperties& properties) {
    return {{"states", properties.states},           {"covered", properties.covered},
            {"repeated", properties.repeated},       {"not_at_a_jump", properties.not_at_a_jump},
            {"sufficient", properties.sufficient()}, {"minimal", properties.minimal()},
            {"canonical", properties.canonical()}};
}

Json json_of(const Correlation& correlation) {
    return {{"r", correlation.r}, {"p", correlation.p}};
}

Json json_of(const IncrementConstants& c) {
    return {{"C_X", c.C_X}, {"C_H", c.C_H}, {"l", c.l}, {"C1", c.C1},   {"C2", c.C2},
            {"C", c.C},     {"a", c.a},     {"b", c.b}, {"rho", c.rho}, {"assumption_holds", c.assumption}};
}

Json scales_json(const CheckReport& report) {
    auto columns = columns_of(report);
    for (Column& column : more_columns_of(report)) {
        columns.push_back(std::move(column));
    }
    Json scales = Json::array();
    for (Index t = 0; t < static_cast<Index>(report.epsilon.size()); ++t) {
        Json scale{{"scale", t + 1}};
        for (const Column& column : columns) {
            const double value = column.value(t);
            if (column.whole) {
                scale[column.name] = static_cast<Index>(value);
            } else {
                scale[column.name] = value;
            }
        }
        scales.push_back(std::move(scale));
    }
    return scales;
}

} // namespace

std::string to_table(const CheckReport& report) {
    std::string text = fmt::format("{} cells, {} scales\n\n", report.cells, report.epsilon.size());
    add_scales(text, report);
    if (report.used) {
        text +=
            fmt::format("\nThe scales used meet {} of the {} values of beta_0: {}sufficient, {}minimal, "
                        "{}canonical\n",
                        report.used->covered, report.used->states, report.used->sufficient() ? "" : "not ",
                        report.used->minimal() ? "" : "not ", report.used->canonical() ? "" : "not ");
    }
    if (report.correlations) {
        text += fmt::format("\nCorrelations of the {} increments\n", report.correlations->pairs);
        add_correlation(text, "d_eps - |dL|", report.correlations->epsilon_laplacian);
        add_correlation(text, "|dL| - |dH| ", report.correlations->laplacian_embedding);
        add_correlation(text, "d_eps - |dH|", report.correlations->epsilon_embedding);
    }
    if (report.embeddings) {
        add_constants(text, report.embeddings->constants);
    }
    add_findings(text, report.findings);
    return text;
}

std::string to_json_text(const CheckReport& report, const std::string& path, const std::string& data) {
    Json json{{"path", path}, {"data", data}, {"cells", report.cells}};
    if (report.features > 0) {
        json["features"] = report.features;
    }
    if (report.alpha) {
        json["alpha"] = *report.alpha;
    }
    if (report.canonical) {
        json["canonical_scales"] = json_of(*report.canonical);
    }
    if (report.used) {
        json["scales_used"] = json_of(*report.used);
    }
    if (report.correlations) {
        Json& correlations = json["correlations"];
        correlations["pairs"] = report.correlations->pairs;
        correlations["epsilon_laplacian"] = json_of(report.correlations->epsilon_laplacian);
        if (report.correlations->laplacian_embedding) {
            correlations["laplacian_embedding"] = json_of(*report.correlations->laplacian_embedding);
            correlations["epsilon_embedding"] = json_of(*report.correlations->epsilon_embedding);
        }
    }
    if (report.embeddings) {
        json["increment_constants"] = json_of(report.embeddings->constants);
        json["uniform_bound"] = report.embeddings->uniform;
    }
    if (report.lipschitz) {
        json["lipschitz_constants"] = {{"C1", report.lipschitz->C1},
                                       {"C2", report.lipschitz->C2},
                                       {"C", report.lipschitz->C},
                                       {"smallest_gap", report.lipschitz->smallest_gap},
                                       {"most_new_pairs", report.lipschitz->most_new_pairs}};
    }
    if (report.spectrum) {
        json["spectrum"] = report.spectrum->complete ? "complete" : "extremal";
        json["spectrum_not_converged"] = report.spectrum->not_converged;
    }
    json["findings"] = Json::array();
    for (const Finding& finding : report.findings) {
        json["findings"].push_back({{"statement", finding.statement},
                                    {"what", finding.what},
                                    {"measured", finding.measured},
                                    {"bound", finding.bound},
                                    {"verdict", name_of(finding.verdict)},
                                    {"note", finding.note}});
    }
    json["scales"] = scales_json(report);
    return json_text(json) + "\n";
}

} // namespace pnmf::cli
