#include <pnmf/metrics/scoring.hpp>

#include "words.hpp"

#include <pnmf/error.hpp>

#include <map>
#include <set>

namespace pnmf {
namespace {

using Names = std::vector<std::string>;

/// All ways to read pieces[first …], joined by "+", as known labels joined by "+".
void readings(const Names& pieces, std::size_t first, const std::set<std::string>& known, Names& so_far,
              std::vector<Names>& found) {
    if (first == pieces.size()) {
        found.push_back(so_far);
        return;
    }
    std::string name;
    for (std::size_t last = first; last < pieces.size() && found.size() < 2; ++last) {
        if (last > first) {
            name += '+';
        }
        name += pieces[last];
        if (known.contains(name)) {
            so_far.push_back(name);
            readings(pieces, last + 1, known, so_far, found);
            so_far.pop_back();
        }
    }
}

} // namespace

std::vector<std::string> merge_labels(const std::vector<std::string>& labels, const std::string& groups) {
    const std::set<std::string> known(labels.begin(), labels.end());
    std::map<std::string, std::string> merged;
    for (const std::string& group : split_at(groups, ',')) {
        std::vector<Names> found;
        Names so_far;
        readings(split_at(group, '+'), 0, known, so_far, found);
        if (found.empty()) {
            fail("\"{}\" does not join labels of the cells by +; the labels are {}", group,
                 fmt::join(known, ", "));
        }
        require(found.size() == 1, "\"{}\" can be read as labels joined by + in more than one way", group);
        for (const std::string& name : found.front()) {
            require(merged.try_emplace(name, group).second, "the label \"{}\" is merged twice", name);
        }
    }
    std::vector<std::string> result;
    result.reserve(labels.size());
    for (const std::string& label : labels) {
        const auto place = merged.find(label);
        result.push_back(place == merged.end() ? label : place->second);
    }
    return result;
}

} // namespace pnmf
