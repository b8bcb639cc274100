#include <pnmf/assess/programs.hpp>

#include <pnmf/error.hpp>
#include <pnmf/metrics/clustering_scores.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

using Match = std::vector<Index>; ///< the column of each program

constexpr int most_turns = 100; ///< far more than are needed: each turn but the last raises a sum

/// The copies side by side, columns of length 1: those of factorisation r are r·d … (r + 1)·d − 1.
struct Copies {
    Matrix A;
    Index count = 0;    ///< R
    Index programs = 0; ///< d

    auto of(Index r) const { return A.middleCols(r * programs, programs); }
    Index column(Index r, Index within) const { return r * programs + within; }
};

Copies side_by_side(const std::vector<DenseMatrix<float>>& bases) {
    require(bases.size() >= 2, "a consensus needs at least 2 factorisations, got {}", bases.size());
    const Index p = bases.front().rows();
    const Index d = bases.front().cols();
    require(p >= 1 && d >= 1, "a consensus needs programs of at least 1 gene, got {} x {}", p, d);
    Copies copies{.A = Matrix(p, std::ssize(bases) * d), .count = std::ssize(bases), .programs = d};
    for (Index r = 0; r < copies.count; ++r) {
        const DenseMatrix<float>& W = bases[static_cast<std::size_t>(r)];
        require(W.rows() == p && W.cols() == d,
                "the factorisations of a consensus must have one shape, got {} x {} and {} x {}", p, d,
                W.rows(), W.cols());
        copies.A.middleCols(r * d, d) = W.cast<double>();
    }
    require(copies.A.allFinite() && copies.A.minCoeff() >= 0.0,
            "the programs of a consensus must hold finite values, at least 0");
    for (Index j = 0; j < copies.A.cols(); ++j) {
        const double length = copies.A.col(j).norm();
        if (length > 0.0) {
            copies.A.col(j) /= length;
        } else { // no gene stands out: as `make_columns_unit` does
            copies.A.col(j).setConstant(1.0 / std::sqrt(static_cast<double>(p)));
        }
    }
    return copies;
}

/// The best match of every factorisation with these programs, p × d.
std::vector<Match> matched(const Copies& copies, const Matrix& programs) {
    const Matrix cosine = programs.transpose() * copies.A;
    std::vector<Match> match;
    for (Index r = 0; r < copies.count; ++r) {
        match.push_back(optimal_assignment(-cosine.middleCols(r * copies.programs, copies.programs)));
    }
    return match;
}

/// The factorisation whose programs have the largest cosines with those of the others, each at its best
/// match.
Index most_central(const Copies& copies) {
    const Index d = copies.programs;
    const Matrix cosine = copies.A.transpose() * copies.A;
    Vector total = Vector::Zero(copies.count);
    for (Index r = 0; r < copies.count; ++r) {
        for (Index s = r + 1; s < copies.count; ++s) {
            const Matrix pair = cosine.block(r * d, s * d, d, d);
            const Match match = optimal_assignment(-pair);
            double sum = 0.0;
            for (Index k = 0; k < d; ++k) {
                sum += pair(k, match[static_cast<std::size_t>(k)]);
            }
            total[r] += sum;
            total[s] += sum;
        }
    }
    Index best = 0;
    total.maxCoeff(&best); // the first of equal ones
    return best;
}

Matrix means(const Copies& copies, const std::vector<Match>& match) {
    Matrix mean = Matrix::Zero(copies.A.rows(), copies.programs);
    for (Index r = 0; r < copies.count; ++r) {
        for (Index k = 0; k < copies.programs; ++k) {
            mean.col(k) += copies.A.col(copies.column(r, match[static_cast<std::size_t>(r)][k]));
        }
    }
    mean.colwise().normalize(); // sums of vectors ≥ 0 of length 1: never 0
    return mean;
}

/// The median of each program's copies, entry by entry, at length 1.
Matrix medians(const Copies& copies, const std::vector<Match>& match, const Matrix& mean) {
    Matrix result(copies.A.rows(), copies.programs);
    std::vector<double> values(static_cast<std::size_t>(copies.count));
    const auto middle = values.begin() + copies.count / 2;
    for (Index k = 0; k < copies.programs; ++k) {
        for (Index g = 0; g < result.rows(); ++g) {
            for (Index r = 0; r < copies.count; ++r) {
                values[static_cast<std::size_t>(r)] =
                    copies.A(g, copies.column(r, match[static_cast<std::size_t>(r)][k]));
            }
            std::nth_element(values.begin(), middle, values.end());
            result(g, k) =
                copies.count % 2 == 1 ? *middle : 0.5 * (*middle + *std::max_element(values.begin(), middle));
        }
        const double length = result.col(k).norm();
        if (length > 0.0) {
            result.col(k) /= length;
        } else {
            result.col(k) = mean.col(k);
        }
    }
    return result;
}

/// The silhouette of each copy, in the order of `Copies::A`.
Vector silhouettes_of(const Copies& copies, const std::vector<Match>& match) {
    std::vector<Index> program(static_cast<std::size_t>(copies.A.cols()));
    for (Index r = 0; r < copies.count; ++r) {
        for (Index k = 0; k < copies.programs; ++k) {
            program[static_cast<std::size_t>(
                copies.column(r, match[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)]))] = k;
        }
    }
    if (copies.programs > 1) {
        return silhouettes(copies.A, program);
    }
    Vector result(copies.count);
    for (Index r = 0; r < copies.count; ++r) {
        double sum = 0.0;
        for (Index s = 0; s < copies.count; ++s) {
            sum += (copies.A.col(r) - copies.A.col(s)).norm();
        }
        const double own = sum / static_cast<double>(copies.count - 1);
        result[r] = 1.0 - own / std::sqrt(2.0); // own ≤ √2: values are ≥ 0
    }
    return result;
}

} // namespace

double ConsensusPrograms::mean_stability() const {
    return std::accumulate(stability.begin(), stability.end(), 0.0) / static_cast<double>(stability.size());
}

Index ConsensusPrograms::listed() const {
    return std::count_if(stability.begin(), stability.end(), [](double one) { return one >= 0.0; });
}

ConsensusPrograms consensus_programs(const std::vector<DenseMatrix<float>>& bases) {
    const Copies copies = side_by_side(bases);
    std::vector<Match> match = matched(copies, copies.of(most_central(copies)));
    Matrix mean = means(copies, match);
    for (int turn = 0; turn < most_turns; ++turn) {
        std::vector<Match> better = matched(copies, mean);
        if (better == match) {
            break;
        }
        match = std::move(better);
        mean = means(copies, match);
    }
    const Matrix consensus = medians(copies, match, mean);
    const Vector silhouette = silhouettes_of(copies, match);
    const Index d = copies.programs;
    Vector stability = Vector::Zero(d);
    Vector similarity = Vector::Zero(d);
    for (Index r = 0; r < copies.count; ++r) {
        for (Index k = 0; k < d; ++k) {
            const Index column = copies.column(r, match[static_cast<std::size_t>(r)][k]);
            stability[k] += silhouette[column] / static_cast<double>(copies.count);
            similarity[k] += copies.A.col(column).dot(consensus.col(k)) / static_cast<double>(copies.count);
        }
    }
    std::vector<Index> order(static_cast<std::size_t>(d));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return stability[a] > stability[b]; });
    ConsensusPrograms result{.W = consensus(Eigen::all, order)};
    for (const Index k : order) {
        result.stability.push_back(stability[k]);
        result.similarity.push_back(similarity[k]);
    }
    for (const Match& one : match) {
        Match sorted;
        for (const Index k : order) {
            sorted.push_back(one[static_cast<std::size_t>(k)]);
        }
        result.copies.push_back(std::move(sorted));
    }
    return result;
}

} // namespace pnmf
