#include "cells/devices/outer_neighbors.hpp"
#include "devices/cpu/component_shifts.hpp"
#include "devices/cpu/shift_forest.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/crew_backend.hpp"
#include "solvers/large_problem.hpp"
#include "solvers/why_no_cuda.hpp"

#include <pnmf/error.hpp>

/// Several ranks, a thread each, on one CUDA device.
namespace pnmf::test {
namespace {

template <class R, int ranks>
struct MakeCudaCrew {
    using Real = R;
    static std::string why_not() { return why_no_cuda(); }
    static std::unique_ptr<Backend<R>> make(const Problem<R>& problem) {
        return std::make_unique<CrewBackend<R>>(problem, ranks, CellBlocks{problem.cells(), 4}, Device::cuda);
    }
};

using CudaCrew = ::testing::Types<MakeCudaCrew<float, 2>, MakeCudaCrew<double, 2>>;
INSTANTIATE_TYPED_TEST_SUITE_P(CudaRanks, BackendBody, CudaCrew);

template <class Real>
class CudaOverRanks : public ::testing::Test {
  public:
    void SetUp() override {
        if (const std::string reason = why_no_cuda(); !reason.empty()) {
            GTEST_SKIP() << reason;
        }
    }

    static SolverState<Real> run(const BodyProblem<Real>& made, int ranks, Index sweeps) {
        const CellBlocks blocks = usual_blocks(made.problem.cells());
        auto crew = std::make_unique<CrewBackend<Real>>(made.problem, ranks, blocks, Device::cuda);
        return run_body<Real>(std::move(crew), made, {.tolerance = 0.0, .max_sweeps = sweeps}).state;
    }
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaOverRanks, Numbers);

TYPED_TEST(CudaOverRanks, FollowTheCpuSweepBySweep) {
    for (const bool sparse : {true, false}) {
        const auto made = large_problem<TypeParam>(5200, sparse); // eight blocks
        const auto found = this->run(made, 2, 6);
        const auto expected =
            run_body(make_backend(Device::cpu, made.problem), made, {.tolerance = 0.0, .max_sweeps = 6})
                .state;
        // In float rounding is relative to what the fit term is a difference of.
        const double subtracted =
            std::is_same_v<TypeParam, float>
                ? static_cast<double>(made.problem.scales()) * made.problem.X->squared_norm()
                : 0.0;
        const double slack = twin_slack<TypeParam>() * (expected.trace.back().total() + subtracted);
        ASSERT_EQ(found.trace.size(), expected.trace.size());
        for (std::size_t s = 0; s < expected.trace.size(); ++s) {
            EXPECT_NEAR(found.trace[s].total(), expected.trace[s].total(), slack) << "sweep " << s;
        }
    }
}

/// A rank may have no cells at all: eleven of them share eight blocks. One process alone adds in other
/// blocks.
TYPED_TEST(CudaOverRanks, HaveTheSameBitsHoweverManyTheyAre) {
    for (const bool sparse : {true, false}) {
        const auto made = large_problem<TypeParam>(5200, sparse);
        const auto expected = this->run(made, 2, 3);
        for (const int ranks : {2, 3, 11}) {
            SCOPED_TRACE(ranks);
            expect_same(this->run(made, ranks, 3), expected);
        }
    }
}

/// For tools that watch every access to memory, which take a thousand times as long.
TYPED_TEST(CudaOverRanks, LowerTheObjectiveInOneSweepOfSmallCases) {
    for (const bool neighbours : {true, false}) {
        const auto made = body_problem<TypeParam>({.neighbours = neighbours});
        auto crew = std::make_unique<CrewBackend<TypeParam>>(
            made.problem, 2, CellBlocks{made.problem.cells(), 4}, Device::cuda);
        const auto state =
            run_body<TypeParam>(std::move(crew), made, {.tolerance = 0.0, .max_sweeps = 1}).state;
        ASSERT_EQ(state.trace.size(), 2U);
        EXPECT_LT(state.trace[1].total(), state.trace[0].total());
    }
}

/// Each rank plans for itself; two of them on one device take no more than both have planned.
TYPED_TEST(CudaOverRanks, TakeTheMemoryThatIsPlanned) {
    auto made = large_problem<TypeParam>(20'000, true);
    made.start = random_factors(made.problem, 40, 79);
    this->run(made, 2, 1); // what the libraries take stays with the process
    ThreadRanks ranks(2);
    std::vector<double> planned(2);
    ranks.run([&](int r) {
        planned[r] = device_row(Device::cuda).bytes(device_need(made.problem, made.start.rank(), {}));
    });
    const double before = facts_of(Device::cuda).free_bytes;
    SolverState<TypeParam> state;
    state.current = made.start;
    CrewBackend<TypeParam> crew(made.problem, 2, usual_blocks(20'000), Device::cuda);
    crew.load(state.current, state.previous);
    crew.move_copy();
    crew.basis_step(1);
    crew.graph_products();
    crew.embedding_pass();
    crew.graph_products();
    crew.shift_components();
    const double taken = before - facts_of(Device::cuda).free_bytes;
    EXPECT_LE(taken, planned[0] + planned[1]);
    EXPECT_GE(taken, 0.5 * (planned[0] + planned[1] - 800e6)); // without what libraries may take
}

TEST(ChooseDevice, LeavesADeviceThatRanksWouldShareToOneProcess) {
    const DeviceFacts facts{.built = true,
                            .found = true,
                            .name = "device",
                            .reason = {},
                            .free_bytes = 10e9,
                            .total_bytes = 24e9,
                            .sharing = 2,
                            .device = Device::cuda};
    const DeviceNeed need{.scales = 10, .rank = 10, .nonzeros = 10'000'000};
    ThreadRanks ranks(2);
    ranks.run([&](int) {
        const auto bytes_of = [](const DeviceNeed&) { return 3e9; };
        const DeviceChoice left = choose_device(Device::automatic, need, facts, bytes_of);
        EXPECT_EQ(left.device, Device::cpu);
        EXPECT_EQ(left.notice,
                  "device: cpu; 2 processes would share the device, which one process uses better");
        const DeviceChoice demanded = choose_device(Device::cuda, need, facts, bytes_of);
        EXPECT_EQ(demanded.device, Device::cuda);
        EXPECT_EQ(
            demanded.notice,
            "device: cuda, device; 3.00 GB of its memory planned for each of 2 processes, 2 of which share "
            "one; neighbours and first factors come from the processors");
        EXPECT_THROW(choose_device(Device::cuda, need, facts, [](const DeviceNeed&) { return 11e9; }),
                     InputError);
    });
}

/// The same cells are planned for, once.
TEST(ChooseDevice, PlansForTheCellsOfARank) {
    const auto made = large_problem<double>(5200, true);
    const DeviceNeed whole = device_need(made.problem, made.start.rank(), {});
    ThreadRanks ranks(3);
    std::vector<DeviceNeed> parts(3);
    ranks.run([&](int r) { parts[r] = device_need(made.problem, made.start.rank(), {}); });
    const BlockShares shares = share(usual_blocks(5200), 3);
    DeviceNeed sum;
    for (int r = 0; r < 3; ++r) {
        const auto& graph = dynamic_cast<const SparseMultiscaleGraph&>(*made.problem.graph);
        const OuterNeighbors outer(graph, made.problem.epsilon, shares, r);
        EXPECT_GE(parts[r].outer, outer.columns());
        EXPECT_GE(parts[r].sent, outer.sent(made.problem.scales() - 1));
        const ShiftForest forest(ComponentForest(made.problem.graph->tree(), made.problem.epsilon), shares,
                                 r);
        Index slots = 0;
        for (Index t = 0; t < forest.scales(); ++t) {
            slots += forest[t].narrow + std::ssize(forest[t].block);
        }
        EXPECT_GE(parts[r].components, slots);
        sum.cells += parts[r].cells;
        sum.nonzeros += parts[r].nonzeros;
        sum.graph_entries += parts[r].graph_entries;
    }
    EXPECT_EQ(sum.cells, whole.cells);
    EXPECT_EQ(sum.nonzeros, whole.nonzeros);
    EXPECT_EQ(sum.graph_entries, whole.graph_entries);
}

} // namespace
} // namespace pnmf::test
