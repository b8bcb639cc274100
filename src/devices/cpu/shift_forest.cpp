#include "devices/cpu/shift_forest.hpp"

#include "devices/cpu/component_shifts.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

using Level = ShiftForest::Level;
using Numbers = std::vector<std::int32_t>;

/// Pairs (row, value) as lists of each row; pairs of a row keep their order.
std::pair<Numbers, Numbers> lists_of(Index rows,
                                     const std::vector<std::pair<std::int32_t, std::int32_t>>& pairs) {
    Numbers first(static_cast<std::size_t>(rows) + 1, 0);
    for (const auto& [row, value] : pairs) {
        ++first[row + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    Numbers values(pairs.size());
    Numbers next(first.begin(), first.end() - 1);
    for (const auto& [row, value] : pairs) {
        values[next[row]++] = value;
    }
    return {std::move(first), std::move(values)};
}

/// How the components of one scale are numbered on this process.
struct Numbering {
    Numbers here; ///< of each component of all: its number on this process, −1 for those of other processes
    Numbers block; ///< of each component: that of its first cell
    std::vector<char> wide;
};

Numbering number_level(const ComponentForest::Level& all, const BlockSlab& slab, Level& level) {
    const std::size_t count = all.size.size();
    Numbering numbering{Numbers(count, -1), Numbers(count, -1), std::vector<char>(count, 0)};
    for (std::size_t j = 0; j < all.component.size(); ++j) {
        const auto block = static_cast<std::int32_t>(slab.blocks.of(static_cast<Index>(j)));
        std::int32_t& first = numbering.block[all.component[j]];
        if (first < 0) {
            first = block;
        } else if (first != block) {
            numbering.wide[all.component[j]] = 1;
        }
    }
    level.first_narrow.assign(static_cast<std::size_t>(slab.past - slab.first) + 1, 0);
    const auto take = [&](std::size_t c) {
        numbering.here[c] = static_cast<std::int32_t>(level.size.size());
        level.size.push_back(all.size[c]);
    };
    for (std::size_t c = 0; c < count; ++c) { // components are numbered by their first cells: blocks ascend
        const Index block = numbering.block[c];
        if (numbering.wide[c] == 0 && slab.first <= block && block < slab.past) {
            take(c);
            ++level.first_narrow[block - slab.first + 1];
        }
    }
    std::partial_sum(level.first_narrow.begin(), level.first_narrow.end(), level.first_narrow.begin());
    level.narrow = std::ssize(level.size);
    for (std::size_t c = 0; c < count; ++c) {
        if (numbering.wide[c] != 0) {
            take(c);
        }
    }
    return numbering;
}

/// Blocks of the slab and nodes of all processes that hold cells of each wide component.
void list_places(const ComponentForest::Level& all, const Numbering& numbering, const BlockShares& shares,
                 const BlockSlab& slab, Level& level) {
    std::vector<std::pair<std::int32_t, std::int32_t>> blocks;
    std::vector<std::pair<std::int32_t, std::int32_t>> nodes;
    Numbers last_block(static_cast<std::size_t>(level.wide()), -1);
    Numbers last_node = last_block;
    std::int32_t node = 0;
    for (std::size_t j = 0; j < all.component.size(); ++j) {
        const auto block = static_cast<std::int32_t>(shares.blocks.of(static_cast<Index>(j)));
        while (shares.nodes[node].past <= block) {
            ++node;
        }
        const std::int32_t c = all.component[j];
        if (numbering.wide[c] == 0) {
            continue;
        }
        const auto w = static_cast<std::int32_t>(numbering.here[c] - level.narrow);
        if (std::exchange(last_node[w], node) != node) {
            nodes.emplace_back(w, node);
        }
        if (slab.first <= block && block < slab.past && std::exchange(last_block[w], block) != block) {
            blocks.emplace_back(w, block);
        }
    }
    std::tie(level.first_entry, level.block) = lists_of(level.wide(), blocks);
    std::tie(level.first_slot, level.node) = lists_of(level.wide(), nodes);
    std::vector<std::pair<std::int32_t, std::int32_t>> entries;
    for (std::size_t e = 0; e < level.block.size(); ++e) {
        entries.emplace_back(level.block[e] - slab.first, e);
    }
    std::tie(level.first_of_block, level.entry) = lists_of(slab.past - slab.first, entries);
}

/// The components of the next finer scale that are inside each component of this one.
void list_inside(const ComponentForest::Level& finer, const Numbering& below, const Numbering& numbering,
                 Level& level) {
    std::vector<std::pair<std::int32_t, std::int32_t>> children;
    std::vector<std::pair<std::int32_t, std::int32_t>> inside;
    Numbers next(level.first_entry.begin(), level.first_entry.end());
    for (std::size_t c = 0; c < finer.size.size(); ++c) {
        const std::int32_t child = below.here[c];
        if (child < 0) {
            continue;
        }
        const std::int32_t parent = numbering.here[finer.parent[c]];
        if (parent < level.narrow || below.wide[c] != 0) {
            children.emplace_back(parent, child);
            continue;
        }
        std::int32_t& entry = next[parent - level.narrow];
        while (level.block[entry] != below.block[c]) {
            ++entry;
        }
        inside.emplace_back(entry, child);
    }
    std::tie(level.first_child, level.children) = lists_of(level.count(), children);
    std::tie(level.first_inside, level.inside) = lists_of(std::ssize(level.block), inside);
}

} // namespace

ShiftForest::ShiftForest(const ComponentForest& forest, const BlockShares& shares, int place)
    : shares_(shares), place_(place), levels_(static_cast<std::size_t>(forest.scales())),
      slots_(static_cast<std::size_t>(shares.processes()), 0) {
    const BlockSlab slab = shares.slab(place);
    std::vector<Numbering> numbering(levels_.size());
    parallel_for(forest.scales(), [&](Index t) {
        numbering[t] = number_level(forest[t], slab, levels_[t]);
        list_places(forest[t], numbering[t], shares, slab, levels_[t]);
    });
    parallel_for(forest.scales(), [&](Index t) {
        Level& level = levels_[t];
        const auto& all = forest[t];
        for (Index j = slab.first_cell(); j < slab.first_cell() + slab.cells(); ++j) {
            level.component.push_back(numbering[t].here[all.component[j]]);
        }
        if (t + 1 < forest.scales()) {
            level.parent.resize(level.size.size());
            for (std::size_t c = 0; c < all.size.size(); ++c) {
                if (numbering[t].here[c] >= 0) {
                    level.parent[numbering[t].here[c]] = numbering[t + 1].here[all.parent[c]];
                }
            }
        }
        if (t > 0) {
            list_inside(forest[t - 1], numbering[t - 1], numbering[t], level);
        } else {
            level.first_child.assign(level.size.size() + 1, 0);
            level.first_inside.assign(level.block.size() + 1, 0);
        }
    });
    for (Level& level : levels_) {
        level.slots_before = slots_;
        for (const std::int32_t node : level.node) {
            ++slots_[shares.process_of_node[node]];
        }
    }
}

ShiftForest wide_alone(ShiftForest all) {
    std::vector<Index> narrow;
    for (const Level& level : all.levels_) {
        narrow.push_back(level.narrow);
    }
    const auto keep_last = [](Numbers& numbers, Index first, Index less) {
        numbers.erase(numbers.begin(), numbers.begin() + first);
        for (std::int32_t& number : numbers) {
            number -= static_cast<std::int32_t>(less);
        }
        numbers.shrink_to_fit();
    };
    for (Index t = 0; t < all.scales(); ++t) {
        Level& level = all.levels_[t];
        const std::int32_t children = level.first_child[narrow[t]]; // of narrow components
        keep_last(level.children, children, t > 0 ? narrow[t - 1] : 0);
        keep_last(level.first_child, narrow[t], children);
        keep_last(level.size, narrow[t], 0);
        if (t + 1 < all.scales()) {
            keep_last(level.parent, narrow[t], narrow[t + 1]);
        }
        level.narrow = 0;
        level.component = {};
        level.first_narrow.assign(level.first_narrow.size(), 0);
        level.first_inside.assign(level.block.size() + 1, 0);
        level.inside = {};
    }
    return all;
}

bool ShiftForest::has_wide() const {
    return std::any_of(levels_.begin(), levels_.end(), [](const Level& level) { return level.wide() > 0; });
}

} // namespace pnmf
