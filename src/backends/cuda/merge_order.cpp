#include "backends/cuda/merge_order.hpp"
#include "backends/cpu/component_shifts.hpp"

#include <pnmf/parallel.hpp>

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
    for (std::size_t c = 0; c < listed.size(); ++c) {
        const std::int32_t old = listed[c];
        const std::int32_t inside = level.first_child[old + 1] - level.first_child[old];
        order.first_cell.push_back(cells);
        order.first_child.push_back(children);
        if (inside > MergeOrder::many) {
            order.large.push_back(static_cast<std::int32_t>(c));
        }
        cells += level.size[old];
        children += inside;
    }
    order.first_cell.push_back(cells);
    order.first_child.push_back(children);
    order.large_level.push_back(static_cast<std::int64_t>(order.large.size()));
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

} // namespace

MergeOrder merge_order(const ComponentForest& forest) {
    const Index T = forest.scales();
    const auto listed = list_components(forest);
    std::vector<std::vector<std::int32_t>> numbers(listed.size()); // new number of each old one
    MergeOrder order;
    order.level.push_back(0);
    order.large_level.push_back(0);
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
    return order;
}

} // namespace pnmf::cuda
