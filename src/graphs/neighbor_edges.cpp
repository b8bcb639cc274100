// hnswlib's own loops for x86 define functions in its header and pick them at compile time; ours are Eigen's.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <pnmf/error.hpp>
#include <pnmf/graphs/neighbor_edges.hpp>
#include <pnmf/linalg/gemm.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/persistence/neighbors.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace pnmf {
namespace {

// docs/decisions/0041-approximate-neighbours.md says what these give in recall and time.
constexpr Index largest_dimension = 256; // of the vectors searched; more features are projected
constexpr std::size_t links = 16;
constexpr std::size_t breadth_when_building = 200;
constexpr Index least_candidates = 100;
constexpr Index candidates_per_neighbor = 5;
constexpr Index sample_size = 200;

using Candidate = std::pair<double, Index>; // distance, cell

float squared_distance(const void* a, const void* b, const void* dimension) {
    using Row = Eigen::Map<const Eigen::ArrayXf>;
    const auto length = static_cast<Index>(*static_cast<const std::size_t*>(dimension));
    return (Row(static_cast<const float*>(a), length) - Row(static_cast<const float*>(b), length))
        .square()
        .sum();
}

/// Squared Euclidean distance in float.
class FloatSpace final : public hnswlib::SpaceInterface<float> {
  public:
    explicit FloatSpace(Index dimension) : dimension_(static_cast<std::size_t>(dimension)) {}
    std::size_t get_data_size() override { return dimension_ * sizeof(float); }
    hnswlib::DISTFUNC<float> get_dist_func() override { return squared_distance; }
    void* get_dist_func_param() override { return &dimension_; }

  private:
    std::size_t dimension_;
};

/// The cells in at most `largest_dimension` coordinates, as columns: as they are, or by a random Gaussian
/// projection, which keeps distances in proportion up to a few percent.
DenseMatrix<float> search_vectors(const Points& points, std::uint64_t seed) {
    const Index n = points.count();
    const Index p = points.dimensions();
    const Index dimension = std::min(p, largest_dimension);
    Matrix projection;
    if (p > dimension) {
        Random random(seed);
        projection = Matrix::NullaryExpr(dimension, p, [&] { return random.normal(); });
        projection /= std::sqrt(static_cast<double>(dimension));
    }
    DenseMatrix<float> vectors(dimension, n);
    parallel_blocks(n, 64, [&](Index begin, Index end) {
        Matrix cells(p, end - begin);
        for (Index j = begin; j < end; ++j) {
            points.coordinates(j, cells.col(j - begin));
        }
        if (p > dimension) {
            Matrix projected(dimension, end - begin);
            multiply(projection, cells, projected);
            cells = std::move(projected);
        }
        vectors.middleCols(begin, end - begin) = cells.cast<float>();
    });
    return vectors;
}

/// The k nearest among candidate cells by canonical distance, equal ones by the smaller cell.
void keep_nearest(std::vector<Candidate>& candidates, Index k) {
    const auto kept = std::min(candidates.size(), static_cast<std::size_t>(k));
    std::partial_sort(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(kept),
                      candidates.end());
    candidates.resize(kept);
}

/// For each cell its k nearest, as far as the search finds them.
std::vector<std::vector<Candidate>> approximate_neighbors(const Points& points, Index k, std::uint64_t seed) {
    const Index n = points.count();
    const DenseMatrix<float> vectors = search_vectors(points, seed);
    FloatSpace space(vectors.rows());
    hnswlib::HierarchicalNSW<float> index(&space, static_cast<std::size_t>(n), links, breadth_when_building,
                                          seed);
    for (Index j = 0; j < n; ++j) {
        index.addPoint(vectors.col(j).data(), static_cast<hnswlib::labeltype>(j));
    }
    const Index wanted = std::min(n, 1 + std::max(least_candidates, candidates_per_neighbor * k));
    index.setEf(static_cast<std::size_t>(wanted));

    std::vector<std::vector<Candidate>> nearest(static_cast<std::size_t>(n));
    parallel_blocks(n, 64, [&](Index begin, Index end) {
        for (Index j = begin; j < end; ++j) {
            auto found = index.searchKnn(vectors.col(j).data(), static_cast<std::size_t>(wanted));
            for (; !found.empty(); found.pop()) {
                const auto i = static_cast<Index>(found.top().second);
                if (i != j) {
                    nearest[j].emplace_back(points.distance(j, i), i);
                }
            }
            keep_nearest(nearest[j], k);
        }
    });
    return nearest;
}

/// Share of the true k nearest neighbours that were found, over the sampled cells. A cell as near as the k-th
/// nearest is a true neighbour, whichever of equals was taken.
double measured_recall(const Points& points, const std::vector<std::vector<Candidate>>& nearest, Index k,
                       const std::vector<Index>& sample) {
    std::vector<Index> found(sample.size(), 0);
    parallel_for(static_cast<Index>(sample.size()), [&](Index s) {
        const Index j = sample[s];
        Vector distances(points.count());
        points.distances_from(j, distances);
        distances[j] = distances[points.count() - 1]; // the cell itself is no neighbour
        double* const first = distances.data();
        std::nth_element(first, first + k - 1, first + points.count() - 1);
        const double radius = first[k - 1];
        found[s] = std::count_if(nearest[j].begin(), nearest[j].end(),
                                 [&](const Candidate& candidate) { return candidate.first <= radius; });
    });
    const Index total = std::accumulate(found.begin(), found.end(), Index{0});
    return static_cast<double>(total) / static_cast<double>(k * static_cast<Index>(sample.size()));
}

/// `count` of n cells, drawn without repetition (the first steps of a shuffle).
std::vector<Index> sample_of_cells(Index n, Index count, std::uint64_t seed) {
    std::vector<Index> cells(static_cast<std::size_t>(n));
    std::iota(cells.begin(), cells.end(), Index{0});
    Random random = Random(seed).fork(1);
    for (Index s = 0; s < count; ++s) {
        std::swap(cells[s], cells[s + random.below(n - s)]);
    }
    cells.resize(static_cast<std::size_t>(count));
    return cells;
}

std::vector<Edge> distinct_edges(std::vector<Edge> edges) {
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    return edges;
}

Edge edge_between(Index i, Index j, double length) {
    return {length, std::min(i, j), std::max(i, j)};
}

NeighborEdges exact_edges(const Points& points, Index k) {
    const Neighbors neighbors = exact_neighbors(points, k);
    std::vector<Edge> edges;
    edges.reserve(static_cast<std::size_t>(k * points.count()));
    for (Index j = 0; j < points.count(); ++j) {
        for (Index r = 0; r < k; ++r) {
            edges.push_back(edge_between(j, neighbors.index(r, j), neighbors.distance(r, j)));
        }
    }
    NeighborEdges result;
    result.edges = distinct_edges(std::move(edges));
    return result;
}

NeighborEdges approximate_edges(const Points& points, Index k, std::uint64_t seed) {
    const Index n = points.count();
    const auto nearest = approximate_neighbors(points, k, seed);
    std::vector<Edge> edges;
    edges.reserve(static_cast<std::size_t>(k * n));
    for (Index j = 0; j < n; ++j) {
        for (const auto& [length, i] : nearest[j]) {
            edges.push_back(edge_between(i, j, length));
        }
    }
    NeighborEdges result;
    result.search = NeighborSearch::approximate;
    result.edges = distinct_edges(std::move(edges));
    const std::vector<Index> sample = sample_of_cells(n, std::min(n, sample_size), seed);
    result.sampled = static_cast<Index>(sample.size());
    result.recall = measured_recall(points, nearest, k, sample);
    return result;
}

} // namespace

NeighborEdges neighbor_edges(const Points& points, const NeighborOptions& options) {
    const Index n = points.count();
    const Index k = options.neighbors;
    require(k >= 1 && k < n, "the number of neighbours must be at least 1 and less than the {} cells, got {}",
            n, k);
    const bool have_coordinates = points.dimensions() > 0;
    require(options.search != NeighborSearch::approximate || have_coordinates,
            "an approximate search of neighbours needs coordinates, but only distances were given");
    const bool approximate =
        options.search == NeighborSearch::approximate ||
        (options.search == NeighborSearch::automatic && have_coordinates && n > largest_exact_search);
    return approximate ? approximate_edges(points, k, options.seed) : exact_edges(points, k);
}

} // namespace pnmf
