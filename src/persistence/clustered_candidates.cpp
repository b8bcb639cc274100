#include "over_ranks.hpp"
#include "persistence/neighbor_candidates.hpp"
#include "persistence/shortlist.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <numeric>
#include <vector>

namespace pnmf {
namespace {

constexpr Index queries_at_once = 256;
constexpr Index members_at_once = 1024;
constexpr Index largest_list = 4; // times the average; longer ones are cut, so that no cell costs more
constexpr Index most_lists = 8192;
constexpr Index sample_for_a_centre = 32;
constexpr int rounds = 6; // of Lloyd's algorithm: the centres need not be settled

using Floats = DenseMatrix<float>;
using FloatVector = Eigen::VectorXf;

/// Centre nearest to each column of V, equal ones by the smaller centre. Ranks share the columns.
std::vector<std::int32_t> nearest_centres(ConstBlock<float> V, const Floats& centres) {
    const FloatVector own = centres.colwise().squaredNorm().transpose();
    std::vector<std::int32_t> nearest(static_cast<std::size_t>(V.cols()));
    Communicator& ranks = communicator();
    over_blocks_of_rank(ranks, V.cols(), queries_at_once, [&](Index begin, Index end) {
        Floats keys(centres.cols(), end - begin);
        multiply_transposed(centres, V.middleCols(begin, end - begin), keys);
        for (Index a = 0; a < end - begin; ++a) {
            Index best = 0;
            (own - 2.0F * keys.col(a)).minCoeff(&best);
            nearest[begin + a] = static_cast<std::int32_t>(best);
        }
    });
    gather_blocks(ranks, queries_at_once, std::span(nearest));
    return nearest;
}

/// Lloyd's algorithm on a sample of the cells.
Floats find_centres(ConstBlock<float> V, Index count, std::uint64_t seed) {
    const std::vector<Index> drawn =
        sample_of_cells(V.cols(), std::min(V.cols(), sample_for_a_centre * count), seed);
    const Floats sample = V(Eigen::all, drawn);
    Floats centres = sample.leftCols(count);
    for (int round = 0; round < rounds; ++round) {
        const std::vector<std::int32_t> nearest = nearest_centres(sample, centres);
        Floats sum = Floats::Zero(centres.rows(), count);
        Eigen::VectorXi members = Eigen::VectorXi::Zero(count);
        for (Index j = 0; j < sample.cols(); ++j) {
            sum.col(nearest[j]) += sample.col(j);
            ++members[nearest[j]];
        }
        for (Index c = 0; c < count; ++c) {
            if (members[c] > 0) {
                centres.col(c) = sum.col(c) / static_cast<float>(members[c]);
            }
        }
    }
    return centres;
}

/// Consecutive places in the order of `Lists`. Its central cells stand last.
struct List {
    Index centre = 0;
    Index begin = 0;
    Index central = 0; ///< where they begin
    Index end = 0;
};

/// All cells in the order of their lists.
struct Lists {
    std::vector<std::int32_t> order;
    std::vector<List> lists;
    Floats vectors;  ///< q × n, in this order
    FloatVector own; ///< ‖Qᵀb‖² + ‖r_b‖², in this order
};

Lists make_lists(ConstBlock<float> V, const FloatVector& own, const Floats& centres,
                 const std::vector<bool>& is_central, Index longest) {
    const Index n = V.cols();
    const std::vector<std::int32_t> centre = nearest_centres(V, centres);
    Lists result;
    result.order.resize(static_cast<std::size_t>(n));
    std::iota(result.order.begin(), result.order.end(), 0);
    std::stable_sort(result.order.begin(), result.order.end(),
                     [&](std::int32_t a, std::int32_t b) { return centre[a] < centre[b]; });
    for (Index begin = 0; begin < n;) {
        const std::int32_t here = centre[result.order[begin]];
        Index end = begin;
        while (end < n && end - begin < longest && centre[result.order[end]] == here) {
            ++end;
        }
        const auto at = result.order.begin();
        const auto central =
            std::stable_partition(at + begin, at + end, [&](std::int32_t cell) { return !is_central[cell]; });
        result.lists.push_back({here, begin, central - at, end});
        begin = end;
    }
    result.vectors.resize(V.rows(), n);
    result.own.resize(n);
    for (Index place = 0; place < n; ++place) {
        result.vectors.col(place) = V.col(result.order[place]);
        result.own[place] = own[result.order[place]];
    }
    return result;
}

/// The cells with the smallest ‖Qᵀb‖² + ‖r_b‖²: nearest to the mean, and so to most cells.
std::vector<std::int32_t> central_cells(const FloatVector& own, Index count) {
    std::vector<std::int32_t> cells(static_cast<std::size_t>(own.size()));
    std::iota(cells.begin(), cells.end(), 0);
    std::nth_element(cells.begin(), cells.begin() + count, cells.end(), [&](std::int32_t a, std::int32_t b) {
        return std::pair(own[a], a) < std::pair(own[b], b);
    });
    cells.resize(static_cast<std::size_t>(count));
    std::sort(cells.begin(), cells.end());
    return cells;
}

/// Compares the cells at some places with blocks of others, one block after another.
class Comparison {
  public:
    Comparison(const Lists& lists, Index begin, Index end, Index count)
        : queries_(lists.vectors.middleCols(begin, end - begin)),
          found_(static_cast<std::size_t>(end - begin), Shortlist(count)) {}

    /// Others are named by their numbers from `first` on.
    void with(Index first, ConstBlock<float> vectors, const FloatVector& own, Index begin, Index end) {
        for (Index block = begin; block < end; block += members_at_once) {
            const Index size = std::min(members_at_once, end - block);
            keys_.resize(size, queries_.cols());
            multiply_transposed(vectors.middleCols(block, size), queries_, keys_);
            for (Index a = 0; a < queries_.cols(); ++a) {
                keys_.col(a) = own.segment(block, size) - 2.0F * keys_.col(a);
                found_[a].offer(first + block - begin, keys_.col(a).data(), size);
            }
        }
    }

    Shortlist& found(Index query) { return found_[query]; }

  private:
    ConstBlock<float> queries_;
    std::vector<Shortlist> found_;
    Floats keys_;
};

} // namespace

void visit_clustered_candidates(const SearchSpace& space, Index count, const ClusterSettings& settings,
                                std::uint64_t seed, const CandidateVisitor& visit) {
    const Index n = space.vectors.cols();
    const auto V = space.vectors.topRows(space.dimension);
    const FloatVector own = (V.colwise().squaredNorm() + space.vectors.bottomRows<1>()).transpose();
    const Floats centres = find_centres(V, std::clamp<Index>(n / settings.in_a_list, 1, most_lists), seed);

    const std::vector<std::int32_t> central = central_cells(own, std::min(n, settings.central));
    std::vector<bool> is_central(static_cast<std::size_t>(n), false);
    for (const std::int32_t cell : central) {
        is_central[cell] = true;
    }
    const Floats central_vectors = V(Eigen::all, central);
    const FloatVector central_own = own(central);
    const Lists all =
        make_lists(V, own, centres, is_central, std::max<Index>(1, largest_list * n / centres.cols()));

    // Numbers of others: places in the order of the lists, then the central cells from n on.
    const auto cell_of = [&](std::int32_t number) {
        return number < n ? all.order[number] : central[number - n];
    };
    const FloatVector centre_own = centres.colwise().squaredNorm().transpose();
    over_items_of_rank(communicator(), static_cast<Index>(all.lists.size()), [&](Index l) {
        const List& mine = all.lists[l];
        const FloatVector distance = centre_own - 2.0F * (centres.transpose() * centres.col(mine.centre));
        std::vector<Index> nearest(all.lists.size());
        std::iota(nearest.begin(), nearest.end(), Index{0});
        std::sort(nearest.begin(), nearest.end(), [&](Index a, Index b) { // itself first
            return std::tuple(a != l, distance[all.lists[a].centre], a) <
                   std::tuple(b != l, distance[all.lists[b].centre], b);
        });
        std::vector<std::int32_t> candidates;
        for (Index begin = mine.begin; begin < mine.end; begin += queries_at_once) {
            const Index end = std::min(mine.end, begin + queries_at_once);
            Comparison comparison(all, begin, end, count + 1);
            comparison.with(n, central_vectors, central_own, 0, central_vectors.cols());
            Index seen = 0;
            for (const Index other : nearest) {
                const List& list = all.lists[other];
                comparison.with(list.begin, all.vectors, all.own, list.begin, list.central);
                seen += list.central - list.begin;
                if (seen >= settings.looked_at) {
                    break;
                }
            }
            for (Index place = begin; place < end; ++place) {
                const std::int32_t cell = all.order[place];
                comparison.found(place - begin).copy_to(candidates, -1);
                for (std::int32_t& number : candidates) {
                    number = cell_of(number);
                }
                std::erase(candidates, cell);
                visit(cell, candidates);
            }
        }
    });
}

} // namespace pnmf
