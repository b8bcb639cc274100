#include "devices/cpu/component_shifts.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/persistence/diagram.hpp>

#include <numeric>

namespace pnmf {
namespace {

/// By counting: first_child ends as the sums of the numbers of children before each component.
void list_children(const std::vector<std::int32_t>& parent, ComponentForest::Level& level) {
    level.first_child.assign(level.size.size() + 1, 0);
    for (const std::int32_t c : parent) {
        ++level.first_child[c + 1];
    }
    std::partial_sum(level.first_child.begin(), level.first_child.end(), level.first_child.begin());
    level.children.resize(parent.size());
    std::vector<std::int32_t> next(level.first_child.begin(), level.first_child.end() - 1);
    for (std::size_t c = 0; c < parent.size(); ++c) {
        level.children[next[parent[c]]++] = static_cast<std::int32_t>(c);
    }
}

} // namespace

ComponentForest::ComponentForest(const SpanningTree& tree, const std::vector<double>& epsilon)
    : levels_(epsilon.size()) {
    parallel_for(scales(), [&](Index t) {
        Level& level = levels_[t];
        const std::vector<Index> of_cells = components(tree, epsilon[t]);
        level.component.assign(of_cells.begin(), of_cells.end());
        level.size.assign(static_cast<std::size_t>(component_count(of_cells)), 0);
        for (const std::int32_t c : level.component) {
            ++level.size[c];
        }
    });
    for (Index t = 0; t + 1 < scales(); ++t) {
        levels_[t].parent.resize(levels_[t].size.size());
        for (std::size_t j = 0; j < levels_[t].component.size(); ++j) {
            levels_[t].parent[levels_[t].component[j]] = levels_[t + 1].component[j];
        }
        list_children(levels_[t].parent, levels_[t + 1]);
    }
    if (!levels_.empty()) {
        levels_.front().first_child.assign(levels_.front().size.size() + 1, 0);
    }
}

} // namespace pnmf
