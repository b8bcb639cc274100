#include "persistence/distinct_cells.hpp"

#include <pnmf/parallel.hpp>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <unordered_map>

namespace pnmf {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29U);
}

std::uint64_t bits(double value) {
    value += 0.0; // −0 becomes 0
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

} // namespace

/// The coordinates of a cell as a number, and whether two cells have the same.
class CellComparison {
  public:
    explicit CellComparison(const Points& points) : points_(points) {}

    std::uint64_t hash(Index cell) const {
        std::uint64_t hash = 1;
        if (points_.is_sparse_) {
            const SparseView<double> X = points_.columns();
            for (auto e = stored(X, cell, X.start[cell]); e < X.start[cell + 1]; e = stored(X, cell, e + 1)) {
                hash = mix(mix(hash, static_cast<std::uint64_t>(X.row[e])), bits(X.value[e]));
            }
            return hash;
        }
        for (const double value : points_.dense().col(cell)) {
            hash = mix(hash, bits(value));
        }
        return hash;
    }

    bool equal(Index a, Index b) const {
        if (points_.is_sparse_) {
            const SparseView<double> X = points_.columns();
            auto e = stored(X, a, X.start[a]);
            auto f = stored(X, b, X.start[b]);
            while (e < X.start[a + 1] && f < X.start[b + 1]) {
                if (X.row[e] != X.row[f] || X.value[e] != X.value[f]) {
                    return false;
                }
                e = stored(X, a, e + 1);
                f = stored(X, b, f + 1);
            }
            return e == X.start[a + 1] && f == X.start[b + 1];
        }
        return points_.dense().col(a) == points_.dense().col(b);
    }

    bool has_coordinates() const { return points_.kind_ != Points::Kind::table; }

  private:
    /// The first entry of a cell from e on that is not 0: zeros may be stored.
    static std::int64_t stored(const SparseView<double>& X, Index cell, std::int64_t e) {
        while (e < X.start[cell + 1] && X.value[e] == 0.0) {
            ++e;
        }
        return e;
    }

    const Points& points_;
};

std::vector<Index> first_equal_cells(const Points& points) {
    const Index n = points.count();
    std::vector<Index> first(static_cast<std::size_t>(n));
    std::iota(first.begin(), first.end(), Index{0});
    const CellComparison cells(points);
    if (!cells.has_coordinates()) {
        return first;
    }
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(n));
    parallel_for(n, [&](Index cell) { hashes[cell] = cells.hash(cell); });
    std::unordered_multimap<std::uint64_t, Index> seen;
    seen.reserve(static_cast<std::size_t>(n));
    for (Index cell = 0; cell < n; ++cell) {
        const auto [begin, end] = seen.equal_range(hashes[cell]);
        bool found = false;
        for (auto entry = begin; entry != end && !found; ++entry) {
            if (cells.equal(entry->second, cell)) {
                first[cell] = entry->second;
                found = true;
            }
        }
        if (!found) {
            seen.emplace(hashes[cell], cell);
        }
    }
    return first;
}

} // namespace pnmf
