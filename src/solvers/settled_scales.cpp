#include "solvers/settled_scales.hpp"

#include <algorithm>
#include <numeric>

namespace pnmf {
namespace {

FrozenChange change_of(const std::vector<Index>& order, const FrozenScales& frozen,
                       const std::vector<double>& share, const std::vector<char>& may_freeze,
                       double most_freezing) {
    constexpr double most_frozen = 0.2;
    FrozenChange change;
    double sum = 0.0;
    for (const Index t : order) {
        if (is_frozen(frozen, t)) {
            if (sum + share[t] <= most_frozen) {
                sum += share[t];
            } else {
                change.wake.push_back(t);
            }
        } else if (may_freeze[t] != 0 && sum + share[t] <= most_freezing) {
            sum += share[t];
            change.freeze.push_back(t);
        }
    }
    return change;
}

} // namespace

FrozenChange settled_scales(const FrozenScales& frozen, const std::vector<double>& share,
                            const std::vector<char>& at_rest, double most_freezing) {
    constexpr std::ptrdiff_t worth = 4; // a quarter of those that move
    std::vector<Index> order(share.size());
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return share[a] < share[b]; });
    const auto moving = std::count(frozen.begin(), frozen.end(), char{0});
    const FrozenChange change = change_of(order, frozen, share, at_rest, most_freezing);
    if (worth * std::ssize(change.freeze) >= moving) {
        return change;
    }
    return change_of(order, frozen, share, std::vector<char>(share.size(), 0), most_freezing);
}

} // namespace pnmf
