#include <pnmf/error.hpp>
#include <pnmf/model/problem.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace pnmf {
namespace {

void check_weight(const char* name, double value) {
    require(std::isfinite(value) && value >= 0.0, "{} must be a finite number, at least 0, got {}", name,
            value);
}

template <class Real>
void check_factor(const char* name, Index t, const DenseMatrix<Real>& factor, Index rows, Index cols) {
    require(factor.rows() == rows && factor.cols() == cols, "{} of scale {} must be {} x {}, got {} x {}",
            name, t + 1, rows, cols, factor.rows(), factor.cols());
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            require(std::isfinite(factor(i, j)) && factor(i, j) >= 0,
                    "{} of scale {} must hold finite values, at least 0, got {} at row {}, column {}", name,
                    t + 1, factor(i, j), i + 1, j + 1);
        }
    }
}

template <class Real>
bool has_shape(const DenseMatrix<Real>& factor, Index rows, Index cols) {
    return factor.rows() == rows && factor.cols() == cols;
}

/// Whether all values are finite and at least 0.
template <class Real>
bool holds_factors(const DenseMatrix<Real>& factor) {
    const Real* const values = factor.data();
    return std::all_of(values, values + factor.size(), [](Real x) { return std::isfinite(x) && x >= 0; });
}

/// None, or as many as there should be.
void check_count(const char* what, const std::vector<double>& values, std::size_t count) {
    require(values.empty() || values.size() == count, "there must be {} {} or none, got {}", count, what,
            values.size());
}

void check_positions(const std::vector<Index>& positions, Index scales) {
    require(!positions.empty() && positions.front() == 0 && positions.back() == scales - 1 &&
                std::adjacent_find(positions.begin(), positions.end(), std::greater_equal<>()) ==
                    positions.end(),
            "kept scales must ascend, with the first and the last of {} among them", scales);
}

} // namespace

void check_penalty(const Penalty& penalty) {
    check_weight("lambda1", penalty.graph);
    check_weight("lambda2", penalty.smoothness);
    check_weight("lambda3", penalty.anchor);
}

ScalePenalty single_scale(const Penalty& penalty) {
    return {.graph = penalty.graph, .anchor = penalty.anchor};
}

template <RealNumber Real>
ScalePenalty Problem<Real>::at(Index t) const {
    const double w = weight.empty() ? 1.0 : weight[static_cast<std::size_t>(t)];
    const auto coupling = [&](Index pair) { // of scales pair and pair + 1
        return smoothness.empty() ? penalty.smoothness : smoothness[static_cast<std::size_t>(pair)];
    };
    return {.fit = w,
            .graph = w * penalty.graph,
            .anchor = w * penalty.anchor,
            .before = t > 0 ? coupling(t - 1) : 0.0,
            .after = t + 1 < scales() ? coupling(t) : 0.0};
}

template <class Real>
std::vector<ScalePenalty> scale_penalties(const Problem<Real>& problem) {
    std::vector<ScalePenalty> penalties;
    for (Index t = 0; t < problem.scales(); ++t) {
        penalties.push_back(problem.at(t));
    }
    return penalties;
}

template <class Real>
Problem<Real> at_scales(const Problem<Real>& problem, const std::vector<Index>& positions) {
    check_positions(positions, problem.scales());
    Problem<Real> kept = problem;
    kept.epsilon.clear();
    kept.weight.assign(positions.size(), 0.0);
    kept.smoothness.clear();
    for (std::size_t i = 0; i < positions.size(); ++i) {
        kept.epsilon.push_back(problem.epsilon[positions[i]]);
        kept.weight[i] += problem.at(positions[i]).fit;
        if (i + 1 == positions.size()) {
            break;
        }
        const auto gap = static_cast<double>(positions[i + 1] - positions[i]);
        double resistance = 1.0 / problem.at(positions[i]).after;
        for (Index t = positions[i] + 1; t < positions[i + 1]; ++t) {
            const double share = static_cast<double>(t - positions[i]) / gap;
            kept.weight[i] += (1.0 - share) * problem.at(t).fit;
            kept.weight[i + 1] += share * problem.at(t).fit;
            resistance += 1.0 / problem.at(t).after;
        }
        kept.smoothness.push_back(1.0 / resistance);
    }
    return kept;
}

template <class Real>
Problem<Real> at_even_scales(const Problem<Real>& problem, const std::vector<Index>& positions) {
    Problem<Real> kept = problem;
    kept.epsilon.clear();
    for (const Index t : positions) {
        kept.epsilon.push_back(problem.epsilon[t]);
    }
    if (positions.size() > 1) {
        const double gap =
            static_cast<double>(problem.scales() - 1) / static_cast<double>(positions.size() - 1);
        kept.penalty.smoothness /= gap * gap;
    }
    return kept;
}

template <class Real>
void check_problem(const Problem<Real>& problem) {
    require(problem.cells() >= 1 && problem.features() >= 1,
            "X must have at least one feature and one cell, got {} x {}", problem.features(),
            problem.cells());
    require(problem.graph->cells() == problem.cells(), "the graph must have as many cells as X, {}, got {}",
            problem.cells(), problem.graph->cells());
    require(problem.scales() >= 1, "there must be at least one scale");
    double before = 0.0;
    for (const double epsilon : problem.epsilon) {
        // A single graph may come without a threshold.
        const bool known = std::isfinite(epsilon) || (problem.scales() == 1 && epsilon == no_threshold);
        require(known && epsilon > before, "scales must be positive and ascend, got {} after {}", epsilon,
                before);
        before = epsilon;
    }
    check_penalty(problem.penalty);
    check_count("weights of scales", problem.weight, problem.epsilon.size());
    for (const double weight : problem.weight) {
        require(std::isfinite(weight) && weight > 0.0,
                "the weight of a scale must be a finite number above 0, got {}", weight);
    }
    check_count("couplings of neighbouring scales", problem.smoothness, problem.epsilon.size() - 1);
    for (const double smoothness : problem.smoothness) {
        check_weight("the coupling of two scales", smoothness);
    }
}

template <class Real>
void check_factors(const Problem<Real>& problem, const Factors<Real>& factors) {
    require(factors.scales() == problem.scales() && factors.W.size() == factors.H.size(),
            "there must be one W and one H for each of the {} scales, got {} and {}", problem.scales(),
            factors.W.size(), factors.H.size());
    require(factors.rank() >= 1, "the rank must be at least 1");
    // All at once first: what is wrong is then looked for in order.
    std::vector<char> good(static_cast<std::size_t>(problem.scales()), 0);
    const Index held = problem.X->local().count;
    parallel_for(problem.scales(), [&](Index t) {
        DenseMatrix<Real> buffer;
        const DenseMatrix<Real>& W = factors.basis(t, buffer);
        good[t] = has_shape(W, problem.features(), factors.rank()) &&
                  has_shape(factors.H[t], factors.rank(), held) && holds_factors(W) &&
                  holds_factors(factors.H[t]);
    });
    DenseMatrix<Real> buffer;
    for (Index t = 0; t < problem.scales(); ++t) {
        if (good[t] == 0) {
            check_factor("W", t, factors.basis(t, buffer), problem.features(), factors.rank());
            check_factor("H", t, factors.H[t], factors.rank(), held);
        }
    }
}

template struct Problem<float>;
template struct Problem<double>;
template std::vector<ScalePenalty> scale_penalties(const Problem<float>&);
template std::vector<ScalePenalty> scale_penalties(const Problem<double>&);
template Problem<float> at_scales(const Problem<float>&, const std::vector<Index>&);
template Problem<double> at_scales(const Problem<double>&, const std::vector<Index>&);
template Problem<float> at_even_scales(const Problem<float>&, const std::vector<Index>&);
template Problem<double> at_even_scales(const Problem<double>&, const std::vector<Index>&);
template void check_problem(const Problem<float>&);
template void check_problem(const Problem<double>&);
template void check_factors(const Problem<float>&, const Factors<float>&);
template void check_factors(const Problem<double>&, const Factors<double>&);

} // namespace pnmf
