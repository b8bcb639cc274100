#include <pnmf/baselines/choose_rank.hpp>

#include "linalg/some_columns.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/fit_data.hpp"

#include <pnmf/baselines/fit_baseline.hpp>
#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/solvers/embed.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>

namespace pnmf {
namespace {

constexpr Index most_predicted = 500; ///< held-out cells that are looked at
constexpr int embedding_passes = 4;   ///< from random numbers to the certificate in least time
constexpr double embed_tolerance = 1e-4;

/// Which cells and features one restart sees, the same for every rank.
struct Split {
    std::vector<Index> shown;     ///< cells, ascending
    std::vector<Index> held_out;  ///< cells, at most `most_predicted`
    std::vector<Index> seen;      ///< features
    std::vector<Index> predicted; ///< features
};

/// Cells that a restart is not shown: at least one, and at least one is shown.
Index held_out_count(Index cells, double share) {
    return std::clamp<Index>(std::lround(share * static_cast<double>(cells)), 1, cells - 1);
}

Split split_of(const DataView& X, const RankOptions& options, Index restart) {
    const Random random = Random(options.seed).fork(static_cast<std::uint64_t>(restart));
    const Index n = cells_of(X);
    const Index p = features_of(X);
    const std::vector<Index> cells = random_sample(n, n, random.fork(0));
    const std::vector<Index> features = random_sample(p, p, random.fork(1));
    const Index out = held_out_count(n, options.held_out);
    Split split;
    split.held_out.assign(cells.begin(), cells.begin() + std::min(out, most_predicted));
    split.shown.assign(cells.begin() + out, cells.end());
    std::sort(split.shown.begin(), split.shown.end());
    split.seen.assign(features.begin(), features.begin() + p / 2);
    split.predicted.assign(features.begin() + p / 2, features.end());
    return split;
}

/// A device makes one fit at a time, and threads wait for their turn.
struct DeviceTurns {
    Device asked = Device::cpu;
    std::mutex mutex{};
    std::atomic<Index> taken = 0;

    /// Where this fit is made; the lock is held where that is a device.
    std::unique_lock<std::mutex> take(const Problem<float>& problem, Index rank, SolverOptions& solver) {
        if (possible_device(asked) == Device::cpu) {
            solver.device = Device::cpu;
            return {};
        }
        std::unique_lock lock(mutex);
        const DeviceChoice choice = choose_device(asked, device_need(problem, rank, solver));
        solver.device = choice.device;
        solver.extrapolate = solver.extrapolate && choice.keep_momentum;
        if (solver.device == Device::cpu) {
            return {};
        }
        ++taken;
        return lock;
    }
};

/// NMF of the cells shown, from random numbers. Interrupted when `go_on` says so.
DenseMatrix<float> basis_of(const DataView& X, const Split& split, Index rank, std::uint64_t seed,
                            DeviceTurns& turns, const std::function<bool()>& go_on) {
    const DataValues shown = some_columns(X, split.shown);
    const BaselineFitOptions nmf{
        .graph = published_settings(Baseline::nmf), .rank = rank, .seeding = Seeding::random, .seed = seed};
    const PreparedFit<float> prepared = prepare_baseline<float>(view_of(shown), nmf);
    const Problem<float> problem = prepared.problem();
    SolverOptions solver = prepared.options.solver;
    solver.embedding_passes = embedding_passes;
    solver.shift_components = false; // without a graph there are no components to shift
    const std::unique_lock<std::mutex> turn = turns.take(problem, rank, solver);
    auto state = start_solver(problem, solver,
                              broadcast_start(problem, seed_pair(*prepared.X, rank, nmf.seeding, nmf.seed)));
    const Stop stop =
        run_solver(problem, solver, state, {.sweep = [&](const SweepReport&) { return go_on(); }});
    if (stop == Stop::interrupted) {
        throw Interrupted("interrupted while ranks were compared", false);
    }
    state.current.bring(0);
    return std::move(state.current.W.front());
}

/// ‖held out − predicted‖² / ‖held out‖² over the features that are predicted.
double error_of(const DataView& X, const Split& split, const DenseMatrix<float>& basis) {
    const DataValues values = some_columns(X, split.held_out);
    const auto* dense = std::get_if<Matrix>(&values);
    const Matrix held_out = dense != nullptr ? *dense : to_dense(std::get<SparseMatrix<double>>(values));
    const Matrix W = basis.cast<double>();
    const DataMatrix<double> seen(Matrix(held_out(split.seen, Eigen::all)));
    const Matrix H = embed_cells<double>(seen, Matrix(W(split.seen, Eigen::all)), Penalty{0.0, 0.0, 0.0},
                                         nullptr, {.tolerance = embed_tolerance})
                         .H;
    const Matrix truth = held_out(split.predicted, Eigen::all);
    const double size = truth.squaredNorm();
    return size > 0.0 ? (truth - W(split.predicted, Eigen::all) * H).squaredNorm() / size : 0.0;
}

/// ‖X − WH‖² / ‖X‖² with the best H ≥ 0 for this W.
double whole_error(const DataMatrix<float>& X, const Matrix& W) {
    const double relative = embed_cells<float>(X, W.cast<float>(), Penalty{0.0, 0.0, 0.0}, nullptr,
                                               {.tolerance = embed_tolerance})
                                .relative_error;
    return relative * relative;
}

/// Of the mean of values that are independent of each other.
double standard_error(const Vector& values) {
    const auto count = static_cast<double>(values.size());
    return std::sqrt((values.array() - values.mean()).square().sum() / (count * (count - 1.0)));
}

void check(const DataView& X, const RankOptions& options, const std::vector<Index>& ranks) {
    const Index p = features_of(X);
    const Index n = cells_of(X);
    require(p >= 4 && n >= 4, "a rank is chosen for at least 4 features and 4 cells, got {} x {}", p, n);
    check_values(X);
    require(options.held_out > 0.0 && options.held_out < 1.0,
            "the share of held-out cells must be above 0 and below 1, got {}", options.held_out);
    require(options.restarts >= 2, "programs are compared between restarts: there must be at least 2, got {}",
            options.restarts);
    const Index shown = n - held_out_count(n, options.held_out);
    const Index most = std::min(p, shown);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        require(ranks[i] >= 1 && ranks[i] <= most,
                "ranks must be between 1 and {}, got {}: there are {} features, and each restart is shown {} "
                "of {} cells",
                most, ranks[i], p, shown, n);
        require(i == 0 || ranks[i - 1] < ranks[i], "ranks must ascend, got {} after {}", ranks[i],
                ranks[i - (i > 0 ? 1 : 0)]);
    }
}

/// All fits, in any order on any thread. What belongs to one rank is put together by whoever makes its last
/// fit, from numbers that stand at their own places: the order plays no part.
class Restarts {
  public:
    Restarts(const DataView& X, const RankOptions& options, RankCurve& curve, const RankObserver& observer)
        : X_(X), whole_(data_of<float>(X, true)), options_(options), curve_(curve), observer_(observer),
          ranks_(std::ssize(curve.ranks)), errors_(options.restarts, ranks_),
          bases_(static_cast<std::size_t>(ranks_)), left_(static_cast<std::size_t>(ranks_)) {
        turns_.asked = options.device;
        for (Index i = 0; i < ranks_; ++i) {
            bases_[i].resize(static_cast<std::size_t>(options.restarts));
            left_[i] = options.restarts;
        }
        curve.error.resize(curve.ranks.size());
        curve.deviation.resize(curve.ranks.size());
        curve.difference_deviation.resize(curve.ranks.size());
        curve.stability.resize(curve.ranks.size());
        curve.consensus_error.resize(curve.ranks.size());
        curve.programs.resize(curve.ranks.size());
    }

    /// Makes all fits and puts the curve together.
    void run() {
        say(0);
        // The largest ranks first: they take longest, and no thread is left with one at the end.
        parallel_for(ranks_ * options_.restarts, [&](Index item) {
            const Index i = ranks_ - 1 - item / options_.restarts;
            fit(i, item % options_.restarts);
            if (left_[i].fetch_sub(1) == 1) {
                finish(i);
            }
            say(1);
        });
        const auto best = std::min_element(curve_.error.begin(), curve_.error.end()) - curve_.error.begin();
        for (Index i = 0; i < ranks_; ++i) {
            curve_.difference_deviation[i] = standard_error(errors_.col(i) - errors_.col(best));
        }
        curve_.on_device = turns_.taken;
    }

  private:
    void fit(Index i, Index restart) {
        const Index rank = curve_.ranks[i];
        const Split split = split_of(X_, options_, restart);
        const std::uint64_t seed = Random(options_.seed)
                                       .fork(static_cast<std::uint64_t>(restart))
                                       .fork(1 + static_cast<std::uint64_t>(rank))
                                       .bits();
        DenseMatrix<float> basis = basis_of(X_, split, rank, seed, turns_, [&] { return say(0); });
        errors_(restart, i) = error_of(X_, split, basis);
        bases_[i][restart] = std::move(basis);
    }

    void finish(Index i) {
        curve_.programs[i] = consensus_programs(bases_[i]);
        bases_[i].clear();
        curve_.stability[i] = curve_.programs[i].mean_stability();
        curve_.consensus_error[i] = whole_error(*whole_, curve_.programs[i].W);
        curve_.error[i] = errors_.col(i).mean();
        curve_.deviation[i] = standard_error(errors_.col(i));
    }

    /// So many more fits are done. False, or Interrupted where one is, when the observer says stop.
    bool say(Index more) {
        const std::lock_guard lock(mutex_);
        done_ += more;
        if (observer_ && !stopped_) {
            stopped_ = !observer_({done_, ranks_ * options_.restarts});
        }
        if (stopped_ && more > 0) {
            throw Interrupted("interrupted while ranks were compared", false);
        }
        return !stopped_;
    }

    const DataView& X_;
    std::unique_ptr<const DataMatrix<float>> whole_;
    const RankOptions& options_;
    RankCurve& curve_;
    const RankObserver& observer_;
    Index ranks_;
    Matrix errors_; ///< restarts × ranks
    std::vector<std::vector<DenseMatrix<float>>> bases_;
    DeviceTurns turns_;
    std::vector<std::atomic<Index>> left_; ///< fits of each rank that are not done
    std::mutex mutex_;
    Index done_ = 0;
    bool stopped_ = false;
};

Index rank_by_error(const RankCurve& curve) {
    const double least = *std::min_element(curve.error.begin(), curve.error.end());
    std::size_t chosen = 0;
    while (curve.error[chosen] - least > curve.difference_deviation[chosen]) {
        ++chosen; // ends at the smallest at the latest
    }
    return curve.ranks[chosen];
}

/// The rank that is most above all larger ones in stability; the largest where stability never falls.
Index rank_by_stability(const RankCurve& curve) {
    std::size_t chosen = curve.ranks.size() - 1;
    double largest_fall = 0.0;
    double best_beyond = curve.stability[chosen];
    for (std::size_t i = chosen; i-- > 0;) {
        const double fall = curve.stability[i] - best_beyond;
        if (fall > largest_fall) {
            largest_fall = fall;
            chosen = i;
        }
        best_beyond = std::max(best_beyond, curve.stability[i]);
    }
    return curve.ranks[chosen];
}

} // namespace

std::vector<Index> rank_candidates(Index features, Index cells) {
    const auto root = static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(cells))));
    const Index most = std::max<Index>(1, std::min(root, std::min(features, cells) / 2));
    std::vector<Index> ranks;
    for (double rank = std::min<double>(2.0, static_cast<double>(most)); std::lround(rank) < most;
         rank *= std::sqrt(2.0)) {
        if (ranks.empty() || ranks.back() < std::lround(rank)) {
            ranks.push_back(std::lround(rank));
        }
    }
    ranks.push_back(most);
    return ranks;
}

RankCurve choose_rank(const DataView& X, const RankOptions& options, const RankObserver& observer) {
    RankCurve curve;
    curve.ranks = options.ranks;
    if (curve.ranks.empty()) {
        curve.ranks = rank_candidates(features_of(X), cells_of(X));
        const Index most = cells_of(X) - held_out_count(std::max<Index>(cells_of(X), 2), options.held_out);
        std::erase_if(curve.ranks, [&](Index rank) { return rank > std::max<Index>(1, most); });
    }
    check(X, options, curve.ranks);
    check_device({.device = options.device});
    Restarts(X, options, curve, observer).run();
    curve.by_error = rank_by_error(curve);
    curve.by_stability = rank_by_stability(curve);
    curve.chosen = options.rule == RankRule::error ? curve.by_error : curve.by_stability;
    return curve;
}

RankCurve choose_rank(const DataValues& X, const RankOptions& options, const RankObserver& observer) {
    return choose_rank(view_of(X), options, observer);
}

} // namespace pnmf
