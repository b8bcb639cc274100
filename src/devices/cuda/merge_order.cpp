#include "devices/cuda/merge_order.hpp"
#include "devices/cpu/component_shifts.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cstdlib>

namespace pnmf::cuda {
namespace {

/// The new numbers of the components of each scale: coarsest scale first, the children of a component after
/// those of the component before it. listed[t][c] is the old number of component c.
std::vector<std::vector<std::int32_t>> list_components(const ComponentForest& forest) {
    const Index T = forest.scales();
    std::vector<std::vector<std::int32_t>> listed(static_cast<std::size_t>(T));
    for (Index t = T - 1; t >= 0; --t) {
        auto& here = listed[t];
        here.reserve(static_cast<std::size_t>(forest[t].count()));
        if (t == T - 1) {
            for (Index c = 0; c < forest[t].count(); ++c) {
                here.push_back(static_cast<std::int32_t>(c));
            }
            continue;
        }
        const auto& coarser = forest[t + 1];
        for (const std::int32_t above : listed[t + 1]) {
            here.insert(here.end(), coarser.children.begin() + coarser.first_child[above],
                        coarser.children.begin() + coarser.first_child[above + 1]);
        }
    }
    return listed;
}

/// Places of the components of one scale, and their children.
void add_level(const ComponentForest& forest, Index t, const std::vector<std::int32_t>& listed,
               MergeOrder& order) {
    const auto& level = forest[t];
    std::int32_t cells = 0;
    std::int32_t children = 0;
    for (const std::int32_t old : listed) {
        const std::int32_t inside = level.first_child[old + 1] - level.first_child[old];
        order.first_cell.push_back(cells);
        order.first_child.push_back(children);
        cells += level.size[old];
        children += inside;
    }
    order.first_cell.push_back(cells);
    order.first_child.push_back(children);
    order.level.push_back(order.level.back() + static_cast<std::int64_t>(listed.size()));
}

/// Cells in the order of the finest components; within one in their own order.
void place_cells(const ComponentForest& forest, const std::vector<std::int32_t>& numbers, MergeOrder& order) {
    const auto& finest = forest[0].component;
    std::vector<std::int32_t> next(order.first_cell.begin(), order.first_cell.begin() + forest[0].count());
    order.cell.resize(finest.size());
    for (std::size_t j = 0; j < finest.size(); ++j) {
        order.cell[next[numbers[finest[j]]]++] = static_cast<std::int32_t>(j);
    }
}

/// Each cut stands near its share of the cells, where fewest components are cut: a component of scale t that
/// begins at a place is not cut there, nor is any finer one.
void cut_pieces(Index T, std::int64_t pieces, MergeOrder& order) {
    const auto cells = static_cast<std::int64_t>(order.cell.size());
    std::vector<std::int32_t> whole(order.cell.size(), 0); // scales whose components a cut leaves whole
    for (Index t = 0; t < T; ++t) {
        for (std::int64_t c = order.level[t]; c < order.level[t + 1]; ++c) {
            whole[order.first_cell[c + t]] = static_cast<std::int32_t>(t + 1);
        }
    }
    const std::int64_t reach = cells / pieces / 4;
    order.piece.push_back(0);
    for (std::int64_t p = 1; p < pieces; ++p) {
        const std::int64_t share = p * cells / pieces;
        std::int64_t best = share;
        for (std::int64_t place = share - reach; place <= share + reach; ++place) {
            const bool nearer = std::abs(place - share) < std::abs(best - share);
            if (whole[place] > whole[best] || (whole[place] == whole[best] && nearer)) {
                best = place;
            }
        }
        order.piece.push_back(static_cast<std::int32_t>(best));
    }
    order.piece.push_back(static_cast<std::int32_t>(cells));
}

/// The components of one scale in the order.
struct LevelPlaces {
    const MergeOrder& order;
    Index T;
    Index t;

    std::int32_t at(std::int32_t place) const { return order.component[order.cell[place] * T + t]; }
    std::int32_t first(std::int32_t c) const { return order.first_cell[order.level[t] + t + c]; }
    bool is_wide(std::int32_t c, std::int64_t p) const {
        return first(c) < order.piece[p] || first(c + 1) > order.piece[p + 1];
    }
};

void find_narrow(Index T, MergeOrder& order) {
    order.narrow.reserve(static_cast<std::size_t>(2 * order.pieces() * T));
    for (std::int64_t p = 0; p < order.pieces(); ++p) {
        std::int32_t scales = 0;
        for (Index t = 0; t < T; ++t) {
            const LevelPlaces places{order, T, t};
            const std::int32_t left = places.at(order.piece[p]);
            const std::int32_t right = places.at(order.piece[p + 1] - 1);
            const std::int32_t begin = left + (places.is_wide(left, p) ? 1 : 0);
            const std::int32_t end = right + (places.is_wide(right, p) ? 0 : 1);
            order.narrow.push_back(begin);
            order.narrow.push_back(std::max(begin, end));
            scales += begin < end ? 1 : 0;
        }
        order.narrow_scales.push_back(scales);
    }
}

/// A wide component reaches over one cut at least; those over one after the other may be the same.
void find_wide(Index T, MergeOrder& order) {
    const auto piece_of = [&](std::int32_t place) {
        const auto after = std::upper_bound(order.piece.begin(), order.piece.end(), place);
        return static_cast<std::int32_t>(after - order.piece.begin() - 1);
    };
    order.wide_level.push_back(0);
    for (Index t = 0; t < T; ++t) {
        const LevelPlaces places{order, T, t};
        std::int32_t last = -1;
        for (std::int64_t p = 1; p < order.pieces(); ++p) {
            const std::int32_t c = places.at(order.piece[p]);
            if (places.first(c) == order.piece[p] || c == last) {
                continue;
            }
            last = c;
            order.wide.push_back(c);
            order.wide_scale.push_back(static_cast<std::int32_t>(t));
            order.wide_size.push_back(places.first(c + 1) - places.first(c));
            order.wide_first_piece.push_back(piece_of(places.first(c)));
            order.wide_last_piece.push_back(piece_of(places.first(c + 1) - 1));
        }
        order.wide_level.push_back(static_cast<std::int32_t>(order.wide.size()));
    }
}

/// Parents of wide components are wide and come in the same order, so what is inside one follows what is
/// inside the one before it.
void join_wide(Index T, MergeOrder& order) {
    order.wide_parent.assign(order.wide.size(), 0);
    order.wide_inside.assign(order.wide.size() + 1, 0);
    for (Index t = 0; t + 1 < T; ++t) {
        std::int32_t above = order.wide_level[t + 1];
        order.wide_inside[above] = order.wide_level[t];
        for (std::int32_t w = order.wide_level[t]; w < order.wide_level[t + 1]; ++w) {
            const std::int32_t parent = order.parent[order.level[t] + order.wide[w]];
            while (order.wide[above] != parent) {
                order.wide_inside[++above] = w;
            }
            order.wide_parent[w] = above;
        }
        while (++above <= order.wide_level[t + 2]) {
            order.wide_inside[above] = order.wide_level[t + 1];
        }
    }
}

} // namespace

MergeOrder merge_order(const ComponentForest& forest, std::int64_t pieces) {
    const Index T = forest.scales();
    const auto listed = list_components(forest);
    std::vector<std::vector<std::int32_t>> numbers(listed.size()); // new number of each old one
    MergeOrder order;
    order.level.push_back(0);
    for (Index t = 0; t < T; ++t) {
        numbers[t].resize(listed[t].size());
        for (std::size_t c = 0; c < listed[t].size(); ++c) {
            numbers[t][listed[t][c]] = static_cast<std::int32_t>(c);
        }
        add_level(forest, t, listed[t], order);
    }
    for (Index t = 0; t < T; ++t) {
        for (const std::int32_t old : listed[t]) {
            order.parent.push_back(t + 1 < T ? numbers[t + 1][forest[t].parent[old]] : 0);
        }
    }
    place_cells(forest, numbers[0], order);
    const auto cells = static_cast<Index>(order.cell.size());
    order.component.resize(static_cast<std::size_t>(cells * T));
    parallel_blocks(cells, 4096, [&](Index begin, Index end) {
        for (Index t = 0; t < T; ++t) {
            for (Index j = begin; j < end; ++j) {
                order.component[j * T + t] = numbers[t][forest[t].component[j]];
            }
        }
    });
    cut_pieces(T, pieces, order);
    find_narrow(T, order);
    find_wide(T, order);
    join_wide(T, order);
    return order;
}

} // namespace pnmf::cuda
