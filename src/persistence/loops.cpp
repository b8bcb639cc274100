#include "persistence/loops.hpp"
#include "persistence/union_find.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <unordered_map>

namespace pnmf {
namespace {

constexpr int prime = cocycle_prime;

/// A triangle, ordered as the filtration is: by its longest edge, then by the corner opposite to it.
using Triangle = std::uint64_t;
constexpr Triangle no_triangle = std::numeric_limits<Triangle>::max();

/// Edges by their place in the order of length, up to the length at which one point is joined to all.
class OrderedEdges {
  public:
    explicit OrderedEdges(const Matrix& distances) : points_(distances.rows()) {
        const double reach = points_ > 0 ? distances.colwise().maxCoeff().minCoeff() : 0.0;
        for (Index j = 0; j < points_; ++j) {
            for (Index i = 0; i < j; ++i) {
                if (distances(i, j) <= reach) {
                    ends_.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
                }
            }
        }
        std::sort(ends_.begin(), ends_.end(), [&](const Ends& a, const Ends& b) {
            const double x = distances(a[0], a[1]);
            const double y = distances(b[0], b[1]);
            return x != y ? x < y : a < b;
        });
        place_.setConstant(points_, points_, absent);
        for (std::size_t e = 0; e < ends_.size(); ++e) {
            place_(ends_[e][0], ends_[e][1]) = static_cast<std::uint32_t>(e);
            place_(ends_[e][1], ends_[e][0]) = static_cast<std::uint32_t>(e);
        }
    }

    using Ends = std::array<std::uint32_t, 2>; ///< the smaller one first

    Index points() const { return points_; }
    std::uint32_t count() const { return static_cast<std::uint32_t>(ends_.size()); }
    const Ends& ends(std::uint32_t edge) const { return ends_[edge]; }

    /// The triangle that is born with this edge and is the first of those; `no_triangle`: none is.
    Triangle apparent(std::uint32_t edge) const {
        const auto [i, j] = ends_[edge];
        const std::uint32_t* const of_i = place_.col(i).data();
        const std::uint32_t* const of_j = place_.col(j).data();
        for (Index v = 0; v < points_; ++v) {
            if (of_i[v] < edge && of_j[v] < edge) {
                return key(edge, v);
            }
        }
        return no_triangle;
    }

    std::uint32_t longest(Triangle triangle) const {
        return static_cast<std::uint32_t>(triangle / static_cast<Triangle>(points_));
    }

    /// Calls `use(triangle, sign)` for each triangle that the edge is a side of.
    template <class Use>
    void coboundary(std::uint32_t edge, const Use& use) const {
        const auto [i, j] = ends_[edge];
        const std::uint32_t* const of_i = place_.col(i).data();
        const std::uint32_t* const of_j = place_.col(j).data();
        for (std::uint32_t v = 0; v < static_cast<std::uint32_t>(points_); ++v) {
            const std::uint32_t a = of_i[v];
            const std::uint32_t b = of_j[v];
            if (a == absent || b == absent) {
                continue; // too long, or v is an end of the edge
            }
            const int sign = v > i && v < j ? -1 : 1;
            if (a > b) {
                use(a > edge ? key(a, j) : key(edge, v), sign);
            } else {
                use(b > edge ? key(b, i) : key(edge, v), sign);
            }
        }
    }

  private:
    static constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

    Triangle key(std::uint32_t longest, Index opposite) const {
        return static_cast<Triangle>(longest) * static_cast<Triangle>(points_) +
               static_cast<Triangle>(opposite);
    }

    Index points_;
    std::vector<Ends> ends_;
    DenseMatrix<std::uint32_t> place_;
};

int inverse(int value) {
    int result = 1;
    for (int power = prime - 2; power > 0; power /= 2, value = value * value % prime) {
        result = power % 2 == 1 ? result * value % prime : result;
    }
    return result;
}

/// Reduces the coboundaries of edges, the last edge first.
class Reduction {
  public:
    explicit Reduction(const OrderedEdges& edges) : edges_(edges) {}

    struct Term {
        std::uint32_t edge = 0;
        int value = 0; ///< 1 … prime − 1
    };
    /// The triangle at which the class that begins with the edge ends, and the sum of edges that is its
    /// cocycle.
    struct Column {
        Triangle pivot = no_triangle;
        std::vector<Term> terms;
    };

    const Column& reduce(std::uint32_t edge) {
        heap_.clear();
        Column column{.terms = {{edge, 1}}};
        push(edge, 1);
        std::make_heap(heap_.begin(), heap_.end(), later);
        for (Entry top = pop(); top.value != 0; top = pop()) {
            if (const auto owner = owner_.find(top.triangle); owner != owner_.end()) {
                const Column& other = done_[owner->second];
                add(column, other.terms,
                    prime - top.value * inverse(other_pivot_value_[owner->second]) % prime, top);
                continue;
            }
            const std::uint32_t longest = edges_.longest(top.triangle);
            if (edges_.apparent(longest) == top.triangle) {
                const int sign = sign_in(longest, top.triangle);
                const std::vector<Term> alone{{longest, 1}};
                add(column, alone, sign == 1 ? prime - top.value : top.value, top);
                continue;
            }
            column.pivot = top.triangle;
            owner_.emplace(top.triangle, done_.size());
            other_pivot_value_.push_back(top.value);
            break;
        }
        if (column.pivot == no_triangle) {
            other_pivot_value_.push_back(0);
        }
        gather(column.terms);
        done_.push_back(std::move(column));
        return done_.back();
    }

  private:
    struct Entry {
        Triangle triangle = no_triangle;
        int value = 0;
    };
    static bool later(const Entry& a, const Entry& b) { return a.triangle > b.triangle; }

    void push(std::uint32_t edge, int factor) {
        edges_.coboundary(edge, [&](Triangle triangle, int sign) {
            heap_.push_back({triangle, sign == 1 ? factor : prime - factor});
        });
    }

    int sign_in(std::uint32_t edge, Triangle triangle) const {
        const auto [i, j] = edges_.ends(edge);
        const auto v = static_cast<std::uint32_t>(triangle % static_cast<Triangle>(edges_.points()));
        return v > i && v < j ? -1 : 1;
    }

    /// The first triangle with a value other than 0, taken out.
    Entry pop() {
        while (!heap_.empty()) {
            Entry sum{heap_.front().triangle, 0};
            while (!heap_.empty() && heap_.front().triangle == sum.triangle) {
                sum.value += heap_.front().value;
                std::pop_heap(heap_.begin(), heap_.end(), later);
                heap_.pop_back();
            }
            sum.value %= prime;
            if (sum.value != 0) {
                return sum;
            }
        }
        return {};
    }

    /// Adds a multiple of another column; `top`, taken out before, is put back so that it cancels.
    void add(Column& column, const std::vector<Term>& terms, int factor, const Entry& top) {
        std::size_t from = heap_.size();
        heap_.push_back(top);
        for (const Term& term : terms) {
            const int value = term.value * factor % prime;
            column.terms.push_back({term.edge, value});
            push(term.edge, value);
        }
        if (heap_.size() - from > from / 8) {
            std::make_heap(heap_.begin(), heap_.end(), later);
            return;
        }
        while (from < heap_.size()) {
            ++from;
            std::push_heap(heap_.begin(), heap_.begin() + static_cast<std::ptrdiff_t>(from), later);
        }
    }

    /// One term for each edge.
    static void gather(std::vector<Term>& terms) {
        std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.edge < b.edge; });
        std::vector<Term> gathered;
        for (const Term& term : terms) {
            if (!gathered.empty() && gathered.back().edge == term.edge) {
                gathered.back().value = (gathered.back().value + term.value) % prime;
            } else {
                gathered.push_back(term);
            }
        }
        std::erase_if(gathered, [](const Term& term) { return term.value == 0; });
        terms = std::move(gathered);
    }

    const OrderedEdges& edges_;
    std::vector<Entry> heap_;
    std::vector<Column> done_;
    std::vector<int> other_pivot_value_;
    std::unordered_map<Triangle, std::size_t> owner_;
};

/// Edges that may begin a loop, the last first: not of the spanning tree, and longest in no triangle.
std::vector<std::uint32_t> first_edges(const OrderedEdges& edges) {
    constexpr Index block = 4096;
    std::vector<char> begins(edges.count(), 0);
    parallel_blocks(edges.count(), block, [&](Index begin, Index end) {
        for (Index e = begin; e < end; ++e) {
            const auto edge = static_cast<std::uint32_t>(e);
            begins[edge] = edges.apparent(edge) == no_triangle ? 1 : 0;
        }
    });
    std::vector<std::uint32_t> found;
    UnionFind sets(edges.points());
    for (std::uint32_t edge = 0; edge < edges.count(); ++edge) {
        if (begins[edge] != 0 && !sets.join(edges.ends(edge)[0], edges.ends(edge)[1])) {
            found.push_back(edge);
        }
    }
    std::reverse(found.begin(), found.end());
    return found;
}

void check_table(const Matrix& distances) {
    require(distances.rows() == distances.cols(), "a table of distances must be square, it is {} x {}",
            distances.rows(), distances.cols());
    constexpr Index most = 65'536; // pairs are counted by 32 bits
    require(distances.rows() <= most, "loops of at most {} points can be found, there are {}: take landmarks",
            most, distances.rows());
    for (Index j = 0; j < distances.cols(); ++j) {
        for (Index i = 0; i <= j; ++i) {
            const double d = distances(i, j);
            require(std::isfinite(d) && d >= 0.0 && d == distances(j, i) && (i != j || d == 0.0),
                    "distances must be finite, not negative, symmetric, and 0 between a point and itself: "
                    "they are {} and {} between points {} and {}",
                    d, distances(j, i), i, j);
        }
    }
}

} // namespace

std::vector<Loop> h1_diagram(const Matrix& distances) {
    check_table(distances);
    const OrderedEdges edges(distances);
    Reduction reduction(edges);
    const auto length = [&](std::uint32_t edge) {
        return distances(edges.ends(edge)[0], edges.ends(edge)[1]);
    };
    std::vector<Loop> loops;
    for (const std::uint32_t edge : first_edges(edges)) {
        const Reduction::Column& column = reduction.reduce(edge);
        // Every loop is filled by the time one point is joined to all others.
        const double death = length(edges.longest(column.pivot));
        if (!(death > length(edge))) {
            continue;
        }
        Loop loop{.birth = length(edge),
                  .death = death,
                  .first = edges.ends(edge)[0],
                  .last = edges.ends(edge)[1],
                  .cocycle = {}};
        for (const Reduction::Term& term : column.terms) {
            const auto [i, j] = edges.ends(term.edge);
            loop.cocycle.push_back(
                {.i = i, .j = j, .value = term.value > prime / 2 ? term.value - prime : term.value});
        }
        loops.push_back(std::move(loop));
    }
    std::stable_sort(loops.begin(), loops.end(),
                     [](const Loop& a, const Loop& b) { return a.death - a.birth > b.death - b.birth; });
    return loops;
}

std::vector<Index> farthest_points(const Points& points, Index first, Index count) {
    std::vector<Index> chosen;
    Vector away = Vector::Constant(points.count(), std::numeric_limits<double>::infinity());
    Vector distances(points.count());
    Index next = first;
    while (std::ssize(chosen) < std::min(count, points.count()) && away[next] > 0.0) {
        chosen.push_back(next);
        points.distances_from(next, distances);
        away = away.cwiseMin(distances);
        away.maxCoeff(&next);
    }
    return chosen;
}

std::vector<Index> cycle_of(const Loop& loop, const Matrix& distances) {
    const Index n = distances.rows();
    Vector way = Vector::Constant(n, std::numeric_limits<double>::infinity());
    std::vector<Index> from(static_cast<std::size_t>(n), -1);
    std::vector<char> done(static_cast<std::size_t>(n), 0);
    way[loop.first] = 0.0;
    const auto is_earlier = [&](double length, Index a, Index b) { // in the order of edges
        const auto [i, j] = std::minmax(a, b);
        return length != loop.birth ? length < loop.birth
                                    : std::pair(i, j) < std::pair(loop.first, loop.last);
    };
    for (Index step = 0; step < n; ++step) {
        Index next = -1;
        for (Index v = 0; v < n; ++v) {
            if (done[static_cast<std::size_t>(v)] == 0 && std::isfinite(way[v]) &&
                (next < 0 || way[v] < way[next])) {
                next = v;
            }
        }
        if (next < 0 || next == loop.last) {
            break;
        }
        done[static_cast<std::size_t>(next)] = 1;
        for (Index v = 0; v < n; ++v) {
            const double length = distances(next, v);
            if (v != next && is_earlier(length, next, v) && way[next] + length < way[v]) {
                way[v] = way[next] + length;
                from[static_cast<std::size_t>(v)] = next;
            }
        }
    }
    std::vector<Index> cycle;
    for (Index v = loop.last; v >= 0; v = from[static_cast<std::size_t>(v)]) {
        cycle.push_back(v);
    }
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

} // namespace pnmf
