#include <pnmf/assess/loops.hpp>

#include <pnmf/assess/programs.hpp>
#include <pnmf/error.hpp>

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pnmf {
namespace {

constexpr double full_turn = 2.0 * std::numbers::pi;

/// 0 to 2π.
double positive_angle(double sine, double cosine) {
    const double angle = std::atan2(sine, cosine);
    return angle < 0.0 ? angle + full_turn : angle;
}

/// Where a list of genes is highest on average: the direction of Σ amplitude · e^(i·peak).
double peak_of(const std::vector<PhaseGene>& genes, const std::vector<Index>& among) {
    double sine = 0.0;
    double cosine = 0.0;
    for (const PhaseGene& gene : genes) {
        if (std::find(among.begin(), among.end(), gene.gene) != among.end()) {
            sine += gene.amplitude * std::sin(gene.peak);
            cosine += gene.amplitude * std::cos(gene.peak);
        }
    }
    require(std::hypot(sine, cosine) > 0.0, "the genes that shall fix the phases do not follow them");
    return positive_angle(sine, cosine);
}

/// Σ_j x_gj² of each gene.
Vector squares_of_genes(const DataMatrix<double>& X) {
    if (!X.is_sparse()) {
        return X.dense().rowwise().squaredNorm();
    }
    Vector squares = Vector::Zero(X.features());
    const SparseView<double> rows = X.rows();
    for (Index g = 0; g < X.features(); ++g) {
        for (auto e = rows.start[g]; e < rows.start[g + 1]; ++e) {
            squares[g] += rows.value[e] * rows.value[e];
        }
    }
    return squares;
}

} // namespace

std::vector<PhaseGene> phase_genes(const DataMatrix<double>& X, const Vector& phase) {
    const Index n = X.cells();
    require(phase.size() == n, "there are {} cells and phases of {}", n, phase.size());
    Matrix waves(3, n);
    waves.row(0).setOnes();
    waves.row(1) = phase.array().cos().transpose();
    waves.row(2) = phase.array().sin().transpose();
    const Matrix products = X.times_transposed(waves); // p × 3
    const Vector squares = squares_of_genes(X);
    const Eigen::LDLT<Matrix> normal(waves * waves.transpose());
    const auto count = static_cast<double>(n);
    std::vector<PhaseGene> genes;
    std::vector<double> p_values;
    for (Index g = 0; g < X.features(); ++g) {
        const Vector right = products.row(g).transpose();
        const Vector fit = normal.solve(right);
        const double variation = squares[g] - right[0] * right[0] / count;
        const double explained = fit.dot(right) - right[0] * right[0] / count;
        constexpr double rounding = 1e-12;
        const bool varies = n > 3 && variation > rounding * squares[g];
        const double share = varies ? std::clamp(explained / variation, 0.0, 1.0) : 0.0;
        genes.push_back({.gene = g,
                         .amplitude = varies ? std::hypot(fit[1], fit[2]) : 0.0,
                         .peak = varies ? positive_angle(fit[2], fit[1]) : 0.0,
                         .share = share,
                         .p_value = varies ? std::pow(1.0 - share, (count - 3.0) / 2.0) : 1.0});
        p_values.push_back(genes.back().p_value);
    }
    const std::vector<double> adjusted = adjusted_p_values(p_values);
    for (std::size_t g = 0; g < genes.size(); ++g) {
        genes[g].adjusted = adjusted[g];
    }
    std::stable_sort(genes.begin(), genes.end(),
                     [](const PhaseGene& a, const PhaseGene& b) { return a.share > b.share; });
    return genes;
}

Vector anchored(const Vector& phase, const std::vector<PhaseGene>& genes, const PhaseAnchors& anchors) {
    const double zero = anchors.zero.empty() ? 0.0 : peak_of(genes, anchors.zero);
    const bool mirror = !anchors.next.empty() && std::sin(peak_of(genes, anchors.next) - zero) < 0.0;
    return phase.unaryExpr([&](double angle) {
        const double away = mirror ? zero - angle : angle - zero;
        return positive_angle(std::sin(away), std::cos(away));
    });
}

} // namespace pnmf
