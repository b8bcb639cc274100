#pragma once

#include <pnmf/persistence/distances.hpp>
#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// An edge from i to j, i < j, with a whole number.
struct CocycleEdge {
    Index i = 0;
    Index j = 0;
    int value = 0;
};

/// A class of H1: it is there at every scale ε with birth ≤ ε < death.
struct Loop {
    double birth = 0.0;
    double death = 0.0;
    /// The edge at which the loop closes, of length `birth`.
    Index first = 0;
    Index last = 0;
    /// A cocycle on the edges no longer than ε, for each ε from birth to death: what it says of longer edges
    /// is to be left out. Coefficients are those modulo `cocycle_prime` nearest to 0.
    std::vector<CocycleEdge> cocycle;
};

/// Coefficients of cohomology are numbers modulo this prime.
inline constexpr int cocycle_prime = 47;

/// H1 persistence of the Vietoris–Rips filtration of n points: an n × n table of distances, symmetric, not
/// negative, zero diagonal. Loops by death − birth, largest first; those that die at birth are left out.
/// Equal distances are ordered by their ends, so the result is unique.
///
/// Cohomology with clearing and apparent pairs (Bauer 2021, J. Appl. Comput. Topol. 5:391), on edges alone:
/// an edge that is the longest of some triangle is paired with it at once, so that only edges of the relative
/// neighbourhood graph outside the spanning tree are reduced. Nothing happens beyond the smallest ε at which
/// a point is joined to all others. O(n²) memory; 2,000 points take seconds.
std::vector<Loop> h1_diagram(const Matrix& distances);

/// Points that are the farthest from those before them, beginning at `first`; no two at the same place.
std::vector<Index> farthest_points(const Points& points, Index first, Index count);

/// The points around a loop: its first edge, closed by the shortest way along shorter edges.
std::vector<Index> cycle_of(const Loop& loop, const Matrix& distances);

} // namespace pnmf
