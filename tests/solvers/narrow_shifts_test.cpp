#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/level_sums.hpp"
#include "solvers/large_problem.hpp"
#include "support/thread_ranks.hpp"

#include <algorithm>

namespace pnmf::test {
namespace {

/// Narrow components held apart, as a device would, and solved for in the plainest way.
class PlainNarrow final : public NarrowShifts {
  public:
    PlainNarrow(const std::vector<ScalePenalty>& penalties, const ShiftForest& forest,
                const std::vector<ScaleProducts<double>>& products, std::vector<ShiftBuffer::Level>& sums)
        : penalties_(penalties), forest_(forest), products_(products), sums_(sums),
          eliminated_(static_cast<std::size_t>(forest.scales())) {}

    void begin(Index, Index) override {}

    void eliminate(Index k) override {
        for (Index t = 0; t < forest_.scales(); ++t) {
            eliminated_[t].resize(static_cast<std::size_t>(forest_[t].narrow));
            for (Index c = 0; c < forest_[t].narrow; ++c) {
                const double size = forest_[t].size[c];
                for (Index l = 0; l < k; ++l) {
                    sums_[t].gradient(c, k) += size * products_[t].WtW(l, k) * sums_[t].shift(c, l);
                }
                HandedOn& here = eliminated_[t][c];
                here = {(own(t, k) + penalties_[t].after) * size, -sums_[t].gradient(c, k)};
                for (auto e = forest_[t].first_child[c]; e < forest_[t].first_child[c + 1]; ++e) {
                    here += handed_by(t - 1, forest_[t].children[e]);
                }
            }
        }
    }

    HandedOn handed(Index t, Index entry) const override {
        HandedOn sum;
        for (auto i = forest_[t].first_inside[entry]; i < forest_[t].first_inside[entry + 1]; ++i) {
            sum += handed_by(t - 1, forest_[t].inside[i]);
        }
        return sum;
    }

    void substitute(Index k, const std::vector<ShiftBuffer::Level>& wide) override {
        along_.assign(static_cast<std::size_t>(forest_.scales()), {});
        for (Index t = forest_.scales() - 1; t >= 0; --t) {
            const auto& level = forest_[t];
            along_[t].resize(level.first_narrow.size() - 1);
            for (std::size_t b = 0; b < along_[t].size(); ++b) {
                for (Index c = level.first_narrow[b]; c < level.first_narrow[b + 1]; ++c) {
                    const bool has_parent = t + 1 < forest_.scales();
                    const double parent = has_parent ? shift_of(t + 1, level.parent[c], k, wide) : 0.0;
                    const double after = has_parent ? penalties_[t].after : 0.0;
                    const double free =
                        (eliminated_[t][c].right + after * level.size[c] * parent) / eliminated_[t][c].pivot;
                    const double a = std::max(free, -sums_[t].least(c, k));
                    sums_[t].shift(c, k) = a;
                    along_[t][b] +=
                        {sums_[t].gradient(c, k) * a,
                         level.size[c] * (own(t, k) * a * a + after * (a - parent) * (a - parent))};
                }
            }
        }
    }

    ShiftQuadratic along(Index t, Index block) const override { return along_[t][block]; }

    void shorten(Index k, double length) override {
        for (Index t = 0; t < forest_.scales(); ++t) {
            sums_[t].shift.col(k).head(forest_[t].narrow) *= length;
        }
    }

  private:
    double own(Index t, Index k) const { return products_[t].WtW(k, k) + penalties_[t].anchor; }

    HandedOn handed_by(Index t, Index c) const {
        const double coupling = penalties_[t + 1].before * forest_[t].size[c];
        const double ratio = coupling / eliminated_[t][c].pivot;
        return {coupling * (1.0 - ratio), eliminated_[t][c].right * ratio};
    }

    double shift_of(Index t, Index c, Index k, const std::vector<ShiftBuffer::Level>& wide) const {
        return c < forest_[t].narrow ? sums_[t].shift(c, k) : wide[t].shift(c - forest_[t].narrow, k);
    }

    const std::vector<ScalePenalty>& penalties_;
    const ShiftForest& forest_;
    const std::vector<ScaleProducts<double>>& products_;
    std::vector<ShiftBuffer::Level>& sums_;
    std::vector<std::vector<HandedOn>> eliminated_;
    std::vector<std::vector<ShiftQuadratic>> along_; ///< of each block
};

/// Shifts of narrow components by this rank's twin and of wide ones by the code of all ranks.
void expect_shifts_of_the_cpu(const BodyProblem<double>& made, const BlockShares& shares, Processes& ranks) {
    const Problem<double>& problem = made.problem;
    const std::vector<ScalePenalty> penalties = scale_penalties(problem);
    const ShiftForest forest(ComponentForest(problem.graph->tree(), problem.epsilon), shares, ranks.place());
    const BlockSlab slab = shares.slab(ranks.place());
    std::vector<ScaleProducts<double>> products(static_cast<std::size_t>(problem.scales()));
    std::vector<Matrix> H;
    for (Index t = 0; t < problem.scales(); ++t) {
        const Matrix WtX = problem.X->transposed_times(made.start.W[t]);
        products[t].WtX = WtX.middleCols(slab.first_cell(), slab.cells());
        products[t].WtW = made.start.W[t].transpose() * made.start.W[t];
        H.emplace_back(made.start.H[t].middleCols(slab.first_cell(), slab.cells()));
    }
    const Index d = H.front().rows();
    ShiftBuffer expected;
    expected.levels.resize(H.size());
    sum_levels(penalties, forest, products, H, expected.levels, ranks, {});
    ShiftBuffer apart = expected;
    ShiftBuffer wide;
    for (Index t = 0; t < problem.scales(); ++t) {
        const auto& all = expected.levels[t];
        const Index count = forest[t].wide();
        wide.levels.push_back(
            {all.gradient.bottomRows(count), all.least.bottomRows(count), Matrix(count, d), {}, {}, {}, {}});
    }
    solve_shifts(penalties, forest, products, expected, ranks);
    PlainNarrow narrow(penalties, forest, products, apart.levels);
    solve_shifts(penalties, wide_alone(forest), products, wide, ranks, {}, &narrow);
    for (Index t = 0; t < problem.scales(); ++t) {
        const Matrix& shift = expected.levels[t].shift;
        const double slack = 1e-11 * shift.norm();
        EXPECT_LE((wide.levels[t].shift - shift.bottomRows(forest[t].wide())).norm(), slack) << t;
        EXPECT_LE((apart.levels[t].shift - shift).topRows(forest[t].narrow).norm(), slack) << t;
    }
    EXPECT_GT(expected.levels.front().shift.norm(), 0.0);
}

TEST(NarrowShifts, OfSomebodyElseGiveTheShiftsOfOnePlace) {
    const BodyProblem<double> made = large_problem<double>(5200, true, 19); // rows: some at a time, twice
    for (const int ranks : {1, 3}) {
        ThreadRanks crew(ranks);
        const BlockShares shares = share(usual_blocks(5200), ranks);
        crew.run([&](int r) { expect_shifts_of_the_cpu(made, shares, crew[r]); });
    }
}

} // namespace
} // namespace pnmf::test
