#include <pnmf/results/transform_cells.hpp>

#include "support/clouds.hpp"
#include "support/sanitiser.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace pnmf {
namespace {

/// A stored fit of two features and two components at one scale.
StoredResult fit_of(Index cells) {
    const Matrix H = test::uniform_cloud(2, cells, 1).transpose();
    AnnDataFile file;
    file.feature_names = {"a", "b"};
    AnnDataMap uns;
    uns["H"] =
        NumericArray{.shape = {1, 2, cells}, .values = std::vector<double>(H.data(), H.data() + H.size())};
    uns["W"] = NumericArray{.shape = {1, 2, 2}, .values = std::vector<double>{0.8, 0.6, 0.6, 0.8}};
    uns["epsilon"] = numeric_array(std::vector<double>{0.3});
    uns["options"] = R"({"neighbors": 4})";
    file.uns["pnmf"] = std::move(uns);
    return stored_result(std::move(file));
}

Dataset cells_of(Matrix X) {
    Dataset data;
    data.X = std::move(X);
    return data;
}

/// While it lives, the process may take so much more address space.
class AddressSpace {
  public:
    explicit AddressSpace(rlim_t more) {
        getrlimit(RLIMIT_AS, &old_);
        rlim_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        rlimit now = old_;
        now.rlim_cur = std::min(old_.rlim_max, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more);
        setrlimit(RLIMIT_AS, &now);
    }
    ~AddressSpace() { setrlimit(RLIMIT_AS, &old_); }
    AddressSpace(const AddressSpace&) = delete;
    AddressSpace& operator=(const AddressSpace&) = delete;

  private:
    rlimit old_{};
};

TEST(TransformByBlocks, NeedsNoMemoryForAllDistancesAtOnceAndGivesTheSameBits) {
    if (test::with_sanitiser()) {
        GTEST_SKIP() << "sanitisers take address space of their own";
    }
    constexpr Index stored = 4000;
    constexpr Index fresh = 40000; // all distances would take 1,280 MB
    const StoredResult result = fit_of(stored);
    const Dataset of_fit = cells_of(test::uniform_cloud(2, stored, 2));
    const Dataset data = cells_of(test::uniform_cloud(2, fresh, 3));
    std::vector<TransformedScale> whole;
    {
        const AddressSpace limit(800'000'000);
        ASSERT_NO_THROW(whole = transform_cells(result, data, {0}, &of_fit));
    }
    EXPECT_GT(whole[0].with_neighbours, fresh / 2);
    constexpr Index last = fresh % 32 + 64; // cells stop together by 32
    const auto alone =
        transform_cells(result, cells_of(std::get<Matrix>(data.X).rightCols(last)), {0}, &of_fit);
    EXPECT_EQ(alone[0].cells.H, whole[0].cells.H.rightCols(last));
}

} // namespace
} // namespace pnmf
