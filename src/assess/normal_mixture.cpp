#include "assess/normal_mixture.hpp"

#include "linalg/decompositions.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/metrics/kmeans.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace pnmf {
namespace {

constexpr Index most_cells_of_mixture = 5000;
constexpr Index most_em_steps = 200;
constexpr double settled_likelihood = 1e-5; ///< gain of a step below which EM ends
constexpr double least_variance = 1e-3;     ///< share of the mean variance that each direction has at least

/// π, μ and Σ, ready to judge cells by: x has the log-density −½‖Rx − Rμ‖² − ½ log|Σ| − ½m log 2π.
struct MixtureParameters {
    Vector log_share;
    Matrix centres;   ///< Rμ, m × K
    Matrix whitening; ///< R = Σ^(−½), m × m
    double constant = 0.0;
};

/// From how much each cell belongs to each group, K × n.
MixtureParameters parameters_of(const Matrix& Y, const Matrix& member) {
    const auto n = static_cast<double>(Y.cols());
    const Vector weight = member.rowwise().sum().cwiseMax(1e-9);
    const Matrix mean = (Y * member.transpose()) * weight.cwiseInverse().asDiagonal();
    const Matrix second = Y * Y.transpose() / n;
    Matrix covariance = second - mean * (weight / n).asDiagonal() * mean.transpose();
    covariance.diagonal().array() += least_variance * second.trace() / static_cast<double>(Y.rows());
    const SymmetricEigen eigen = symmetric_eigen(covariance);
    const Vector values = eigen.values.cwiseMax(1e-300);
    MixtureParameters found;
    found.log_share = (weight / n).array().log();
    found.whitening = values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.vectors.transpose();
    found.centres = found.whitening * mean;
    found.constant = -0.5 * (values.array().log().sum() +
                             static_cast<double>(Y.rows()) * std::log(2.0 * std::numbers::pi));
    return found;
}

/// log π_k p(x | k) of each cell, K × n.
Matrix log_densities(const Matrix& Y, const MixtureParameters& of) {
    const Matrix white = of.whitening * Y;
    Matrix densities = of.centres.transpose() * white;
    densities.rowwise() -= 0.5 * white.colwise().squaredNorm();
    densities.colwise() += of.log_share - 0.5 * of.centres.colwise().squaredNorm().transpose();
    densities.array() += of.constant;
    return densities;
}

/// Densities become memberships; the mean log-likelihood.
double memberships_from(Matrix& densities) {
    double sum = 0.0;
    for (Index j = 0; j < densities.cols(); ++j) {
        const double largest = densities.col(j).maxCoeff();
        densities.col(j) = (densities.col(j).array() - largest).exp();
        const double total = densities.col(j).sum();
        densities.col(j) /= total;
        sum += largest + std::log(total);
    }
    return sum / static_cast<double>(densities.cols());
}

struct FoundMixture {
    MixtureParameters parameters;
    double likelihood = -std::numeric_limits<double>::infinity();
    double smallest = 0.0; ///< share of the cells, each in its likeliest group
};

std::vector<Index> likeliest_groups(const Matrix& densities) {
    std::vector<Index> labels(static_cast<std::size_t>(densities.cols()));
    for (Index j = 0; j < densities.cols(); ++j) {
        densities.col(j).maxCoeff(&labels[static_cast<std::size_t>(j)]);
    }
    return labels;
}

FoundMixture mixture_from(const Matrix& Y, const std::vector<Index>& labels, Index groups) {
    Matrix member = Matrix::Zero(groups, Y.cols());
    for (Index j = 0; j < Y.cols(); ++j) {
        member(labels[static_cast<std::size_t>(j)], j) = 1.0;
    }
    FoundMixture found;
    for (Index step = 0; step < most_em_steps; ++step) {
        found.parameters = parameters_of(Y, member);
        member = log_densities(Y, found.parameters);
        const double before = found.likelihood;
        found.likelihood = memberships_from(member);
        if (found.likelihood - before < settled_likelihood) {
            break;
        }
    }
    std::vector<Index> size(static_cast<std::size_t>(groups), 0);
    for (const Index group : likeliest_groups(member)) {
        ++size[static_cast<std::size_t>(group)];
    }
    found.smallest =
        static_cast<double>(*std::min_element(size.begin(), size.end())) / static_cast<double>(Y.cols());
    return found;
}

} // namespace

NormalMixture normal_mixture(const Matrix& Y, const NormalMixtureOptions& options) {
    const Index n = Y.cols();
    const bool some = n > most_cells_of_mixture;
    const Matrix seen =
        some ? Matrix(Y(Eigen::all, random_subset(n, most_cells_of_mixture, Random(options.seed))))
             : Matrix();
    const Matrix& fitted = some ? seen : Y;
    std::vector<FoundMixture> found(static_cast<std::size_t>(options.groups > 1 ? options.starts : 1));
    parallel_for(std::ssize(found), [&](Index s) {
        const KMeansResult start = kmeans(
            fitted,
            {.clusters = options.groups, .starts = 1, .seed = options.seed + static_cast<std::uint64_t>(s)});
        found[static_cast<std::size_t>(s)] = mixture_from(fitted, start.labels, options.groups);
    });
    const auto rank = [&](const FoundMixture& one) {
        return std::pair(one.smallest >= options.least, one.likelihood);
    };
    const FoundMixture& best = *std::max_element(
        found.begin(), found.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    return {.labels = likeliest_groups(log_densities(Y, best.parameters)),
            .likelihood = best.likelihood,
            .smallest = best.smallest};
}

} // namespace pnmf
