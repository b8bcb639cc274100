#include "cells/cell_blocks.hpp"
#include "cells/shared_work.hpp"
#include "persistence/candidate_ranking.hpp"
#include "persistence/cluster_lists.hpp"
#include "persistence/neighbors_of.hpp"
#include "ranks/persistence/divided_search.hpp"
#include "ranks/persistence/divided_search_space.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

// The clustered search of clustered_candidates.cpp where each process has its own points. Every process knows
// the centres and which list each cell is in. Lists are shared out, and processes tell each other which of
// their cells those of a list are compared with. For some of its lists at a time a process asks the others
// for the points of all these cells. Blocks of cells, and the order in which a cell sees others, are those of
// one process: products round in the same way, and of equal keys the same ones are kept.

namespace pnmf {
namespace {

/// Centres one after the other, from each to the nearest that is left: the place of each. Lists that follow
/// each other are then compared with much the same cells.
std::vector<std::int32_t> chain_of(const Floats& centres) {
    const FloatVector own = centres.colwise().squaredNorm().transpose();
    std::vector<std::int32_t> place(static_cast<std::size_t>(centres.cols()), -1);
    Index here = 0;
    for (std::int32_t next = 0;; ++next) {
        place[here] = next;
        if (next + 1 == std::ssize(place)) {
            return place;
        }
        const FloatVector distance = own - 2.0F * (centres.transpose() * centres.col(here));
        float least = std::numeric_limits<float>::infinity();
        Index nearest = -1;
        for (Index c = 0; c < centres.cols(); ++c) {
            if (place[c] < 0 && (nearest < 0 || distance[c] < least)) {
                least = distance[c];
                nearest = c;
            }
        }
        here = nearest;
    }
}

/// Some own lists at a time, in the order in which they are shared out.
struct Batch {
    Index first = 0;
    Index past = 0;
    std::vector<Index> cells{}; ///< whose points are needed, ascending
};

class DividedClusters {
  public:
    DividedClusters(const DividedPoints& points, Index k, std::uint64_t seed, Index fetched,
                    const ClusterSettings& settings)
        : points_(points), processes_(points.processes()), settings_(settings), k_(k),
          candidates_(clustered_search.candidates_of(points.count(), k, points.dimensions())),
          fetched_(std::max(fetched, points.count() / points.processes().count())),
          space_(points, clustered_search.dimension, basis_sample, seed) {
        find_lists(seed);
        column_.resize(static_cast<std::size_t>(points.count()));
        recalled_ = sample_for_recall(points.count(), seed);
        std::sort(recalled_.begin(), recalled_.end());
    }

    NeighborEdges run() {
        const auto own = static_cast<std::size_t>(past_ - first_);
        std::vector<std::vector<Found>> found(own);
        over_batches(
            [&](Index l) -> const auto& { return compared_[l - first_]; },
            [&](Index l, const Fetched& here) { search_list(l, here, found[l - first_]); });
        for (int round = 0; round < clustered_rounds; ++round) {
            const NeighborTable table = gathered(found);
            std::vector<std::vector<std::int32_t>> others(own);
            over_batches(
                [&](Index l) {
                    std::vector<std::int32_t> needed;
                    std::vector<std::int32_t> some;
                    for (const std::int32_t cell : cells_of(l)) {
                        table.two_steps_from(cell, some);
                        needed.insert(needed.end(), some.begin(), some.end());
                    }
                    return needed;
                },
                [&](Index l, const Fetched& here) {
                    std::vector<Found> now;
                    std::vector<std::int32_t> some;
                    for (const std::int32_t cell : cells_of(l)) {
                        table.two_steps_from(cell, some);
                        rank(cell, some, here, now);
                    }
                    found[l - first_] = std::move(now);
                });
        }
        return result_of(found);
    }

  private:
    struct Found {
        Index cell;
        CellAtDistance other;
    };

    NeighborEdges result_of(const std::vector<std::vector<Found>>& found) {
        std::vector<Edge> edges;
        for (const std::vector<Found>& of_list : found) {
            for (const auto& [cell, other] : of_list) {
                const auto& [length, name] = other;
                edges.push_back({length, std::min(cell, name), std::max(cell, name)});
                const auto at = std::lower_bound(recalled_.begin(), recalled_.end(), cell);
                if (at != recalled_.end() && *at == cell) {
                    distances_found_.emplace_back(at - recalled_.begin(), length);
                }
            }
        }
        NeighborEdges result;
        result.search = NeighborSearch::clustered;
        edges = distinct_edges(std::move(edges));
        result.edges = distinct_edges(gather_any(processes_, edges));
        result.sampled = std::ssize(recalled_);
        result.recall = measured_recall();
        return result;
    }

    void find_lists(std::uint64_t seed) {
        const Index n = points_.count();
        const Index number = number_of_centres(n, settings_);
        const Floats sample = space_.fetch(sample_for_centres(n, number, seed));
        const Floats sampled = sample.topRows(space_.dimension());
        centres_ = find_centres(sampled, number);

        const auto V = space_.mine().topRows(space_.dimension());
        std::vector<Index> counts;
        for (const CellRange& range : points_.ranges()) {
            counts.push_back(range.count);
        }
        const Index panel = usual_blocks(n).panel();
        const std::vector<std::int32_t> centre = [&] {
            const ProcessesScope alone(one_process());
            return nearest_centres(V, centres_, panel);
        }();
        // Which rank does what must not hang on how processors round: the first one says it.
        std::vector<std::int32_t> place(static_cast<std::size_t>(number));
        if (processes_.place() == 0) {
            place = chain_of(centres_);
        }
        broadcast(processes_, std::span(place), 0);
        order_ =
            order_lists(gather_to_all(processes_, std::span<const std::int32_t>(centre), counts), number);
        share_out(place);
        exchange_compared(
            CellsAbout(sampled, lengths_of(sample), centres_, n, settings_.looked_at, candidates_)
                .among(V, lengths_of(space_.mine()), centre, panel, 0, number, points_.local().first));
        space_.forget_what_points_have();
    }

    /// ‖Qᵀb‖² + ‖r_b‖² of cells as a search space has them.
    FloatVector lengths_of(ConstBlock<float> cells) const {
        return (cells.topRows(space_.dimension()).colwise().squaredNorm() + cells.bottomRows<1>())
            .transpose();
    }

    void share_out(const std::vector<std::int32_t>& place_of_centre) {
        shared_.resize(order_.lists.size());
        std::iota(shared_.begin(), shared_.end(), Index{0});
        std::sort(shared_.begin(), shared_.end(), [&](Index a, Index b) {
            return place_of_centre[order_.lists[a].centre] < place_of_centre[order_.lists[b].centre];
        });
        first_ = first_of(processes_.place());
        past_ = first_of(processes_.place() + 1);
    }

    Index first_of(Index process) const {
        return first_of_process(std::ssize(shared_), process, processes_.count());
    }

    const ListOrder::List& list(Index l) const { return order_.lists[shared_[l]]; }

    std::span<const std::int32_t> cells_of(Index l) const {
        return std::span(order_.order).subspan(list(l).begin, list(l).end - list(l).begin);
    }

    /// `mine`: for each centre those of this process that its list is compared with. Each process gets all of
    /// its lists.
    void exchange_compared(std::vector<std::vector<std::int32_t>> mine) {
        using Cells = std::vector<std::int32_t>;
        const auto lists = std::ssize(shared_);
        const auto size = static_cast<std::size_t>(processes_.count());
        std::vector<Index> lengths;
        std::vector<Cells> leaving(size);
        std::vector<Cells> arriving(size);
        for (int r = 0; r < processes_.count(); ++r) {
            for (Index l = first_of(r); l < first_of(r + 1); ++l) {
                Cells& some = mine[list(l).centre];
                lengths.push_back(std::ssize(some));
                leaving[r].insert(leaving[r].end(), some.begin(), some.end());
                some = {};
            }
        }
        const std::vector<Index> all =
            gather_to_all(processes_, std::span<const Index>(lengths), std::vector<Index>(size, lists));
        const auto length = [&](int r, Index l) { return all[r * lists + l]; };
        for (int r = 0; r < processes_.count(); ++r) {
            Index total = 0;
            for (Index l = first_; l < past_; ++l) {
                total += length(r, l);
            }
            arriving[r].resize(static_cast<std::size_t>(total));
        }
        exchange_parts<std::int32_t>(
            processes_, [&](int r) { return std::span<const std::int32_t>(leaving[r]); },
            [&](int r) { return std::span<std::int32_t>(arriving[r]); });
        compared_.resize(static_cast<std::size_t>(past_ - first_));
        for (int r = 0; r < processes_.count(); ++r) { // in the order of their cells
            auto next = arriving[r].begin();
            for (Index l = first_; l < past_; ++l) {
                Cells& some = compared_[l - first_];
                some.insert(some.end(), next, next + length(r, l));
                next += length(r, l);
            }
            arriving[r] = {};
        }
        for (Cells& some : compared_) {
            add_all_if_few(some, candidates_, points_.count());
        }
    }

    /// Own lists, as many at a time as need no more points of others than may be held; `needed` says which
    /// cells a list needs beside its own.
    template <class Needed, class Work>
    void over_batches(const Needed& needed, const Work& work) {
        Index next = first_;
        while (most_of(processes_, static_cast<double>(past_ - next)) > 0.0) { // who is done only answers
            Batch batch{.first = next, .past = next};
            std::vector<bool> taken(static_cast<std::size_t>(points_.count()));
            const auto take = [&](std::span<const std::int32_t> cells) {
                for (const std::int32_t cell : cells) {
                    if (!taken[cell]) {
                        taken[cell] = true;
                        batch.cells.push_back(cell);
                    }
                }
            };
            while (next < past_ && std::ssize(batch.cells) < fetched_) {
                take(needed(next));
                take(cells_of(next));
                batch.past = ++next;
            }
            std::sort(batch.cells.begin(), batch.cells.end());
            Fetched here = fetch(std::move(batch));
            if (here.points) {
                here.ranking.emplace(*here.points);
            }
            parallel_for(here.batch.past - here.batch.first,
                         [&](Index l) { work(here.batch.first + l, here); });
        }
    }

    /// Points that a batch needs, and what the search space has beside them.
    struct Fetched {
        Batch batch;
        std::optional<Points> points{};
        std::optional<CandidateRanking> ranking{};
        Floats beside{};
    };

    Fetched fetch(Batch batch) {
        Fetched here{std::move(batch)};
        const ColumnWishes wishes(points_, here.batch.cells);
        here.points = points_.fetch(wishes);
        here.beside = space_.fetch_beside(wishes);
        for (Index c = 0; c < std::ssize(here.batch.cells); ++c) {
            column_[here.batch.cells[c]] = static_cast<std::int32_t>(c);
        }
        return here;
    }

    void search_list(Index l, const Fetched& here, std::vector<Found>& found) const {
        const WriteCell write = [&](std::int32_t cell, Eigen::Ref<FloatVector> out) {
            return space_.put(*here.points, here.beside, column_[cell], out);
        };
        const ComparedCells compared(centres_.col(list(l).centre), compared_[l - first_], write);
        const std::span<const std::int32_t> cells = cells_of(l);
        for (std::size_t begin = 0; begin < cells.size(); begin += queries_at_once) {
            compared.visit_nearest(
                cells.subspan(begin, std::min<std::size_t>(queries_at_once, cells.size() - begin)),
                candidates_, write,
                [&](Index cell, std::span<const std::int32_t> others) { rank(cell, others, here, found); });
        }
    }

    /// The nearest of one cell among others whose points are here.
    void rank(Index cell, std::span<const std::int32_t> others, const Fetched& here,
              std::vector<Found>& found) const {
        std::vector<std::int32_t> columns;
        columns.reserve(others.size());
        for (const std::int32_t other : others) {
            columns.push_back(column_[other]);
        }
        // Ascending columns are ascending cells.
        for (const auto& [distance, column] : here.ranking->nearest(column_[cell], columns, k_)) {
            found.push_back({cell, {distance, here.batch.cells[column]}});
        }
    }

    /// What all processes have found.
    NeighborTable gathered(const std::vector<std::vector<Found>>& found) const {
        std::vector<std::int32_t> mine;
        for (const std::vector<Found>& of_list : found) {
            for (const Found& one : of_list) {
                mine.push_back(static_cast<std::int32_t>(one.other.second));
            }
        }
        const std::vector<std::int32_t> all = gather_any(processes_, mine);
        NeighborTable table(points_.count(), k_);
        const std::int32_t* next = all.data();
        for (Index l = 0; l < std::ssize(shared_); ++l) {
            for (const std::int32_t cell : cells_of(l)) {
                table.set(cell, std::span(next, static_cast<std::size_t>(k_)));
                next += k_;
            }
        }
        return table;
    }

    /// Share of the true k nearest neighbours that were found, as in a search of one process: each process
    /// brings what may be nearest of its own cells.
    double measured_recall() const {
        using Choice = CandidateRanking::Choice;
        const Index samples = std::ssize(recalled_);
        const CellRange& held = points_.local();
        const Points points = points_.beside_own(recalled_);
        const CandidateRanking ranking(points);
        const Index choices = ranking.choices(k_);
        const double none = std::numeric_limits<double>::infinity();
        std::vector<Choice> mine(static_cast<std::size_t>(choices * samples), Choice{none, none, 0});
        parallel_for(samples, [&](Index s) {
            std::vector<std::int32_t> others;
            for (Index cell = 0; cell < held.count; ++cell) {
                if (held.first + cell != recalled_[s]) {
                    others.push_back(static_cast<std::int32_t>(samples + cell));
                }
            }
            const std::vector<Choice> found = ranking.choose(s, others, k_);
            std::copy(found.begin(), found.end(), mine.begin() + s * choices);
        });
        const auto size = static_cast<std::size_t>(processes_.count());
        const std::vector<Choice> all = gather_to_all(processes_, std::span<const Choice>(mine),
                                                      std::vector<Index>(size, choices * samples));
        std::vector<double> radius(static_cast<std::size_t>(samples));
        for (Index s = 0; s < samples; ++s) {
            std::vector<Choice>
                of_all; // own cells of a process ascend, and so do processes: equal keys are in order
            for (std::size_t r = 0; r < size; ++r) {
                const auto begin = all.begin() + (static_cast<Index>(r) * samples + s) * choices;
                of_all.insert(of_all.end(), begin, begin + choices);
            }
            std::stable_sort(of_all.begin(), of_all.end(),
                             [](const Choice& a, const Choice& b) { return a.key < b.key; });
            of_all.resize(static_cast<std::size_t>(choices));
            std::nth_element(of_all.begin(), of_all.begin() + k_ - 1, of_all.end(),
                             [](const Choice& a, const Choice& b) { return a.distance < b.distance; });
            radius[s] = of_all[k_ - 1].distance;
        }
        const auto found = std::count_if(distances_found_.begin(), distances_found_.end(),
                                         [&](const auto& one) { return one.second <= radius[one.first]; });
        const double total = sum_of(processes_, static_cast<double>(found));
        return total / static_cast<double>(k_ * samples);
    }

    const DividedPoints& points_;
    Processes& processes_;
    ClusterSettings settings_;
    Index k_;
    Index candidates_;
    Index fetched_;
    DividedSearchSpace space_;
    Floats centres_;
    ListOrder order_;
    std::vector<Index> shared_; ///< lists in the order in which processes share them out
    Index first_ = 0;           ///< of this process among these
    Index past_ = 0;            ///< the first that is not
    std::vector<std::vector<std::int32_t>> compared_;       ///< with each own list: cells, ascending
    std::vector<std::int32_t> column_;                      ///< of cells that were fetched, among these
    std::vector<Index> recalled_;                           ///< ascending
    std::vector<std::pair<Index, double>> distances_found_; ///< from some of these to neighbours found here
};

} // namespace

NeighborEdges divided_clustered_edges(const DividedPoints& points, Index k, std::uint64_t seed, Index fetched,
                                      const ClusterSettings& settings) {
    return DividedClusters(points, k, seed, fetched, settings).run();
}

} // namespace pnmf
