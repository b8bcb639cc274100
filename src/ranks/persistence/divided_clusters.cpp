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
// the centres, which list each cell is in, and the central cells. Lists are shared out; for some of its lists
// at a time a process asks the others for the points of all cells that these are compared with. Blocks of
// cells, and the order in which a cell sees others, are those of one process: products round in the same way,
// and of equal keys the same ones are kept.

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

/// For the cells of each list the lists that they are compared with, some lists at a time.
struct Batch {
    Index first = 0; ///< of own lists, in the order in which they are shared out
    Index past = 0;
    std::vector<Index> lists{}; ///< to compare with
};

class DividedClusters {
  public:
    DividedClusters(const DividedPoints& points, Index k, std::uint64_t seed, Index fetched,
                    const ClusterSettings& settings)
        : points_(points), processes_(points.processes()), settings_(settings), k_(k),
          candidates_(clustered_search.candidates_of(points.count(), k)),
          fetched_(std::max(fetched, points.count() / points.processes().count())),
          space_(points, clustered_search.dimension, basis_sample, seed) {
        find_lists(seed);
        column_.resize(static_cast<std::size_t>(points.count()));
        recalled_ = sample_for_recall(points.count(), seed);
        std::sort(recalled_.begin(), recalled_.end());
    }

    NeighborEdges run() {
        const auto count = std::ssize(order_.lists);
        const Index first = first_of_process(count, processes_.place(), processes_.count());
        const Index past = first_of_process(count, processes_.place() + 1, processes_.count());
        const std::vector<Batch> batches = batches_of(first, past);
        const auto turns = static_cast<Index>(most_of(processes_, static_cast<double>(batches.size())));
        std::vector<Edge> edges;
        for (Index round = 0; round < turns; ++round) { // who is done only answers
            search(round < std::ssize(batches) ? batches[round] : Batch{}, edges);
        }
        NeighborEdges result;
        result.search = NeighborSearch::clustered;
        edges = distinct_edges(std::move(edges));
        result.edges = distinct_edges(gather_any(processes_, edges));
        result.sampled = std::ssize(recalled_);
        result.recall = measured_recall();
        return result;
    }

  private:
    void find_lists(std::uint64_t seed) {
        const Index n = points_.count();
        const Index number = number_of_centres(n, settings_);
        const Floats sample = space_.fetch(sample_for_centres(n, number, seed));
        centres_ = find_centres(sample.topRows(space_.dimension()), number);
        centre_own_ = centres_.colwise().squaredNorm().transpose();

        const auto V = space_.mine().topRows(space_.dimension());
        const FloatVector own = (V.colwise().squaredNorm() + space_.mine().bottomRows<1>()).transpose();
        std::vector<Index> counts;
        for (const CellRange& range : points_.ranges()) {
            counts.push_back(range.count);
        }
        const std::vector<float> all_own = gather_to_all(
            processes_, std::span<const float>(own.data(), static_cast<std::size_t>(own.size())), counts);
        own_ = Eigen::Map<const FloatVector>(all_own.data(), n);
        const std::vector<std::int32_t> centre = [&] {
            const ProcessesScope alone(one_process());
            return nearest_centres(V, centres_, usual_blocks(n).panel());
        }();
        space_.forget_what_points_have();
        central_ = central_cells(own_, std::min(n, settings_.central));
        // Which rank does what must not hang on how processors round: the first one says it.
        std::vector<std::int32_t> place(static_cast<std::size_t>(number));
        if (processes_.place() == 0) {
            place = chain_of(centres_);
        }
        broadcast(processes_, std::span(place), 0);
        order_ = order_lists(gather_to_all(processes_, std::span<const std::int32_t>(centre), counts), number,
                             central_);
        share_out(place);
    }

    void share_out(const std::vector<std::int32_t>& place_of_centre) {
        shared_.resize(order_.lists.size());
        std::iota(shared_.begin(), shared_.end(), Index{0});
        std::stable_sort(shared_.begin(), shared_.end(), [&](Index a, Index b) {
            return place_of_centre[order_.lists[a].centre] < place_of_centre[order_.lists[b].centre];
        });
    }

    std::vector<Index> looked_at(Index list) const {
        return lists_to_look_at(order_.lists, list, centres_, centre_own_, settings_.looked_at);
    }

    /// Lists of this process, as many at a time as need no more points of others than may be held.
    std::vector<Batch> batches_of(Index first, Index past) const {
        std::vector<Batch> batches;
        std::vector<bool> taken;
        Index cells = 0;
        for (Index l = first; l < past; ++l) {
            if (batches.empty() || cells >= fetched_) {
                batches.push_back({.first = l, .past = l});
                taken.assign(order_.lists.size(), false);
                cells = 0;
            }
            Batch& batch = batches.back();
            batch.past = l + 1;
            for (const Index other : looked_at(shared_[l])) {
                if (!taken[other]) {
                    taken[other] = true;
                    batch.lists.push_back(other);
                    cells += order_.lists[other].central - order_.lists[other].begin;
                }
            }
        }
        return batches;
    }

    /// All points that a batch needs, with the float vectors of its lists side by side.
    struct Fetched {
        std::vector<Index> cells; ///< ascending
        std::optional<Points> points;
        std::vector<Index> begin; ///< of each list, in `vectors`
        Floats vectors;
        FloatVector own;
        Floats central_vectors;
        FloatVector central_own;
    };

    Fetched fetch(const Batch& batch) {
        Fetched here;
        const bool idle = batch.first == batch.past;
        if (!idle) {
            here.cells.assign(central_.begin(), central_.end());
        }
        Index members = 0;
        for (const Index l : batch.lists) {
            const List& list = order_.lists[l];
            here.cells.insert(here.cells.end(), order_.order.begin() + list.begin,
                              order_.order.begin() + list.central);
            members += list.central - list.begin;
        }
        std::sort(here.cells.begin(), here.cells.end());
        const ColumnWishes wishes(points_, here.cells);
        here.points = points_.fetch(wishes);
        const Floats beside = space_.fetch_beside(wishes);
        for (Index c = 0; c < std::ssize(here.cells); ++c) {
            column_[here.cells[c]] = static_cast<std::int32_t>(c);
        }
        if (idle) {
            return here;
        }
        const auto put = [&](Index cell, Floats& vectors, FloatVector& own, Index place) {
            space_.put(*here.points, beside, column_[cell], vectors.col(place));
            own[place] = own_[cell];
        };
        here.begin.assign(order_.lists.size(), 0);
        here.vectors.resize(space_.dimension(), members);
        here.own.resize(members);
        Index next = 0;
        for (const Index l : batch.lists) {
            here.begin[l] = next;
            for (Index place = order_.lists[l].begin; place < order_.lists[l].central; ++place, ++next) {
                put(order_.order[place], here.vectors, here.own, next);
            }
        }
        here.central_vectors.resize(space_.dimension(), std::ssize(central_));
        here.central_own.resize(std::ssize(central_));
        for (Index c = 0; c < std::ssize(central_); ++c) {
            put(central_[c], here.central_vectors, here.central_own, c);
        }
        return here;
    }

    /// Vectors of cells of a list that is in a batch, which every list of the batch's own is.
    Floats vectors_of(const List& list, const Fetched& here, Index in_vectors, Index begin, Index end) const {
        Floats vectors(space_.dimension(), end - begin);
        for (Index place = begin; place < end; ++place) {
            const auto central = std::lower_bound(central_.begin(), central_.end(), order_.order[place]);
            vectors.col(place - begin) = place < list.central
                                             ? here.vectors.col(in_vectors + place - list.begin)
                                             : here.central_vectors.col(central - central_.begin());
        }
        return vectors;
    }

    void search(const Batch& batch, std::vector<Edge>& edges) {
        const Fetched here = fetch(batch);
        const Index lists = batch.past - batch.first;
        if (lists == 0) {
            return;
        }
        const CandidateRanking ranking(*here.points);
        std::vector<std::vector<Edge>> found(static_cast<std::size_t>(lists));
        std::vector<std::vector<std::pair<Index, CellAtDistance>>> recalled(found.size());
        parallel_for(lists, [&](Index l) {
            search_list(shared_[batch.first + l], here, ranking,
                        [&](Index cell, const CellAtDistance& other) {
                            const auto& [length, name] = other;
                            found[l].push_back({length, std::min(cell, name), std::max(cell, name)});
                            if (std::binary_search(recalled_.begin(), recalled_.end(), cell)) {
                                recalled[l].emplace_back(cell, other);
                            }
                        });
        });
        for (std::size_t l = 0; l < found.size(); ++l) {
            edges.insert(edges.end(), found[l].begin(), found[l].end());
            for (const auto& [cell, other] : recalled[l]) {
                const auto at = std::lower_bound(recalled_.begin(), recalled_.end(), cell);
                distances_found_.emplace_back(at - recalled_.begin(), other.first);
            }
        }
    }

    template <class Visit>
    void search_list(Index l, const Fetched& here, const CandidateRanking& ranking,
                     const Visit& visit) const {
        const Index n = points_.count();
        const List& mine = order_.lists[l];
        const std::vector<Index> nearest = looked_at(l);
        std::vector<std::int32_t> numbers;
        std::vector<std::int32_t> columns;
        for (Index begin = mine.begin; begin < mine.end; begin += queries_at_once) {
            const Index end = std::min(mine.end, begin + queries_at_once);
            const Floats queries = vectors_of(mine, here, here.begin[l], begin, end);
            Comparison comparison(queries, candidates_ + 1);
            comparison.with(n, here.central_vectors, here.central_own, 0, here.central_vectors.cols());
            for (const Index other : nearest) {
                const List& list = order_.lists[other];
                const Index first = here.begin[other];
                comparison.with(list.begin, here.vectors, here.own, first, first + list.central - list.begin);
            }
            for (Index place = begin; place < end; ++place) {
                const Index cell = order_.order[place];
                comparison.found(place - begin).copy_to(numbers, -1);
                columns.clear();
                for (const std::int32_t number : numbers) {
                    const Index other = number < n ? order_.order[number] : central_[number - n];
                    if (other != cell) {
                        columns.push_back(column_[other]);
                    }
                }
                // Ascending columns are ascending cells.
                for (const auto& [distance, column] : ranking.nearest(column_[cell], columns, k_)) {
                    visit(cell, {distance, here.cells[column]});
                }
            }
        }
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
    FloatVector centre_own_;
    FloatVector own_; ///< of all cells
    std::vector<std::int32_t> central_;
    ListOrder order_;
    std::vector<Index> shared_;        ///< lists in the order in which processes share them out
    std::vector<std::int32_t> column_; ///< of cells that were fetched, among these
    std::vector<Index> recalled_;      ///< ascending
    std::vector<std::pair<Index, double>> distances_found_; ///< from some of these to neighbours found here
};

} // namespace

NeighborEdges divided_clustered_edges(const DividedPoints& points, Index k, std::uint64_t seed, Index fetched,
                                      const ClusterSettings& settings) {
    return DividedClusters(points, k, seed, fetched, settings).run();
}

} // namespace pnmf
