#include "usual_threads.hpp"

#include "support/paths.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace pnmf {
namespace {

namespace fs = std::filesystem;

TEST(UsualThreads, AreTheProcessorsWhereNothingElseIsSaid) {
    EXPECT_EQ(usual_threads({.processors = 6}), 6);
    EXPECT_EQ(usual_threads({.processors = 0}), 1);
}

TEST(UsualThreads, AreWhatOmpNumThreadsSays) {
    EXPECT_EQ(usual_threads({.omp_num_threads = "3", .processors = 6}), 3);
    EXPECT_EQ(usual_threads({.omp_num_threads = " 4,2", .processors = 6}), 4);
    EXPECT_EQ(usual_threads({.omp_num_threads = "8", .processors = 6, .quota = 2.0}), 8);
}

TEST(UsualThreads, AreNotWhatAMeaninglessOmpNumThreadsSays) {
    for (const char* text : {"", "0", "-2", "many", "3x", "1e9", "99999999999"}) {
        EXPECT_EQ(usual_threads({.omp_num_threads = text, .processors = 6}), 6) << text;
    }
}

TEST(UsualThreads, AreNotMoreThanTheQuotaRoundedUp) {
    EXPECT_EQ(usual_threads({.processors = 6, .quota = 1.5}), 2);
    EXPECT_EQ(usual_threads({.processors = 6, .quota = 0.1}), 1);
    EXPECT_EQ(usual_threads({.processors = 6, .quota = 64.0}), 6);
}

/// A root folder with the files of control groups in it.
class Quota : public ::testing::Test {
  protected:
    void put(const char* file, const char* text) const {
        fs::create_directories((root() / file).parent_path());
        std::ofstream(root() / file) << text;
    }
    fs::path root() const { return folder_.path(); }

  private:
    test::TemporaryFolder folder_;
};

TEST_F(Quota, IsNoneWithoutControlGroups) {
    EXPECT_FALSE(processor_quota(root()));
}

TEST_F(Quota, OfVersion2IsTheSmallestOfTheGroupAndThoseAboveIt) {
    put("proc/self/cgroup", "0::/slice/job\n");
    put("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
    EXPECT_FALSE(processor_quota(root()));
    put("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
    EXPECT_EQ(processor_quota(root()), 1.5);
    put("sys/fs/cgroup/slice/job/cpu.max", "50000 100000\n");
    EXPECT_EQ(processor_quota(root()), 0.5);
}

TEST_F(Quota, OfAContainerIsThatOfTheMount) {
    put("proc/self/cgroup", "0::/a/group/outside/the/container\n");
    put("sys/fs/cgroup/cpu.max", "300000 100000\n");
    EXPECT_EQ(processor_quota(root()), 3.0);
}

TEST_F(Quota, OfVersion1IsFoundUnderItsController) {
    put("proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n0::/\n");
    put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    EXPECT_FALSE(processor_quota(root()));
    put("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "200000\n");
    EXPECT_EQ(processor_quota(root()), 2.0);
}

TEST_F(Quota, IsNoneWhereTheFilesAreDamaged) {
    put("proc/self/cgroup", "nonsense\n0::/\n");
    put("sys/fs/cgroup/cpu.max", "abc def\n");
    EXPECT_FALSE(processor_quota(root()));
}

} // namespace
} // namespace pnmf
