#include "cells/linalg/over_all_cells.hpp"
#include "linalg/parallel_copy.hpp"
#include "linalg/svd.hpp"
#include "solvers/chain.hpp"
#include "solvers/choose_device.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/initial.hpp>

#include <algorithm>
#include <cmath>
#include <span>

namespace pnmf {
namespace {

/// Entries below this count as zero and are filled: the published protocol's threshold.
constexpr double negligible = 1e-8;

/// The larger of the positive and the negative part of u·vᵀ, each scaled to unit norm.
struct Part {
    double size = 0.0;
    Vector u;
    Vector v;
};

Part part_of(const Vector& u, const Vector& v, double sign) {
    Part part{0.0, (sign * u).cwiseMax(0.0), (sign * v).cwiseMax(0.0)};
    const double u_norm = part.u.norm();
    const double v_norm = part.v.norm();
    part.size = u_norm * v_norm;
    if (part.size > 0.0) {
        part.u /= u_norm;
        part.v /= v_norm;
    }
    return part;
}

/// NNDSVD (Boutsidis and Gallopoulos 2008): the first triplet as it is, of each other one the larger signed
/// part.
template <class Real>
Pair<double> nonnegative_double_svd(const DataMatrix<Real>& X, Index rank, DataProducts* products) {
    TruncatedSvd svd = truncated_svd(X, rank, products, 0);
    if (X.processes().place() > 0) {
        return {}; // the first process makes it for all: vectors of all cells are long
    }
    Pair<double> pair{Matrix(X.features(), rank), {}};
    Matrix Ht(X.cells(), rank); // the rows of H are long: threads must not write between each other's numbers
    pair.W.col(0) = std::sqrt(svd.S[0]) * svd.U.col(0).cwiseAbs();
    Ht.col(0) = std::sqrt(svd.S[0]) * svd.V.col(0).cwiseAbs();
    parallel_for(rank - 1, [&](Index i) {
        const Index k = i + 1;
        const Part positive = part_of(svd.U.col(k), svd.V.col(k), 1.0);
        const Part negative = part_of(svd.U.col(k), svd.V.col(k), -1.0);
        const Part& larger = positive.size > negative.size ? positive : negative;
        const double scale = std::sqrt(svd.S[k] * larger.size);
        pair.W.col(k) = scale * larger.u;
        Ht.col(k) = scale * larger.v;
    });
    svd.V.resize(0, 0);
    pair.H = converted_transpose<double>(Ht);
    return pair;
}

/// From the first process to all, where each has some of the cells.
template <class Real>
void send_pair(const DataMatrix<Real>& X, Index rank, Pair<Real>& pair) {
    if (X.has_all_cells()) {
        return;
    }
    pair.W.conservativeResize(X.features(), rank);
    broadcast(X.processes(), std::span<Real>(pair.W.data(), static_cast<std::size_t>(pair.W.size())), 0);
    if (X.processes().place() > 0) {
        pair.H.resize(rank, X.cells());
    }
    columns_from_first(X, pair.H);
}

template <class Fill>
void fill_zeros(Matrix& matrix, const Fill& fill) {
    for (double& value : matrix.reshaped()) {
        if (value < negligible) {
            value = fill();
        }
    }
}

} // namespace

template <class Real>
Pair<Real> seed_pair(const DataMatrix<Real>& X, Index rank, Seeding seeding, std::uint64_t seed,
                     DataProducts* products) {
    const Index side = std::min(X.features(), X.cells());
    require(rank >= 1 && rank <= side, "the rank must be between 1 and min(features, cells) = {}, got {}",
            side, rank);
    const double mean = X.mean();
    Random random(seed);
    Pair<double> pair;
    if (seeding == Seeding::random) {
        // E(W·H) = rank · (mean of W)(mean of H)
        const double scale = 2.0 * std::sqrt(mean / static_cast<double>(rank));
        const auto draw = [&] { return scale * random.uniform(); };
        pair = {Matrix::NullaryExpr(X.features(), rank, draw), Matrix::NullaryExpr(rank, X.cells(), draw)};
    } else {
        pair = nonnegative_double_svd(X, rank, products);
        if (seeding == Seeding::nndsvda) {
            const auto fill = [&] { return mean; };
            fill_zeros(pair.W, fill);
            fill_zeros(pair.H, fill);
        } else if (seeding == Seeding::nndsvdar) {
            const auto fill = [&] { return 0.01 * mean * random.uniform(); };
            fill_zeros(pair.W, fill);
            fill_zeros(pair.H, fill);
        }
    }
    Pair<Real> result{pair.W.template cast<Real>(), converted<Real>(pair.H)};
    if (seeding != Seeding::random) {
        send_pair(X, rank, result);
    }
    return result;
}

template <class Real>
void make_columns_unit(DenseMatrix<Real>& W, DenseMatrix<Real>& H) {
    DenseVector<Real> norms(W.cols());
    for (Index k = 0; k < W.cols(); ++k) {
        norms[k] = W.col(k).norm();
        if (norms[k] > 0) {
            W.col(k) /= norms[k];
        } else {
            W.col(k).setConstant(static_cast<Real>(1.0 / std::sqrt(static_cast<double>(W.rows()))));
        }
    }
    constexpr Index cells_at_once = 4096;
    parallel_blocks(H.cols(), cells_at_once, [&](Index begin, Index end) {
        auto some = H.middleCols(begin, end - begin);
        some.array().colwise() *= norms.array();
    });
}

template <class Real>
Factors<Real> broadcast_start(const Problem<Real>& problem, Pair<Real> pair,
                              const std::filesystem::path& bases_in) {
    make_columns_unit(pair.W, pair.H);
    pair.H = local_columns(*problem.X, std::move(pair.H));
    auto result = empty_factors<Real>(problem.scales(), pair.W.rows(), pair.W.cols(), bases_in);
    for (Index t = 0; t < problem.scales(); ++t) {
        result.W[t] = pair.W;
        result.H[t] = pair.H;
        result.rest(t);
    }
    return result;
}

template <class Real>
Factors<Real> chained_start(const Problem<Real>& problem, Pair<Real> pair, double tolerance,
                            const Observer& observer, const std::filesystem::path& bases_in,
                            StartLog<Real> log, Device device) {
    StartState<Real> at = std::move(log.from);
    Factors<Real>& result = at.state.current;
    if (at.scales == 0) {
        at.scales = at.unchained = problem.scales();
        result = empty_factors<Real>(problem.scales(), pair.W.rows(), pair.W.cols(), bases_in);
    } else if (at.unchained > 0) {
        pair.W = result.basis(at.unchained, pair.W);
        pair.H = gather_cells(*problem.X, result.H[at.unchained]);
    }
    const Device where = device_of(problem, pair.W.cols(), {.device = device});
    const auto chain = at.unchained > 0 ? make_chain(where, problem) : nullptr;
    for (Index t = at.unchained - 1; t >= 0; --t) {
        chain->fit(t, tolerance, 1000, pair);
        result.W[t] = pair.W;
        result.H[t] = local_columns(*problem.X, pair.H);
        result.rest(t);
        at.unchained = t;
        if ((log.reached && !log.reached(at, [] {})) || (observer.starting && !observer.starting())) {
            throw Interrupted();
        }
    }
    return std::move(result);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template Pair<Real> seed_pair(const DataMatrix<Real>&, Index, Seeding, std::uint64_t, DataProducts*);    \
    template void make_columns_unit(DenseMatrix<Real>&, DenseMatrix<Real>&);                                 \
    template Factors<Real> broadcast_start(const Problem<Real>&, Pair<Real>, const std::filesystem::path&);  \
    template Factors<Real> chained_start(const Problem<Real>&, Pair<Real>, double, const Observer&,          \
                                         const std::filesystem::path&, StartLog<Real>, Device);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
