#pragma once

#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/shift_forest.hpp"
#include "devices/ranks/halo.hpp"
#include "solvers/frozen_scales.hpp"

#include <pnmf/graphs/sparse_graph.hpp>
#include <pnmf/model/problem.hpp>

#include <vector>

namespace pnmf::test {

/// Bytes that each rank sends in one sweep, by the formula of docs/ranks.md, whose letters these are. The
/// graph must be one of neighbours. `devices`: of ranks that each have one.
template <class Real>
std::vector<Index> sweep_bytes(const Problem<Real>& problem, Index d, const BlockShares& shares, Index E,
                               const FrozenScales& frozen = {}, bool devices = false) {
    const Index N = shares.ranks();
    const Index T = problem.scales();
    const Index M = std::ssize(moving_scales(frozen, T));
    const Index p = problem.features();
    const Index s = sizeof(Real);
    const ComponentForest forest(problem.graph->tree(), problem.epsilon);
    const auto& graph = dynamic_cast<const SparseMultiscaleGraph&>(*problem.graph);
    std::vector<Index> bytes;
    for (int r = 0; r < N; ++r) {
        const Index m = std::ssize(shares.nodes_of(r));
        const Index w = ShiftForest(forest, shares, r).slots()[static_cast<std::size_t>(r)];
        const Halo halo(graph, problem.epsilon, shares, r);
        Index o = 0;
        Index h = 0;
        for (const Index t : moving_scales(frozen, T)) {
            o += t % N == r ? 1 : 0;
            h += halo.sent(t);
        }
        const Index sums = (M - o) * m * (p * d + d * d) * s;
        const Index bases = sums + o * (N - 1) * ((p * d + (devices ? 0 : d * d)) * s + 16);
        const Index products = (E + 1) * d * s * h;
        const Index shifts = E * (N - 1) * (16 * d * w + d * (24 * w + 16 * m * T));
        const Index measures =
            r == 0 ? (devices ? 64 : 48) * (N - 1) * T : 8 * T * m * (devices ? 8 : 7 + d * d);
        bytes.push_back(bases + products + shifts + measures);
    }
    return bytes;
}

} // namespace pnmf::test
