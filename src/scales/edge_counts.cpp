#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/scales/scale_set.hpp>

#include "persistence/pair_bounds.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>

namespace pnmf {
namespace {

/// For each scale the pairs that count from it on: the first scale above their distance.
class FirstScale {
  public:
    FirstScale(const PairBounds& bounds, const std::vector<double>& epsilon)
        : bounds_(bounds), epsilon_(epsilon) {
        for (const double e : epsilon) {
            above_.push_back(bounds.key_above(e));
            below_.push_back(bounds.key_below(e));
        }
    }

    std::size_t size() const { return epsilon_.size() + 1; }

    /// The position of the first ε > distance(a, b), whose key is from lower to upper.
    Index of(Index a, Index b, double lower, double upper) const {
        // Not below a scale whose largest key is smaller; surely below one whose smallest key is larger.
        const auto first =
            std::lower_bound(above_.begin() + start(lower), above_.end(), lower) - above_.begin();
        if (first == static_cast<Index>(below_.size()) || below_[first] > upper) {
            return first;
        }
        const double d = bounds_.points().distance(a, b);
        return std::upper_bound(epsilon_.begin() + first, epsilon_.end(), d) - epsilon_.begin();
    }

  private:
    /// Most pairs are longer than every death: begin there.
    Index start(double lower) const {
        const auto last = static_cast<Index>(above_.size()) - 2;
        return last >= 0 && above_[last] < lower ? last : 0;
    }

    const PairBounds& bounds_;
    const std::vector<double>& epsilon_;
    std::vector<double> above_;
    std::vector<double> below_;
};

} // namespace

std::vector<Index> edge_counts(const Points& points, const std::vector<double>& epsilon) {
    require(std::is_sorted(epsilon.begin(), epsilon.end()), "scales must ascend");
    const Index n = points.count();
    const PairBounds bounds(points);
    const FirstScale first_scale(bounds, epsilon);
    std::vector<Index> cells(static_cast<std::size_t>(n));
    std::iota(cells.begin(), cells.end(), Index{0});
    const std::span<const Index> all(cells);

    std::vector<Index> counts(first_scale.size(), 0);
    std::mutex mutex; // whole numbers: the order of addition does not matter
    parallel_blocks(n, panel_cells, [&](Index begin, Index end) {
        std::vector<Index> mine(first_scale.size(), 0);
        PairBounds::Panel A;
        PairBounds::Panel B;
        Matrix lower;
        bounds.gather(all.subspan(begin, end - begin), B);
        for (Index first = 0; first < end; first += panel_cells) {
            bounds.gather(all.subspan(first, std::min(panel_cells, n - first)), A);
            bounds.lower_bounds(A, B, lower);
            for (Index b = 0; b < lower.cols(); ++b) {
                const Index pairs = std::min(lower.rows(), begin + b - first); // cells before this one
                for (Index a = 0; a < pairs; ++a) {
                    const double upper = lower(a, b) + A.width[a] + B.width[b];
                    ++mine[first_scale.of(first + a, begin + b, lower(a, b), upper)];
                }
            }
        }
        const std::lock_guard lock(mutex);
        std::transform(mine.begin(), mine.end(), counts.begin(), counts.begin(), std::plus<>());
    });
    counts.pop_back(); // pairs below no scale
    std::partial_sum(counts.begin(), counts.end(), counts.begin());
    return counts;
}

} // namespace pnmf
