#include "linalg/arrays_on_disk.hpp"
#include "linalg/large_array.hpp"
#include "run/plan_run.hpp"
#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/run/run.hpp>
#include <pnmf/simulate/simulate.hpp>
#include <pnmf/solvers/memory_plan.hpp>

#include <gmock/gmock.h>
#include <malloc.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace pnmf {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// Arrays of 128 KB count as large, and the folder for temporary files is one on a disk.
class OutOfCore : public ::testing::Test {
  protected:
    void SetUp() override {
        mallopt(M_MMAP_THRESHOLD, 64 << 10);
        large_array_bytes() = 128 << 10;
        if (!may_keep_on_disk()) {
            GTEST_SKIP() << "this allocator does not give memory back to the system";
        }
        if (!is_on_disk(folder_.path())) {
            GTEST_SKIP() << folder_.path() << " is in memory: TMPDIR names another folder";
        }
        setenv("TMPDIR", folder_.path().c_str(), 1);
    }
    void TearDown() override {
        set_array_folder({});
        unsetenv("TMPDIR");
    }

    /// Memory of this process that lies in files of the folder.
    Index mapped() const {
        std::ifstream maps("/proc/self/maps");
        Index count = 0;
        for (std::string line; std::getline(maps, line);) {
            count += line.find(folder_.path().string()) != std::string::npos ? 1 : 0;
        }
        return count;
    }

    test::TemporaryFolder folder_;
};

TEST_F(OutOfCore, ArraysKeepTheirPlaceAndTheirValuesAndLeaveNothing) {
    set_array_folder(folder_.path());
    {
        std::vector<double> numbers(100'000);
        std::iota(numbers.begin(), numbers.end(), 0.0);
        const std::vector<double> before = numbers;
        const double* const place = numbers.data();
        keep_on_disk(numbers.data(), numbers.size() * sizeof(double));
        EXPECT_EQ(mapped(), 1);
        EXPECT_EQ(numbers.data(), place);
        EXPECT_EQ(numbers, before);
        EXPECT_TRUE(std::filesystem::is_empty(folder_.path())); // it has no name
    }
    EXPECT_EQ(mapped(), 0);
}

TEST_F(OutOfCore, ADiskThatIsFullSaysSoAndTheArrayStays) {
    set_array_folder(folder_.path());
    const std::vector<double> numbers(100'000, 1.0);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 1000; // as a full disk would
    setrlimit(RLIMIT_FSIZE, &small);
    EXPECT_THAT(
        [&] { keep_on_disk(numbers.data(), numbers.size() * sizeof(double)); },
        ThrowsMessage<SystemError>(HasSubstr(folder_.path().string() +
                                             ": a temporary file cannot be given its size: File too large")));
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
    EXPECT_EQ(mapped(), 0);
    EXPECT_EQ(numbers, std::vector<double>(100'000, 1.0));
}

DataValues simulated_cells() {
    // From 4,096 on a fit puts them into another order.
    const CellModel model = make_cell_model({.cells = 4200, .genes = 60, .depth = 100.0});
    return simulate_cells(model, 0, 4200).counts;
}

RunOptions quick() {
    RunOptions options{.fit = {.rank = 8, .scale_error = 0.05}, .clusters = 3};
    options.fit.filtration.neighbors = 8;
    options.fit.filtration.scales.max_scales = 4;
    options.fit.solver.tolerance = 0.1;
    options.fit.solver.max_sweeps = 2;
    return options;
}

template <class Real>
class OutOfCoreRuns : public OutOfCore {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(OutOfCoreRuns, Reals);

TYPED_TEST(OutOfCoreRuns, HaveTheBitsOfOnesInMemory) {
    const DataValues X = simulated_cells();
    RunOptions options = quick();
    const auto in_memory = run_fit<TypeParam>(X, options);
    options.fit.out_of_core = true;
    Index most = 0;
    std::string said;
    RunObserver observer;
    observer.progress = [&](const RunProgress&) {
        most = std::max(most, this->mapped());
        return true;
    };
    observer.notice = [&](const std::string& text) { said += text; };
    const auto out_of_core = run_fit<TypeParam>(X, options, observer);
    EXPECT_EQ(out_of_core.result.factors.H, in_memory.result.factors.H);
    EXPECT_EQ(out_of_core.result.factors.W, in_memory.result.factors.W);
    EXPECT_EQ(out_of_core.assessment.clusters, in_memory.assessment.clusters);
    EXPECT_GT(most, 4 + 2 * 4) << "X by cells and by genes, and of each scale H and what sweeps keep";
    EXPECT_THAT(said, HasSubstr("out of core, in files in " + this->folder_.path().string()));
    EXPECT_FALSE(arrays_on_disk());
}

TEST_F(OutOfCore, IsWhatTooLittleMemoryLeadsToUnlessForbidden) {
    const DataValues X = simulated_cells();
    RunOptions options = quick();
    const MemoryLimit little{.limit = 1.0, .given = true};
    {
        const ArrayScope arrays(view_of(X), options, little, sizeof(float));
        EXPECT_TRUE(arrays_on_disk());
        EXPECT_THAT(arrays.notice(), HasSubstr("out-of-core false forbids it"));
    }
    EXPECT_FALSE(arrays_on_disk());
    options.fit.out_of_core = false;
    const ArrayScope arrays(view_of(X), options, little, sizeof(float));
    EXPECT_FALSE(arrays_on_disk());
}

TEST_F(OutOfCore, IsRefusedWhereTheDiskHasNoRoom) {
    EXPECT_THAT(trouble_out_of_core(1e18), HasSubstr("are needed in " + folder_.path().string()));
    EXPECT_EQ(trouble_out_of_core(1e3), "");
}

} // namespace
} // namespace pnmf
