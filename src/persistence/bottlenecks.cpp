#include "persistence/bottlenecks.hpp"

#include "persistence/union_find.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace pnmf {

Bottlenecks::Bottlenecks(Index cells, const std::vector<Edge>& edges, Index root,
                         const std::function<double(double)>& key)
    : place_(static_cast<std::size_t>(cells), -1), gap_(edges.size() + 1, 0.0) {
    UnionFind sets(cells);
    std::vector<Index> head(static_cast<std::size_t>(cells)); // of each representative's row
    std::vector<Index> tail(static_cast<std::size_t>(cells));
    std::vector<Index> next(static_cast<std::size_t>(cells), -1);
    std::vector<double> gap_after(static_cast<std::size_t>(cells), 0.0);
    std::iota(head.begin(), head.end(), Index{0});
    std::iota(tail.begin(), tail.end(), Index{0});
    for (const Edge& edge : edges) {
        const Index a = sets.find(edge.i);
        const Index b = sets.find(edge.j);
        next[tail[a]] = head[b];
        gap_after[tail[a]] = key(edge.length);
        const Index first = head[a];
        const Index last = tail[b];
        sets.join(a, b);
        const Index merged = sets.find(a);
        head[merged] = first;
        tail[merged] = last;
    }
    Index place = 0;
    for (Index cell = head[sets.find(root)]; cell >= 0; cell = next[cell]) {
        gap_[place] = gap_after[cell];
        place_[cell] = place++;
    }
    assert(place == static_cast<Index>(gap_.size()));
    build_maxima();
}

void Bottlenecks::build_maxima() {
    const auto n = static_cast<Index>(gap_.size());
    from_block_start_ = gap_;
    to_block_end_ = gap_;
    for (Index t = 1; t < n; ++t) {
        if (t % block != 0) {
            from_block_start_[t] = std::max(from_block_start_[t], from_block_start_[t - 1]);
        }
    }
    for (Index t = n - 2; t >= 0; --t) {
        if (t % block != block - 1) {
            to_block_end_[t] = std::max(to_block_end_[t], to_block_end_[t + 1]);
        }
    }
    std::vector<double> level;
    for (Index t = 0; t < n; t += block) {
        level.push_back(to_block_end_[t]);
    }
    for (std::size_t width = 1; !level.empty(); width *= 2) {
        blocks_.push_back(level);
        std::vector<double> wider;
        for (std::size_t b = 0; b + width < level.size(); ++b) {
            wider.push_back(std::max(level[b], level[b + width]));
        }
        level = std::move(wider);
    }
}

double Bottlenecks::between(Index first, Index last) const {
    --last; // the gap before the last place
    const Index first_block = first / block;
    const Index last_block = last / block;
    if (first_block == last_block) {
        return *std::max_element(gap_.begin() + first, gap_.begin() + last + 1);
    }
    double largest = std::max(to_block_end_[first], from_block_start_[last]);
    const auto inner = static_cast<std::uint64_t>(last_block - first_block - 1);
    if (inner > 0) {
        const auto level = static_cast<Index>(std::bit_width(inner)) - 1;
        const std::vector<double>& maxima = blocks_[level];
        largest = std::max({largest, maxima[first_block + 1], maxima[last_block - (Index{1} << level)]});
    }
    return largest;
}

} // namespace pnmf
