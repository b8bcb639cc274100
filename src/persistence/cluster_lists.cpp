#include "persistence/cluster_lists.hpp"

#include "cells/shared_work.hpp"
#include "persistence/search_space.hpp"
#include "persistence/shortlist.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

constexpr Index members_at_once = 1024;
constexpr Index centres_at_once = 64;
constexpr Index panels_at_once = 16;
constexpr Index most_lists = 8192;
constexpr Index sample_for_a_centre = 32;
constexpr int rounds = 6; // of Lloyd's algorithm: the centres need not be settled

struct OfList {
    std::int32_t list;
    std::int32_t cell;
};

/// Cells one list after the other, in one piece of memory: a vector for each list of each run of cells would
/// keep all threads waiting for memory.
class ByList {
  public:
    ByList() = default;
    ByList(const std::vector<OfList>& pairs, Index lists)
        : start_(static_cast<std::size_t>(lists) + 1, 0), cells_(pairs.size()) {
        for (const OfList& pair : pairs) {
            ++start_[pair.list + 1];
        }
        std::partial_sum(start_.begin(), start_.end(), start_.begin());
        std::vector<std::int32_t> next(start_.begin(), start_.end() - 1);
        for (const OfList& pair : pairs) {
            cells_[next[pair.list]++] = pair.cell;
        }
    }
    std::span<const std::int32_t> of(Index list) const {
        return std::span(cells_).subspan(start_[list], start_[list + 1] - start_[list]);
    }

  private:
    std::vector<std::int32_t> start_;
    std::vector<std::int32_t> cells_;
};

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

ListOrder order_lists(const std::vector<std::int32_t>& centre, Index centres) {
    ListOrder result;
    std::vector<Index> begin(static_cast<std::size_t>(centres) + 1, 0);
    for (const std::int32_t c : centre) {
        ++begin[c + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (Index c = 0; c < centres; ++c) {
        if (begin[c] < begin[c + 1]) {
            result.lists.push_back({c, begin[c], begin[c + 1]});
        }
    }
    result.order.resize(centre.size());
    for (std::size_t cell = 0; cell < centre.size(); ++cell) {
        result.order[begin[centre[cell]]++] = static_cast<std::int32_t>(cell);
    }
    return result;
}

CellsAbout::CellsAbout(const Floats& sample, const FloatVector& own_of_sample, const Floats& centres,
                       Index cells, Index looked_at, Index count)
    : centres_(centres), limit_(centres.cols()) {
    const Index sampled = sample.cols();
    const Index rank = (std::max(looked_at, 2 * count) * sampled + cells - 1) / cells;
    parallel_blocks(centres.cols(), centres_at_once, [&](Index begin, Index end) {
        Floats keys(sampled, end - begin);
        multiply_transposed(sample, centres.middleCols(begin, end - begin), keys);
        for (Index c = begin; c < end; ++c) {
            if (rank >= sampled) {
                limit_[c] = std::numeric_limits<float>::infinity();
                continue;
            }
            FloatVector key = own_of_sample - 2.0F * keys.col(c - begin);
            std::nth_element(key.begin(), key.begin() + rank, key.end());
            limit_[c] = key[rank];
        }
    });
}

std::vector<std::vector<std::int32_t>> CellsAbout::among(ConstBlock<float> V, const FloatVector& own,
                                                         std::span<const std::int32_t> nearest, Index panel,
                                                         Index first, Index past, Index number) const {
    const Index lists = past - first;
    const Index run = panels_at_once * panel;
    std::vector<ByList> found(static_cast<std::size_t>((V.cols() + run - 1) / run));
    parallel_blocks(V.cols(), run, [&](Index begin, Index end) {
        std::vector<OfList> here;
        // Products have the same shapes whichever centres are asked for.
        for (Index c0 = first / centres_at_once * centres_at_once; c0 < past; c0 += centres_at_once) {
            const Index c1 = std::min(c0 + centres_at_once, centres_.cols());
            Floats keys;
            for (Index b0 = begin; b0 < end; b0 += panel) {
                const Index b1 = std::min(end, b0 + panel);
                keys.resize(b1 - b0, c1 - c0);
                multiply_transposed(V.middleCols(b0, b1 - b0), centres_.middleCols(c0, c1 - c0), keys);
                for (Index c = std::max(first, c0); c < std::min(past, c1); ++c) {
                    for (Index b = b0; b < b1; ++b) {
                        if (own[b] - 2.0F * keys(b - b0, c - c0) <= limit_[c] || nearest[b] == c) {
                            here.push_back({static_cast<std::int32_t>(c - first),
                                            static_cast<std::int32_t>(number + b)});
                        }
                    }
                }
            }
        }
        found[begin / run] = ByList(here, lists);
    });
    std::vector<std::vector<std::int32_t>> result(static_cast<std::size_t>(lists));
    parallel_for(lists, [&](Index c) {
        std::size_t size = 0;
        for (const ByList& here : found) {
            size += here.of(c).size();
        }
        result[c].reserve(size);
        for (const ByList& here : found) {
            const auto cells = here.of(c);
            result[c].insert(result[c].end(), cells.begin(), cells.end());
        }
    });
    return result;
}

void add_all_if_few(std::vector<std::int32_t>& compared, Index count, Index n) {
    if (std::ssize(compared) <= count) {
        compared.resize(static_cast<std::size_t>(n));
        std::iota(compared.begin(), compared.end(), 0);
    }
}

ComparedCells::ComparedCells(FloatVector centre, std::span<const std::int32_t> cells, const WriteCell& write)
    : centre_(std::move(centre)), cells_(cells), vectors_(centre_.size(), std::ssize(cells)),
      own_(std::ssize(cells)) {
    for (Index m = 0; m < std::ssize(cells); ++m) {
        const float remainder = write(cells[m], vectors_.col(m));
        vectors_.col(m) -= centre_;
        own_[m] = vectors_.col(m).squaredNorm() + remainder;
    }
}

void ComparedCells::visit_nearest(std::span<const std::int32_t> queries, Index count, const WriteCell& write,
                                  const CandidateVisitor& visit) const {
    Floats vectors(centre_.size(), std::ssize(queries));
    std::vector<Shortlist> found;
    found.reserve(queries.size());
    for (Index a = 0; a < std::ssize(queries); ++a) {
        write(queries[a], vectors.col(a));
        vectors.col(a) -= centre_;
        found.emplace_back(count + 1); // copies of one would have no memory set aside
    }
    Floats keys;
    for (Index begin = 0; begin < std::ssize(cells_); begin += members_at_once) {
        const Index size = std::min(members_at_once, std::ssize(cells_) - begin);
        keys.resize(size, vectors.cols());
        multiply_transposed(vectors_.middleCols(begin, size), vectors, keys);
        for (Index a = 0; a < vectors.cols(); ++a) {
            keys.col(a) = own_.segment(begin, size) - 2.0F * keys.col(a);
            found[a].offer(begin, keys.col(a).data(), size);
        }
    }
    std::vector<std::int32_t> candidates;
    for (std::size_t a = 0; a < queries.size(); ++a) {
        found[a].copy_to(candidates, -1);
        for (std::int32_t& other : candidates) {
            other = cells_[other];
        }
        std::erase(candidates, queries[a]);
        visit(queries[a], candidates);
    }
}

} // namespace pnmf
