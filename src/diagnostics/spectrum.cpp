#include "diagnostics/unknown.hpp"
#include "linalg/decompositions.hpp"
#include "linalg/lanczos.hpp"

#include <pnmf/diagnostics/theorems.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace pnmf {
namespace {

Vector times_laplacian(const MultiscaleGraph::Scale& scale, const Vector& v) {
    const Matrix row = v.transpose();
    return scale.degrees().cwiseProduct(v) - scale.times_adjacency(row).transpose();
}

/// The cells of each component, and the edges within it.
struct Blocks {
    std::vector<std::vector<Index>> cells;
    std::vector<std::vector<Edge>> edges; ///< between positions in `cells`
};

Blocks blocks_of(const std::vector<Index>& component, const SortedEdges& sorted, double epsilon) {
    Blocks blocks;
    blocks.cells.resize(static_cast<std::size_t>(component_count(component)));
    blocks.edges.resize(blocks.cells.size());
    std::vector<Index> place(component.size());
    for (std::size_t j = 0; j < place.size(); ++j) {
        auto& cells = blocks.cells[component[j]];
        place[j] = static_cast<Index>(cells.size());
        cells.push_back(static_cast<Index>(j));
    }
    const Index edges = sorted.edges_below(epsilon);
    for (Index e = 0; e < edges; ++e) {
        const Edge& edge = sorted.edges[e];
        blocks.edges[component[edge.i]].push_back(
            {.length = edge.length, .i = place[edge.i], .j = place[edge.j]});
    }
    return blocks;
}

/// γ₂ and the largest eigenvalue of a connected graph's Laplacian; nothing when they do not settle.
struct Ends {
    double second = 0.0;
    double largest = 0.0;
};

Ends ends_by_decomposition(Index cells, const std::vector<Edge>& edges, double alpha, double epsilon) {
    const SortedEdges block(cells, edges);
    const Vector values = symmetric_eigenvalues(laplacian(block, alpha, epsilon));
    return {.second = values(1), .largest = values(cells - 1)};
}

/// A function of vectors, as Lanczos asks for it.
SymmetricProduct pointwise(std::function<Vector(const Vector&)> apply, Index size) {
    return [apply = std::move(apply), size](const double* in, double* out) {
        Eigen::Map<Vector>(out, size) = apply(Eigen::Map<const Vector>(in, size));
    };
}

/// By Lanczos on L, then on (γ_n·I − L) off the constants; both with the vectors that live on the component.
std::optional<Ends> ends_by_lanczos(const MultiscaleGraph::Scale& scale, const std::vector<Index>& cells) {
    const Index n = scale.degrees().size();
    const auto size = static_cast<Index>(cells.size());
    const auto spread = [&](const Vector& v) {
        Vector wide = Vector::Zero(n);
        wide(cells) = v;
        return wide;
    };
    const auto times = [&](const Vector& v) { return Vector(times_laplacian(scale, spread(v))(cells)); };
    const auto largest = largest_eigenvalue(size, pointwise(times, size));
    if (!largest) {
        return std::nullopt;
    }
    const auto rest = [&](const Vector& v) {
        const Vector centred = v.array() - v.mean();
        const Vector image = *largest * centred - times(centred);
        return Vector(image.array() - image.mean());
    };
    const auto shifted = largest_eigenvalue(size, pointwise(rest, size));
    if (!shifted) {
        return std::nullopt;
    }
    return Ends{.second = *largest - *shifted, .largest = *largest};
}

/// Kernel, γ_{kernel+1} and γ_n, component by component: L is block diagonal.
void add_extremal(SpectrumPath& path, const MultiscaleGraph& graph, const SortedEdges& sorted, double epsilon,
                  Index whole_component) {
    const auto scale = graph.at(epsilon);
    double smallest = std::numeric_limits<double>::infinity();
    double largest = 0.0;
    bool settled = true;
    const Blocks blocks = blocks_of(components(graph.tree(), epsilon), sorted, epsilon);
    for (std::size_t c = 0; c < blocks.cells.size(); ++c) {
        const auto size = static_cast<Index>(blocks.cells[c].size());
        if (size == 1) {
            continue;
        }
        const std::optional<Ends> ends =
            size <= whole_component ? ends_by_decomposition(size, blocks.edges[c], graph.alpha(), epsilon)
                                    : ends_by_lanczos(*scale, blocks.cells[c]);
        settled = settled && ends.has_value();
        if (ends) {
            smallest = std::min(smallest, ends->second);
            largest = std::max(largest, ends->largest);
        }
    }
    path.not_converged += settled ? 0 : 1;
    path.kernel.push_back(std::ssize(blocks.cells));
    path.smallest_positive.push_back(settled && std::isfinite(smallest) ? smallest : unknown);
    path.largest.push_back(settled ? largest : unknown);
}

/// All eigenvalues, ascending.
Vector spectrum(const MultiscaleGraph::Scale& scale) {
    const Matrix L = Matrix(scale.degrees().asDiagonal()) - scale.adjacency();
    return symmetric_eigenvalues(L);
}

void add_complete(SpectrumPath& path, Index kernel, const Vector& now, const Vector& before) {
    const Index n = now.size();
    const double rounding = 1e-14 * static_cast<double>(n) * std::max(now(n - 1), 1e-300);
    const Index near_zero = (now.array() <= rounding).count();
    path.numerical_kernel_differs += near_zero == kernel ? 0 : 1;
    path.smallest_positive.push_back(kernel < n ? now(kernel) : unknown);
    path.largest.push_back(now(n - 1));
    path.largest_rise.push_back(before.size() == 0 ? 0.0 : (now - before).maxCoeff());
    path.largest_fall.push_back(before.size() == 0 ? 0.0 : (before - now).maxCoeff());
    path.former_kernel.push_back(path.kernel.empty() ? unknown : now(path.kernel.back() - 1));
    path.kernel.push_back(kernel);
}

} // namespace

SpectrumPath spectrum_path(const MultiscaleGraph& graph, const SortedEdges& sorted,
                           const std::vector<double>& epsilon, const SpectrumOptions& options) {
    const Index n = graph.cells();
    SpectrumPath path;
    path.complete =
        static_cast<double>(epsilon.size()) * std::pow(static_cast<double>(n), 3.0) <= options.most_work;
    Vector before;
    for (const double scale_epsilon : epsilon) {
        if (path.complete) {
            Vector now = spectrum(*graph.at(scale_epsilon));
            add_complete(path, component_count(components(graph.tree(), scale_epsilon)), now, before);
            before = std::move(now);
            continue;
        }
        add_extremal(path, graph, sorted, scale_epsilon, options.whole_component);
        const std::size_t t = path.largest.size() - 1;
        const double rise = t == 0 ? 0.0 : path.largest[t] - path.largest[t - 1];
        path.largest_rise.push_back(rise > 0.0 ? rise : 0.0); // 0 also where one of the two is not known
        path.largest_fall.push_back(rise < 0.0 ? -rise : 0.0);
        // γ_k for k = kernel before is the smallest positive one exactly where one merge happened.
        const bool next = t > 0 && path.kernel[t - 1] == path.kernel[t] + 1;
        path.former_kernel.push_back(next ? path.smallest_positive[t] : unknown);
    }
    return path;
}

Findings findings(const SpectrumPath& path, const std::vector<double>& increments,
                  const std::vector<double>& gaps, double C) {
    const std::string label = "thm:spectral_stability_monotonicity";
    double steepest = 0.0;
    double weyl = 0.0;
    double fall = 0.0;
    double least_former = std::numeric_limits<double>::infinity();
    Index steady = 0;
    for (std::size_t t = 1; t < path.kernel.size(); ++t) {
        const double change = std::max(path.largest_rise[t], path.largest_fall[t]);
        steepest = std::max(steepest, change / gaps[t - 1]);
        weyl = std::max(weyl, change / increments[t - 1]);
        fall = path.largest_fall[t] > 0.0 ? std::max(fall, path.largest_fall[t] / path.largest[t]) : fall;
        steady += path.kernel[t] < path.kernel[t - 1] ? 0 : 1;
        if (!std::isnan(path.former_kernel[t])) {
            least_former = std::min(least_former, path.former_kernel[t] / path.largest[t]);
        }
    }
    const std::string which = path.complete ? "all eigenvalues"
                              : path.not_converged == 0
                                  ? "the largest eigenvalue of each scale"
                                  : fmt::format("the largest eigenvalue of each scale but {} at which it did "
                                                "not settle",
                                                path.not_converged);
    // Lanczos stops at 1e-9, the complete decomposition at rounding.
    const double slack = path.complete ? 1e-11 : 1e-8;
    return {
        {.statement = label + " (1)",
         .what = "eigenvalues move by at most C |d epsilon|",
         .measured = steepest,
         .bound = C,
         .verdict = verdict_of(steepest <= C),
         .note = which},
        {.statement = label + " (1)",
         .what = "and by at most |dL_t|, Weyl",
         .measured = weyl,
         .bound = 1.0,
         .verdict = verdict_of(weyl <= 1.0 + slack),
         .note = "largest share of the bound"},
        {.statement = label + " (2)",
         .what = "no eigenvalue falls from a scale to the next",
         .measured = fall,
         .bound = 0.0,
         .verdict = verdict_of(fall <= slack),
         .note = fmt::format("largest fall, relative to the largest eigenvalue; {}", which)},
        {.statement = label + " (2)",
         .what = "the last zero eigenvalue of a scale is positive at the next",
         .measured = least_former,
         .bound = 0.0,
         .verdict = verdict_of(least_former > 0.0),
         .note =
             fmt::format("smallest, relative to the largest eigenvalue{}",
                         path.numerical_kernel_differs > 0
                             ? fmt::format("; at {} scales it is below rounding: edges of hardly any weight",
                                           path.numerical_kernel_differs)
                             : "")},
        {.statement = label + " (3)",
         .what = "dim ker L falls strictly from scale to scale",
         .measured = static_cast<double>(steady),
         .bound = 0.0,
         .verdict = verdict_of(steady == 0),
         .note = "scales at which it does not"},
    };
}

} // namespace pnmf
