#include "linalg/plain_products.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/device.hpp"
#include "support/clouds.hpp"

#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/solvers/fit.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <string>

namespace pnmf::test {
namespace {

/// How often each entry of the abacus's row was called.
std::map<std::string, int>& calls() {
    static std::map<std::string, int> counts;
    return counts;
}

/// Knows nothing about any pair: everything is left open for the CPU.
class UnsureSearcher final : public PairSearcher {
  public:
    explicit UnsureSearcher(Index cells) : cells_(cells) {}
    Index most() const override { return cells_; }
    SearchedLists search(const PairQuery& query) override {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        const double none = query.farthest ? infinity : 0.0;
        SearchedLists lists{.count = query.count};
        for (const Index a : query.cells) {
            Index b = 0;
            for (Index r = 0; r < query.count; ++r, ++b) {
                const auto counts = [&](Index c) {
                    return query.group.empty() ? a != c : query.group[a] != query.group[c];
                };
                while (b < cells_ && !counts(b)) {
                    ++b;
                }
                lists.cell.push_back(b < cells_ ? static_cast<std::int32_t>(b) : -1);
                lists.bound.push_back(none);
            }
            lists.beyond.push_back(none);
            if (query.reach) {
                lists.reach.push_back(infinity);
            }
        }
        return lists;
    }

  private:
    Index cells_;
};

template <class Real>
std::unique_ptr<Backend<Real>> sweeps(const Problem<Real>& problem, const CellBlocks& blocks) {
    ++calls()["backend"];
    return device_row(Device::cpu).in<Real>().backend(problem, blocks);
}

template <class Real>
std::unique_ptr<Chain<Real>> links(const Problem<Real>& problem) {
    ++calls()["chain"];
    return device_row(Device::cpu).in<Real>().chain(problem);
}

template <class Real>
std::unique_ptr<DataProducts> products(const DataMatrix<Real>& X) {
    ++calls()["products"];
    return std::make_unique<PlainProducts<Real>>(X);
}

DeviceFacts facts() {
    return {.built = true, .found = true, .name = "abacus", .free_bytes = 1e12, .total_bytes = 1e12};
}

double bytes(const DeviceNeed&) {
    ++calls()["bytes"];
    return 1e6;
}

std::unique_ptr<PairSearcher> searcher(const Points& points) {
    ++calls()["searcher"];
    return std::make_unique<UnsureSearcher>(points.count());
}

/// A row is all that a device adds: here one that counts what it is asked for and leaves the work to the CPU.
class AnotherDevice : public ::testing::Test {
  protected:
    AnotherDevice() { calls().clear(); }

    const std::array<DeviceRow, 2> rows_{
        device_row(Device::cpu), DeviceRow{.device = Device::cuda,
                                           .facts = facts,
                                           .bytes = bytes,
                                           .in_float = {sweeps<float>, links<float>, products<float>},
                                           .in_double = {sweeps<double>, links<double>, products<double>},
                                           .searcher = searcher,
                                           .searcher_bytes = [](Index, Index) { return 1e6; },
                                           .products_bytes = bytes}};
    const DeviceRowsScope scope_{rows_};
};

TEST_F(AnotherDevice, MakesAFitOfWhatItsRowGives) {
    FitOptions options{.rank = 3};
    options.filtration.neighbors = 6;
    options.filtration.scales.max_scales = 4;
    options.start = Start::chained;
    options.solver = {.max_sweeps = 5, .device = Device::cpu};
    const Matrix X = uniform_cloud(8, 120, 3);
    const auto expected = fit<double>(X, options);
    EXPECT_TRUE(calls().empty());
    options.solver.device = Device::cuda;
    const auto found = fit<double>(X, options);
    EXPECT_EQ(found.factors.H, expected.factors.H); // to the bit: the work is the CPU's
    for (const char* entry : {"backend", "bytes", "chain", "searcher"}) {
        EXPECT_GT(calls()[entry], 0) << entry;
    }
}

TEST_F(AnotherDevice, MakesTheFitsOfAChoiceOfRankOneAfterTheOther) {
    const Matrix X = uniform_cloud(12, 60, 3);
    RankOptions options{.ranks = {2, 3}, .restarts = 3, .device = Device::cpu};
    const RankCurve expected = choose_rank(X, options);
    EXPECT_TRUE(calls().empty());
    EXPECT_EQ(expected.on_device, 0);
    options.device = Device::cuda;
    const RankCurve found = choose_rank(X, options);
    EXPECT_EQ(found.error, expected.error); // to the bit: the work is the CPU's
    EXPECT_EQ(found.stability, expected.stability);
    EXPECT_EQ(found.on_device, 6);
    EXPECT_GE(calls()["backend"], 6);
    options.device = Device::automatic; // so few data gain nothing
    EXPECT_EQ(choose_rank(X, options).on_device, 0);
}

TEST_F(AnotherDevice, IsNamedInMessagesByItsName) {
    DeviceNeed need{.features = 2000, .cells = 100'000, .scales = 32, .rank = 10, .nonzeros = 10'000'000};
    EXPECT_EQ(choose_device(Device::automatic, need).device, Device::cuda);
    EXPECT_THAT(choose_device(Device::cuda, need).notice, testing::StartsWith("device: cuda, abacus; "));
    EXPECT_THAT(devices(), testing::ElementsAre("cpu", "cuda"));
}

TEST_F(AnotherDevice, MakesProductsOfLargeData) {
    const DataMatrix<float> X(DenseMatrix<float>(uniform_cloud(2, 20'000, 5).cast<float>()));
    EXPECT_EQ(choose_products(Device::cpu, X, 3000), nullptr);
    EXPECT_NE(choose_products(Device::cuda, X, 3000), nullptr);
    EXPECT_EQ(calls()["products"], 1);
}

TEST(DeviceRows, HoldNoAnswerForADeviceThatIsNotBuilt) {
    EXPECT_EQ(find_device(Device::automatic), nullptr);
    EXPECT_FALSE(facts_of(Device::automatic).built);
    EXPECT_EQ(device_row(Device::cpu).kmeans, nullptr); // clusters are found where they always were
}

} // namespace
} // namespace pnmf::test
