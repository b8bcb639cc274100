#include "linalg/svd.hpp"
#include "solvers/backend_body.hpp"
#include "solvers/chain.hpp"
#include "solvers/choose_device.hpp"
#include "solvers/large_problem.hpp"
#include "solvers/why_no_cuda.hpp"
#include "support/clouds.hpp"

#include <pnmf/error.hpp>

#include <gmock/gmock.h>

namespace pnmf::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

template <class R>
struct MakeCuda {
    using Real = R;
    static std::string why_not() { return why_no_cuda(); }
    static std::unique_ptr<Backend<R>> make(const Problem<R>& problem) {
        return make_backend(Device::cuda, problem);
    }
};

using Cuda = ::testing::Types<MakeCuda<float>, MakeCuda<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Cuda, BackendBody, Cuda);

/// Shapes at which the device goes other ways than for the few cells of the body: several blocks of cells and
/// of places, ranks of more than a warp, tiles that do not fit into the memory of a block.
struct LargerCase {
    ProblemShape shape;
    Index rank = 3;
    bool neighbours = false;
};

template <class Real>
BodyProblem<Real> larger_problem(const LargerCase& of) {
    BodyProblem<Real> made;
    made.owned = random_problem<Real>(of.shape, {0.8, 0.6, 0.05}, 31);
    if (of.neighbours) {
        const Points points(made.owned.values());
        const SpanningTree tree = made.owned.graph->tree();
        made.owned.graph = std::make_unique<SparseMultiscaleGraph>(tree, nearest_edges(points, 6, tree), 1.5);
    }
    made.problem = made.owned.problem();
    made.start = random_factors(made.problem, of.rank, 32);
    return made;
}

std::vector<LargerCase> larger_cases() {
    // Many more features than rows of H: else rounding grows from sweep to sweep, on every device.
    return {{{.features = 150, .cells = 2600, .scales = 64, .sparse = true}, 32, true},
            {{.features = 250, .cells = 1100, .scales = 3, .sparse = true}, 45, true},
            {{.features = 250, .cells = 1100, .scales = 3}, 45, false},
            {{.features = 60, .cells = 300, .scales = 250, .sparse = true}, 9, true},
            {{.features = 200, .cells = 1300, .scales = 32, .sparse = true}, 30, true},
            {{.features = 90, .cells = 701, .scales = 11}, 17, true}};
}

template <class Real>
class CudaOnLargerData : public ::testing::Test {
  public:
    void SetUp() override {
        if (const std::string reason = why_no_cuda(); !reason.empty()) {
            GTEST_SKIP() << reason;
        }
    }
};
using Numbers = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaOnLargerData, Numbers);

TYPED_TEST(CudaOnLargerData, FollowsTheCpuSweepBySweep) {
    const SolverOptions options{.tolerance = 0.0, .max_sweeps = 6};
    for (const LargerCase& of : larger_cases()) {
        SCOPED_TRACE(fmt::format("{} cells, {} scales, rank {}", of.shape.cells, of.shape.scales, of.rank));
        const auto made = larger_problem<TypeParam>(of);
        const auto found = run_body(make_backend(Device::cuda, made.problem), made, options).state;
        const auto expected = run_body(make_backend(Device::cpu, made.problem), made, options).state;
        // The fit term is a difference of numbers as large as ‖X‖² of every scale: in float that is what
        // rounding is relative to, on every device, and here it is up to twenty times the objective.
        const double subtracted = std::is_same_v<TypeParam, float>
                                      ? static_cast<double>(of.shape.scales) * made.problem.X->squared_norm()
                                      : 0.0;
        const double slack = twin_slack<TypeParam>() * (expected.trace.back().total() + subtracted);
        ASSERT_EQ(found.trace.size(), expected.trace.size());
        for (std::size_t s = 0; s < expected.trace.size(); ++s) {
            EXPECT_NEAR(found.trace[s].total(), expected.trace[s].total(), slack) << "sweep " << s;
        }
    }
}

/// Small, but with every kind of data and graph, ranks of more and of less than a warp, and more scales than
/// a warp has threads: for tools that watch every access to memory, which take a thousand times as long.
TYPED_TEST(CudaOnLargerData, LowersTheObjectiveInOneSweepOfSmallCases) {
    const std::vector<LargerCase> cases{
        {{.features = 40, .cells = 90, .scales = 4, .sparse = true}, 6, true},
        {{.features = 45, .cells = 70, .scales = 3}, 34, false},
        {{.features = 20, .cells = 60, .scales = 40, .sparse = true}, 3, true}};
    for (const LargerCase& of : cases) {
        SCOPED_TRACE(fmt::format("{} cells, {} scales, rank {}", of.shape.cells, of.shape.scales, of.rank));
        const auto made = larger_problem<TypeParam>(of);
        const auto state =
            run_body(make_backend(Device::cuda, made.problem), made, {.tolerance = 0.0, .max_sweeps = 1})
                .state;
        ASSERT_EQ(state.trace.size(), 2U);
        EXPECT_LT(state.trace[1].total(), state.trace[0].total());
    }
}

/// Then the point before is not brought back.
TYPED_TEST(CudaOnLargerData, LeavesTheLastPointWhenItHasConverged) {
    const auto made =
        larger_problem<TypeParam>({{.features = 90, .cells = 701, .scales = 11, .sparse = true}, 7, true});
    auto state =
        run_body(make_backend(Device::cuda, made.problem), made, {.tolerance = 0.05, .max_sweeps = 200})
            .state;
    ASSERT_LT(state.trace.size(), 200U);
    const double expected = state.trace.back().total();
    EXPECT_NEAR(objective(made.problem, state.current).total(), expected,
                10.0 * twin_slack<TypeParam>() * expected);
    const auto sweeps = static_cast<Index>(state.trace.size()) + 2;
    run_solver_on(make_backend(Device::cuda, made.problem), made.problem,
                  {.tolerance = 0.0, .max_sweeps = sweeps}, state);
    EXPECT_LT(state.trace.back().total(), expected);
}

TYPED_TEST(CudaOnLargerData, GivesTheSameBitsAgain) {
    const SolverOptions options{.tolerance = 0.0, .max_sweeps = 4};
    for (const LargerCase& of : larger_cases()) {
        SCOPED_TRACE(fmt::format("{} cells, {} scales, rank {}", of.shape.cells, of.shape.scales, of.rank));
        const auto made = larger_problem<TypeParam>(of);
        const auto first = run_body(make_backend(Device::cuda, made.problem), made, options).state;
        const auto second = run_body(make_backend(Device::cuda, made.problem), made, options).state;
        EXPECT_EQ(first.current.W, second.current.W);
        EXPECT_EQ(first.current.H, second.current.H);
    }
}

TYPED_TEST(CudaOnLargerData, GivesTheSameBitsFromDataOnTheHost) {
    const SolverOptions options{.tolerance = 0.0, .max_sweeps = 4};
    for (const LargerCase& of : larger_cases()) {
        SCOPED_TRACE(fmt::format("{} cells, {} scales, rank {}", of.shape.cells, of.shape.scales, of.rank));
        auto made = larger_problem<TypeParam>(of);
        const auto expected = run_body(make_backend(Device::cuda, made.problem), made, options).state;
        Pair<TypeParam> expected_pair{made.start.W.front(), made.start.H.front()};
        Pair<TypeParam> pair = expected_pair;
        make_chain(Device::cuda, made.problem)->fit(1, 0.0, 4, expected_pair);
        made.problem.data_on_host = true;
        const auto found = run_body(make_backend(Device::cuda, made.problem), made, options).state;
        make_chain(Device::cuda, made.problem)->fit(1, 0.0, 4, pair);
        EXPECT_EQ(found.current.W, expected.current.W);
        EXPECT_EQ(found.current.H, expected.current.H);
        EXPECT_EQ(found.previous.H, expected.previous.H);
        EXPECT_EQ(pair.W, expected_pair.W);
        EXPECT_EQ(pair.H, expected_pair.H);
    }
}

/// A few steps of a link of the chained start, and the same bits again.
TYPED_TEST(CudaOnLargerData, ChainsAsTheCpuDoes) {
    constexpr Index steps = 6;
    const double slack = std::is_same_v<TypeParam, float> ? 1e-3 : 1e-9;
    for (const LargerCase& of : larger_cases()) {
        SCOPED_TRACE(fmt::format("{} cells, {} scales, rank {}", of.shape.cells, of.shape.scales, of.rank));
        const auto made = larger_problem<TypeParam>(of);
        const auto pair_of = [&](Device device) {
            Pair<TypeParam> pair{made.start.W.front(), made.start.H.front()};
            EXPECT_EQ(make_chain(device, made.problem)->fit(1, 0.0, steps, pair), steps);
            return pair;
        };
        const Pair<TypeParam> found = pair_of(Device::cuda);
        const Pair<TypeParam> again = pair_of(Device::cuda);
        const Pair<TypeParam> expected = pair_of(Device::cpu);
        EXPECT_LE((found.W - expected.W).norm(), slack * expected.W.norm());
        EXPECT_LE((found.H - expected.H).norm(), slack * expected.H.norm());
        EXPECT_EQ(found.W, again.W);
        EXPECT_EQ(found.H, again.H);
    }
}

/// Singular vectors and principal components by products on the device.
TYPED_TEST(CudaOnLargerData, DecomposesAsTheCpuDoes) {
    const double slack = std::is_same_v<TypeParam, float> ? 1e-4 : 1e-9;
    const Matrix cells = test::uniform_cloud(300, 6, 41) * test::uniform_cloud(6, 3000, 42) +
                         0.1 * test::uniform_cloud(300, 3000, 43);
    const Matrix holes = (cells.array() < cells.mean()).select(0.0, cells);
    const SparseMatrix<double> wide = test::to_sparse(holes);
    SparseMatrix<TypeParam> sparse;
    sparse.rows = wide.rows;
    sparse.cols = wide.cols;
    sparse.start = wide.start;
    sparse.row = wide.row;
    sparse.value.assign(wide.value.begin(), wide.value.end());
    for (const DataMatrix<TypeParam>& X :
         {DataMatrix<TypeParam>(DenseMatrix<TypeParam>(holes.cast<TypeParam>())),
          DataMatrix<TypeParam>(sparse)}) {
        const auto products = device_row(Device::cuda).template in<TypeParam>().products(X);
        const Matrix Y = test::uniform_cloud(300, 3, 44);
        const Matrix expected = holes.transpose() * Y;
        EXPECT_LE((products->transposed_times(Y).transpose() - expected).norm(), slack * expected.norm());
        EXPECT_LE((products->normal_times(Y) - holes * expected).norm(), slack * (holes * expected).norm());
        const TruncatedSvd found = truncated_svd(X, 5, products.get());
        const TruncatedSvd plain = truncated_svd(X, 5);
        EXPECT_LE((found.S - plain.S).norm(), slack * plain.S.norm());
        const Matrix part = found.U * found.S.asDiagonal() * found.V.transpose();
        const Matrix twin = plain.U * plain.S.asDiagonal() * plain.V.transpose();
        EXPECT_LE((part - twin).norm(), slack * twin.norm());
        EXPECT_EQ(truncated_svd(X, 5, device_row(Device::cuda).template in<TypeParam>().products(X).get()).V,
                  found.V);
    }
}

TEST(ChooseDevice, SaysWhyADemandedDeviceIsNotThere) {
    const DeviceFacts facts = facts_of(Device::cuda);
    if (facts.found) {
        GTEST_SKIP() << "there is a CUDA device";
    }
    const auto made = body_problem<double>({});
    try {
        start_solver(made.problem, {.device = Device::cuda}, made.start);
        FAIL() << "a device that is not there was taken";
    } catch (const InputError& e) {
        EXPECT_THAT(e.what(), StartsWith("the device cuda "));
        EXPECT_THAT(e.what(), HasSubstr(facts.built ? facts.reason : "configured without it"));
    }
    EXPECT_EQ(choose_device(Device::automatic, {}).device, Device::cpu);
    EXPECT_EQ(choose_device(Device::automatic, {}).notice.empty(), !facts.built);
}

TEST(ChooseDevice, TakesTheDeviceForLargeDataAndRefusesWhatDoesNotFit) {
    if (const std::string reason = why_no_cuda(); !reason.empty()) {
        GTEST_SKIP() << reason;
    }
    DeviceNeed need{.features = 2000,
                    .cells = 100'000,
                    .scales = 32,
                    .rank = 10,
                    .nonzeros = 10'000'000,
                    .graph_entries = 2'000'000,
                    .components = 100'000};
    EXPECT_EQ(choose_device(Device::automatic, need).device, Device::cuda);
    EXPECT_THAT(choose_device(Device::automatic, need).notice, HasSubstr("device: cuda"));
    EXPECT_EQ(choose_device(Device::cpu, need).device, Device::cpu);
    EXPECT_EQ(choose_device(Device::automatic, {.cells = 10}).device, Device::cpu);
    need.cells = 1'000'000'000;
    EXPECT_EQ(choose_device(Device::automatic, need).device, Device::cpu);
    EXPECT_THAT(choose_device(Device::automatic, need).notice, HasSubstr("GB"));
    EXPECT_THROW(choose_device(Device::cuda, need), InputError);
}

const DeviceFacts ten_gigabytes{.built = true,
                                .found = true,
                                .name = "device",
                                .reason = {},
                                .free_bytes = 10e9,
                                .total_bytes = 12e9,
                                .device = Device::cuda};
const DeviceNeed large_run{.scales = 10, .rank = 10, .nonzeros = 10'000'000};

/// A device of ten gigabytes, on which a run needs what its two parts are said to need.
DeviceChoice on_ten_gigabytes(Device asked, double least, double momentum, double shifts) {
    return choose_device(asked, large_run, ten_gigabytes, [&](const DeviceNeed& of) {
        return least + (of.momentum ? momentum : 0.0) + (of.shifts ? shifts : 0.0);
    });
}

TEST(ChooseDevice, GivesUpMomentumThenSumsBeforeTheDeviceIsGivenUp) {
    const DeviceChoice all = on_ten_gigabytes(Device::automatic, 5e9, 2e9, 3e9);
    EXPECT_EQ(all.device, Device::cuda);
    EXPECT_TRUE(all.keep_momentum && all.keep_shifts);
    EXPECT_EQ(all.notice, "device: cuda, device; 10.00 GB of its memory planned");
    const DeviceChoice plain = on_ten_gigabytes(Device::automatic, 6e9, 2e9, 3e9);
    EXPECT_EQ(plain.device, Device::cuda);
    EXPECT_TRUE(!plain.keep_momentum && plain.keep_shifts);
    EXPECT_THAT(plain.notice, HasSubstr("9.00 GB of its memory planned; the point before is not kept there"));
    const DeviceChoice least = on_ten_gigabytes(Device::cuda, 8e9, 2e9, 3e9);
    EXPECT_EQ(least.device, Device::cuda);
    EXPECT_TRUE(!least.keep_momentum && !least.keep_shifts);
    EXPECT_THAT(least.notice, HasSubstr("the point before and sums over components are not kept there"));
    const DeviceChoice host = on_ten_gigabytes(Device::automatic, 11e9, 2e9, 3e9);
    EXPECT_EQ(host.device, Device::cpu);
    EXPECT_TRUE(host.keep_momentum && host.keep_shifts);
    EXPECT_THAT(host.notice, HasSubstr("needs 11.00 GB on the device, of whose 12.00 GB are free 10.00 GB"));
    EXPECT_THROW(on_ten_gigabytes(Device::cuda, 11e9, 2e9, 3e9), InputError);
}

TEST(ChooseDevice, LeavesTheDataOnTheHostBeforeAnythingIsGivenUp) {
    DeviceNeed need = large_run;
    const auto choose = [&](double data, double momentum, double rest, bool may) {
        return choose_device(
            Device::automatic, need, ten_gigabytes,
            [&](const DeviceNeed& of) {
                return rest + (of.data_on_host ? 0.0 : data) + (of.momentum ? momentum : 0.0);
            },
            may);
    };
    EXPECT_FALSE(choose(4e9, 3e9, 3e9, true).data_on_host);
    const DeviceChoice data = choose(4e9, 3e9, 4e9, true);
    EXPECT_TRUE(data.data_on_host && data.keep_momentum);
    EXPECT_THAT(data.notice, HasSubstr("7.00 GB of its memory planned; it reads the data from memory of the "
                                       "host"));
    const DeviceChoice less = choose(1e9, 5e9, 7e9, true); // without momentum there is room for the data
    EXPECT_TRUE(!less.data_on_host && !less.keep_momentum);
    const DeviceChoice least = choose(4e9, 3e9, 8e9, true);
    EXPECT_TRUE(least.data_on_host && !least.keep_momentum);
    const DeviceChoice kept = choose(4e9, 3e9, 4e9, false);
    EXPECT_TRUE(!kept.data_on_host && !kept.keep_momentum);
    EXPECT_EQ(choose(4e9, 3e9, 11e9, true).device, Device::cpu);
    need.dense = true; // dense data are never read there
    EXPECT_FALSE(choose(4e9, 3e9, 4e9, true).data_on_host);
    need = large_run;
    need.processes = 2;
    EXPECT_FALSE(choose(4e9, 3e9, 4e9, true).data_on_host);
}

/// The plan is an upper bound, and not a loose one.
TYPED_TEST(CudaOnLargerData, TakesTheMemoryThatIsPlanned) {
    const LargerCase of = larger_cases().front();
    const auto made = larger_problem<TypeParam>(of);
    const DeviceNeed need = device_need(made.problem, of.rank, {});
    make_backend(Device::cuda, made.problem); // what the libraries take stays with the process
    const double before = facts_of(Device::cuda).free_bytes;
    SolverState<TypeParam> state;
    state.current = made.start;
    const auto backend = make_backend(Device::cuda, made.problem);
    backend->load(state.current, state.previous);
    backend->move_copy();
    backend->basis_step(1);
    backend->graph_products();
    backend->embedding_pass();
    backend->graph_products();
    backend->shift_components();
    const double taken = before - facts_of(Device::cuda).free_bytes;
    EXPECT_LE(taken, device_row(Device::cuda).bytes(need));
    EXPECT_GE(taken, 0.5 * (device_row(Device::cuda).bytes(need) - 400e6));
}

/// 64 or 96 MB of X, by columns and by rows.
TYPED_TEST(CudaOnLargerData, DataOnTheHostTakeNoMemoryOfTheDevice) {
    auto made = large_problem<TypeParam>(20'000, true);
    SparseMatrix<TypeParam> X{400, made.problem.cells(), {0}, {}, {}};
    for (Index j = 0; j < X.cols; ++j) {
        for (Index i = j % 2; i < X.rows; i += 2) {
            X.row.push_back(static_cast<std::int32_t>(i));
            X.value.push_back(static_cast<TypeParam>(1 + (i * j) % 5));
        }
        X.start.push_back(std::ssize(X.row));
    }
    made.owned.X = std::make_unique<DataMatrix<TypeParam>>(std::move(X));
    made.problem = made.owned.problem();
    made.start = random_factors(made.problem, 4, 79);
    const auto taken = [&](bool on_host) {
        made.problem.data_on_host = on_host;
        make_backend(Device::cuda, made.problem); // what the libraries take stays with the process
        const double before = facts_of(Device::cuda).free_bytes;
        SolverState<TypeParam> state;
        state.current = made.start;
        const auto backend = make_backend(Device::cuda, made.problem);
        backend->load(state.current, state.previous);
        DeviceNeed need = device_need(made.problem, 4, {});
        need.data_on_host = on_host;
        const double found = before - facts_of(Device::cuda).free_bytes;
        EXPECT_LE(found, device_row(Device::cuda).bytes(need));
        return found;
    };
    const double bytes = 2.0 * 4e6 * (sizeof(TypeParam) + sizeof(std::int32_t));
    const double of_data = taken(false) - taken(true);
    EXPECT_GE(of_data, 0.9 * bytes);
    EXPECT_LE(of_data, 1.1 * bytes + 16e6);
}

/// Who reads a stored fit makes its graphs anew, perhaps without a device.
TEST(ChooseDevice, RecordsThatASearchWasExactBecauseOfTheDevice) {
    if (const std::string reason = why_no_cuda(); !reason.empty()) {
        GTEST_SKIP() << reason;
    }
    const Matrix X = test::uniform_cloud(3, largest_exact_search + 1, 4);
    FitOptions options{.rank = 2};
    options.filtration.neighbors = 5;
    options.filtration.scales.max_scales = 4;
    options.solver.device = Device::cuda;
    EXPECT_EQ(prepare_fit<float>(DataValues(X), options).options.filtration.search, NeighborSearch::exact);
    const Matrix few = X.leftCols(500);
    EXPECT_EQ(prepare_fit<float>(DataValues(few), options).options.filtration.search,
              NeighborSearch::automatic);
}

TEST(ChooseDevice, IsForStationaryAlone) {
    EXPECT_THROW(check_options(SolverOptions{.algorithm = Algorithm::paper, .device = Device::cuda}),
                 InputError);
}

} // namespace
} // namespace pnmf::test
