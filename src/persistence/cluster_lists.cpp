#include "persistence/cluster_lists.hpp"

#include "cells/shared_work.hpp"
#include "persistence/search_space.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace pnmf {
namespace {

constexpr Index members_at_once = 1024;
constexpr Index largest_list = 4; // times the average; longer ones are cut, so that no cell costs more
constexpr Index most_lists = 8192;
constexpr Index sample_for_a_centre = 32;
constexpr int rounds = 6; // of Lloyd's algorithm: the centres need not be settled

} // namespace

Index number_of_centres(Index cells, const ClusterSettings& settings) {
    return std::clamp<Index>(cells / settings.in_a_list, 1, most_lists);
}

std::vector<Index> sample_for_centres(Index cells, Index centres, std::uint64_t seed) {
    return sample_of_cells(cells, std::min(cells, sample_for_a_centre * centres), seed);
}

std::vector<std::int32_t> nearest_centres(ConstBlock<float> V, const Floats& centres, Index panel) {
    const FloatVector own = centres.colwise().squaredNorm().transpose();
    std::vector<std::int32_t> nearest(static_cast<std::size_t>(V.cols()));
    over_shared_blocks(V.cols(), panel, [&](Index begin, Index end) {
        Floats keys(centres.cols(), end - begin);
        multiply_transposed(centres, V.middleCols(begin, end - begin), keys);
        for (Index a = 0; a < end - begin; ++a) {
            Index best = 0;
            (own - 2.0F * keys.col(a)).minCoeff(&best);
            nearest[begin + a] = static_cast<std::int32_t>(best);
        }
    });
    gather_blocks(panel, std::span(nearest));
    return nearest;
}

Floats find_centres(const Floats& sample, Index count) {
    Floats centres = sample.leftCols(count);
    for (int round = 0; round < rounds; ++round) {
        const std::vector<std::int32_t> nearest = nearest_centres(sample, centres, queries_at_once);
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

ListOrder order_lists(const std::vector<std::int32_t>& centre, Index centres,
                      const std::vector<std::int32_t>& central) {
    const auto n = std::ssize(centre);
    const Index longest = std::max<Index>(1, largest_list * n / centres);
    std::vector<bool> is_central(centre.size(), false);
    for (const std::int32_t cell : central) {
        is_central[cell] = true;
    }
    ListOrder result;
    result.order.resize(centre.size());
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
        const auto first_central =
            std::stable_partition(at + begin, at + end, [&](std::int32_t cell) { return !is_central[cell]; });
        result.lists.push_back({here, begin, first_central - at, end});
        begin = end;
    }
    return result;
}

std::vector<Index> lists_to_look_at(const std::vector<List>& lists, Index l, const Floats& centres,
                                    const FloatVector& centre_own, Index looked_at) {
    const FloatVector distance = centre_own - 2.0F * (centres.transpose() * centres.col(lists[l].centre));
    std::vector<Index> nearest(lists.size());
    std::iota(nearest.begin(), nearest.end(), Index{0});
    std::sort(nearest.begin(), nearest.end(), [&](Index a, Index b) { // itself first
        return std::tuple(a != l, distance[lists[a].centre], a) <
               std::tuple(b != l, distance[lists[b].centre], b);
    });
    Index seen = 0;
    auto past = nearest.begin();
    while (past != nearest.end() && seen < looked_at) {
        seen += lists[*past].central - lists[*past].begin;
        ++past;
    }
    nearest.erase(past, nearest.end());
    return nearest;
}

void Comparison::with(Index first, ConstBlock<float> vectors, const FloatVector& own, Index begin,
                      Index end) {
    for (Index block = begin; block < end; block += members_at_once) {
        const Index size = std::min(members_at_once, end - block);
        const auto needed = static_cast<std::size_t>(size * queries_.cols());
        keys_.resize(std::max(keys_.size(), needed));
        Eigen::Map<Floats> keys(keys_.data(), size, queries_.cols());
        multiply_transposed(vectors.middleCols(block, size), queries_, keys);
        for (Index a = 0; a < queries_.cols(); ++a) {
            keys.col(a) = own.segment(block, size) - 2.0F * keys.col(a);
            found_[a].offer(first + block - begin, keys.col(a).data(), size);
        }
    }
}

} // namespace pnmf
