#include "assess/normal_mixture.hpp"
#include "linalg/decompositions.hpp"

#include <pnmf/assess/domains.hpp>
#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index components_of_domains = 8;
constexpr double distinct_enough = 0.5; ///< share of the finest scale's
constexpr Index most_rounds = 5;        ///< of smoothing
constexpr double enough_gain = 0.875;   ///< share of what BIC gains over one domain
constexpr Index starts_of_chosen = 40;  ///< of the mixture at the chosen scale
constexpr double least_domain = 2.0;    ///< neighbourhoods; a smaller one is a few outlying cells

/// The first principal components of the programs.
struct ProgramComponents {
    Matrix Y;              ///< m × n
    double distinct = 1.0; ///< `Domains::distinct`
};

double distinct_programs(const Matrix& correlations) {
    const Vector values = symmetric_eigenvalues(correlations).cwiseMax(0.0);
    const double total = values.sum();
    double entropy = 0.0;
    for (const double value : values) {
        entropy -= value > 0.0 ? value / total * std::log(value / total) : 0.0;
    }
    return std::exp(entropy);
}

ProgramComponents program_components(Matrix H) {
    H.colwise() -= H.rowwise().mean().eval();
    const Vector deviation = H.rowwise().norm() / std::sqrt(static_cast<double>(H.cols()));
    Vector scale = Vector::Zero(H.rows()); // one that is constant says nothing
    for (Index k = 0; k < H.rows(); ++k) {
        scale[k] = deviation[k] > 1e-9 * deviation.maxCoeff() ? 1.0 / std::sqrt(deviation[k]) : 0.0;
    }
    H = scale.asDiagonal() * H;
    const Matrix covariance = H * H.transpose() / static_cast<double>(H.cols());
    const Index count = std::min(components_of_domains, H.rows());
    return {.Y = symmetric_eigen(covariance).vectors.rightCols(count).transpose() * H,
            .distinct = distinct_programs(scale.asDiagonal() * covariance * scale.asDiagonal())};
}

/// Calls visit(j, i) for the nearest neighbours i of each cell j.
template <class Visit>
void visit_nearest(const NeighborLists& places, Index nearest, const Visit& visit) {
    for (Index j = 0; j < places.cells(); ++j) {
        const std::int64_t past = std::min(places.start[j + 1], places.start[j] + nearest);
        for (std::int64_t e = places.start[j]; e < past; ++e) {
            visit(j, static_cast<Index>(places.cell[e]));
        }
    }
}

double coherence_of(const std::vector<Index>& labels, const NeighborLists& places, Index nearest) {
    double same = 0.0;
    double all = 0.0;
    visit_nearest(places, nearest, [&](Index j, Index i) {
        same += labels[j] == labels[i] ? 1.0 : 0.0;
        all += 1.0;
    });
    return all > 0.0 ? same / all : 1.0;
}

double neighbors_within(const NeighborLists& places, double epsilon) {
    const auto near = std::count_if(places.length.begin(), places.length.end(),
                                    [&](double length) { return length < epsilon; });
    return static_cast<double>(near) / static_cast<double>(places.cells());
}

/// The smallest number of groups with seven eighths of the largest gain of BIC over one group, where so many
/// cells are independent of each other. Parts of a tissue are not quite normal, so that more groups go on to
/// gain a little.
Index count_domains(const Matrix& Y, double independent, const DomainOptions& options) {
    constexpr double never = -std::numeric_limits<double>::infinity();
    const double least = least_domain / independent;
    std::vector<double> bic;
    for (Index count = 1; count <= std::min(options.most_domains, Y.cols()); ++count) {
        const auto numbers = static_cast<double>(count * Y.rows() + count - 1);
        const NormalMixture mixture =
            normal_mixture(Y, {.groups = count, .least = least, .seed = options.seed});
        bic.push_back(count > 1 && mixture.smallest < least
                          ? never
                          : mixture.likelihood - 0.5 * numbers * std::log(independent) / independent);
    }
    const double largest = *std::max_element(bic.begin(), bic.end());
    const double enough = bic.front() + enough_gain * (largest - bic.front());
    return std::find_if(bic.begin(), bic.end(), [&](double one) { return one >= enough; }) - bic.begin() + 1;
}

/// Numbers the labels that occur from 0, those with most cells first; how many there are.
Index number_by_size(std::vector<std::vector<Index>>& labels, std::size_t by, Index groups) {
    for (std::size_t t = 0; t < labels.size(); ++t) {
        std::vector<Index> size(static_cast<std::size_t>(groups), 0);
        for (const Index label : labels[t]) {
            ++size[static_cast<std::size_t>(label)];
        }
        std::vector<Index> order(size.size());
        std::iota(order.begin(), order.end(), Index{0});
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return size[a] > size[b]; });
        std::vector<Index> number(size.size());
        for (std::size_t r = 0; r < order.size(); ++r) {
            number[static_cast<std::size_t>(order[r])] = static_cast<Index>(r);
        }
        for (Index& label : labels[t]) {
            label = number[static_cast<std::size_t>(label)];
        }
    }
    return *std::max_element(labels[by].begin(), labels[by].end()) + 1;
}

} // namespace

Index domain_scale(const std::vector<double>& distinct) {
    Index scale = std::ssize(distinct) - 1;
    while (scale > 0 && distinct[static_cast<std::size_t>(scale)] < distinct_enough * distinct.front()) {
        --scale;
    }
    return scale;
}

Vector morans_i(const Matrix& values, const NeighborLists& places, Index nearest) {
    const Matrix z = values.colwise() - values.rowwise().mean();
    Vector product = Vector::Zero(values.rows());
    double weights = 0.0;
    visit_nearest(places, nearest, [&](Index j, Index i) {
        product += z.col(j).cwiseProduct(z.col(i));
        weights += 1.0;
    });
    const Vector square = z.rowwise().squaredNorm();
    const auto n = static_cast<double>(values.cols());
    for (Index k = 0; k < product.size(); ++k) {
        const bool varies = square[k] > 1e-12 * values.row(k).squaredNorm() && weights > 0.0;
        product[k] = varies ? n / weights * product[k] / square[k] : 0.0;
    }
    return product;
}

std::vector<Index> smooth_labels(std::vector<Index> labels, const NeighborLists& places, Index nearest) {
    const Index groups = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
    std::vector<Index> votes(static_cast<std::size_t>(groups));
    for (Index round = 0; round < most_rounds; ++round) {
        const std::vector<Index> before = labels;
        for (Index j = 0; j < places.cells(); ++j) {
            std::fill(votes.begin(), votes.end(), 0);
            ++votes[static_cast<std::size_t>(before[j])];
            const std::int64_t past = std::min(places.start[j + 1], places.start[j] + nearest);
            for (std::int64_t e = places.start[j]; e < past; ++e) {
                ++votes[static_cast<std::size_t>(before[places.cell[e]])];
            }
            const auto most = std::max_element(votes.begin(), votes.end());
            if (*most > votes[static_cast<std::size_t>(before[j])]) {
                labels[j] = most - votes.begin();
            }
        }
        if (labels == before) {
            break;
        }
    }
    return labels;
}

Domains find_domains(const std::vector<double>& epsilon, const Embeddings& embedding,
                     const NeighborLists& places, const DomainOptions& options) {
    const Index n = places.cells();
    require(!options.domains || (*options.domains >= 1 && *options.domains <= n),
            "domains must be between 1 and the number of cells, {}, got {}", n, options.domains.value_or(0));
    Domains found;
    std::vector<Matrix> components;
    for (std::size_t t = 0; t < epsilon.size(); ++t) {
        const Matrix H = embedding.here(static_cast<Index>(t));
        found.moran.conservativeResize(std::ssize(epsilon), H.rows());
        found.moran.row(static_cast<Index>(t)) = morans_i(H, places, options.nearest);
        ProgramComponents programs = program_components(H);
        found.distinct.push_back(programs.distinct);
        found.neighbors.push_back(neighbors_within(places, epsilon[t]));
        components.push_back(std::move(programs.Y));
    }
    found.scale = domain_scale(found.distinct);
    const auto chosen = static_cast<std::size_t>(found.scale);
    const double independent = std::max(2.0, static_cast<double>(n) / (1.0 + found.neighbors[chosen]));
    const Index count = options.domains.value_or(0) > 0
                            ? *options.domains
                            : count_domains(components[chosen], independent, options);
    for (std::size_t t = 0; t < components.size(); ++t) {
        const NormalMixture mixture =
            normal_mixture(components[t], {.groups = count,
                                           .starts = t == chosen ? starts_of_chosen : 10,
                                           .least = least_domain / independent,
                                           .seed = options.seed});
        found.labels.push_back(smooth_labels(mixture.labels, places, options.nearest));
        found.coherence.push_back(coherence_of(found.labels.back(), places, options.nearest));
    }
    found.count = number_by_size(found.labels, chosen, count);
    return found;
}

} // namespace pnmf
