// hnswlib's own loops for x86 define functions in its header and pick them at compile time; ours are Eigen's.
#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include "graphs/neighbor_candidates.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace pnmf {
namespace {

// Sides of the blocks of products: those of one cell stay in the cache while its list is filled.
constexpr Index cells_at_once = 256;
constexpr Index others_at_once = 1024;
// docs/decisions/0080-approximate-neighbours.md says what these give in recall and time.
constexpr std::size_t links = 32;
constexpr std::size_t breadth_when_building = 200;

/// The nearest of one cell so far.
class Shortlist {
  public:
    explicit Shortlist(Index count) : count_(static_cast<std::size_t>(count)) { found_.reserve(full()); }

    /// Others `first`, `first` + 1, … at these keys, smaller is nearer.
    void offer(Index first, const float* keys, Index size) {
        for (Index r = 0; r < size; ++r) {
            if (keys[r] < limit_) {
                found_.emplace_back(keys[r], static_cast<std::int32_t>(first + r));
                if (found_.size() == full()) {
                    shrink();
                }
            }
        }
    }

    void copy_to(std::vector<std::int32_t>& cells, Index without) {
        shrink();
        cells.clear();
        for (const auto& [key, cell] : found_) {
            if (cell != without) {
                cells.push_back(cell);
            }
        }
    }

  private:
    std::size_t full() const { return 2 * count_ + 64; }

    void shrink() {
        if (found_.size() > count_) {
            const auto last = found_.begin() + static_cast<std::ptrdiff_t>(count_) - 1;
            std::nth_element(found_.begin(), last, found_.end());
            limit_ = last->first;
            found_.resize(count_);
        }
    }

    std::size_t count_;
    float limit_ = std::numeric_limits<float>::infinity();
    std::vector<std::pair<float, std::int32_t>> found_;
};

float squared_distance(const void* a, const void* b, const void* dimension) {
    return approximate_squared_distance(static_cast<const float*>(a), static_cast<const float*>(b),
                                        *static_cast<const Index*>(dimension));
}

class IndexSpace final : public hnswlib::SpaceInterface<float> {
  public:
    explicit IndexSpace(Index dimension) : dimension_(dimension) {}
    std::size_t get_data_size() override { return static_cast<std::size_t>(dimension_ + 1) * sizeof(float); }
    hnswlib::DISTFUNC<float> get_dist_func() override { return squared_distance; }
    void* get_dist_func_param() override { return &dimension_; }

  private:
    Index dimension_;
};

} // namespace

void visit_screened_candidates(const SearchSpace& space, Index count, const CandidateVisitor& visit) {
    const Index n = space.vectors.cols();
    const DenseMatrix<float> V = space.vectors.topRows(space.dimension);
    // ‖a − b‖² − ‖Qᵀa‖² − ‖r_a‖² = ‖Qᵀb‖² + ‖r_b‖² − 2⟨Qᵀa, Qᵀb⟩: for one cell a these order the others b.
    const Vector own =
        (V.cast<double>().colwise().squaredNorm() + space.vectors.bottomRows<1>().cast<double>()).transpose();
    parallel_blocks(n, cells_at_once, [&](Index begin, Index end) {
        std::vector<Shortlist> lists(static_cast<std::size_t>(end - begin), Shortlist(count + 1));
        DenseMatrix<float> keys;
        for (Index first = 0; first < n; first += others_at_once) {
            const Index size = std::min(others_at_once, n - first);
            keys.resize(size, end - begin);
            multiply_transposed(V.middleCols(first, size), V.middleCols(begin, end - begin), keys);
            for (Index a = 0; a < end - begin; ++a) {
                keys.col(a) = own.segment(first, size).cast<float>() - 2.0F * keys.col(a);
                lists[a].offer(first, keys.col(a).data(), size);
            }
        }
        std::vector<std::int32_t> candidates;
        for (Index cell = begin; cell < end; ++cell) {
            lists[cell - begin].copy_to(candidates, cell);
            visit(cell, candidates);
        }
    });
}

void visit_indexed_candidates(const SearchSpace& space, Index count, std::uint64_t seed,
                              const CandidateVisitor& visit) {
    const Index n = space.vectors.cols();
    IndexSpace index_space(space.dimension);
    hnswlib::HierarchicalNSW<float> index(&index_space, static_cast<std::size_t>(n), links,
                                          breadth_when_building, seed);
    for (Index j = 0; j < n; ++j) {
        index.addPoint(space.vectors.col(j).data(), static_cast<hnswlib::labeltype>(j));
    }
    const auto wanted = static_cast<std::size_t>(std::min(n, count + 1));
    index.setEf(wanted);
    parallel_blocks(n, 64, [&](Index begin, Index end) {
        std::vector<std::int32_t> candidates;
        for (Index j = begin; j < end; ++j) {
            candidates.clear();
            for (auto found = index.searchKnn(space.vectors.col(j).data(), wanted); !found.empty();
                 found.pop()) {
                if (const auto i = static_cast<Index>(found.top().second); i != j) {
                    candidates.push_back(static_cast<std::int32_t>(i));
                }
            }
            visit(j, candidates);
        }
    });
}

} // namespace pnmf
