#include "io/trial_read.hpp"
#include "support/paths.hpp"
#include "support/sanitiser.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/parallel.hpp>

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace pnmf::io {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

/// Calls itself without end, as HDF5 does where it finds no memory to report an error in.
int fill_the_stack(int depth) { // NOLINT(misc-no-recursion)
    volatile int here = depth;
    return depth > 0 ? fill_the_stack(depth + 1) + here : here;
}

class TrialReadTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (test::with_sanitiser()) {
            GTEST_SKIP() << "a sanitiser shall see every fault itself: nothing is tried";
        }
    }
    /// The message when `read` is refused; "" when it is not.
    template <class Error>
    static std::string refused(const std::function<void()>& read,
                               const TrialLimits& limits = usual_limits(1000)) {
        try {
            const TrialRead trial("some.h5ad", read, limits);
        } catch (const Error& e) {
            return e.what();
        }
        return "";
    }
    static AnnDataFile small() {
        AnnDataFile file;
        file.cell_names = {"a", "b"};
        file.feature_names = {"x", "y", "z"};
        file.X = Matrix(Matrix::Constant(3, 2, 1.5));
        return file;
    }
};

TEST_F(TrialReadTest, ACrashOfTheChildIsADamagedFileAndEndsNothingElse) {
    const std::vector<std::function<void()>> faults{
        [] { std::raise(SIGSEGV); },
        [] { std::raise(SIGBUS); },
        [] { std::raise(SIGFPE); },
        [] { std::abort(); },
        [] { std::terminate(); },
        [] {
            auto* const nowhere = static_cast<volatile char*>(
                ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
            *nowhere = 1;
        }};
    for (std::size_t i = 0; i < faults.size(); ++i) {
        EXPECT_THAT(refused<InputError>(faults[i]), HasSubstr("some.h5ad: is damaged")) << i;
    }
}

TEST_F(TrialReadTest, ACrashAfterAFailedAllocationIsNotCalledDamage) {
    const std::vector<std::function<void()>> faults{
        [] { std::_Exit(0); }, // as HDF5 does where it finds no memory
        [] {
            errno = ENOMEM;
            std::abort();
        },
        [] {
            errno = ENOMEM;
            fill_the_stack(1);
        }};
    for (std::size_t i = 0; i < faults.size(); ++i) {
        EXPECT_THAT(refused<SystemError>(faults[i]), HasSubstr("too little memory")) << i;
    }
}

TEST_F(TrialReadTest, WhatIsRefusedWhileMemoryWasShortIsNotCalledDamage) {
    const auto missing = [](int code) {
        return [code]() -> int {
            errno = code;
            fail("some.h5ad: must contain 'X'");
        };
    };
    EXPECT_THROW(read_after_trial("some.h5ad", missing(ENOMEM)), SystemError);
    EXPECT_THROW(read_after_trial("some.h5ad", missing(ENOENT)), InputError);
}

TEST_F(TrialReadTest, NothingOfACrashIsPrinted) {
    ::testing::internal::CaptureStderr();
    refused<InputError>([] {
        constexpr char text[] = "said by the child\n";
        [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, sizeof text);
        std::abort();
    });
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(TrialReadTest, AFileThatAsksForMoreMemoryThanItsSizeExplainsIsRefused) {
    const auto takes = [](std::size_t bytes) {
        return [bytes] {
            std::vector<char> all(bytes, 'x');
            volatile char last = all.back();
            static_cast<void>(last);
        };
    };
    EXPECT_THAT(refused<SystemError>(takes(std::size_t{1} << 29U)), HasSubstr("too little memory"));
    EXPECT_EQ(refused<SystemError>(takes(std::size_t{1} << 20U)), "");
    // What is there already does not count.
    const std::vector<char> held(std::size_t{1} << 29U, 'x');
    EXPECT_EQ(refused<SystemError>(takes(std::size_t{1} << 20U)), "");
}

TEST_F(TrialReadTest, AReadThatDoesNotEndIsStopped) {
    const auto endless = [] {
        for (std::atomic<int> turns{0};;) {
            ++turns;
        }
    };
    EXPECT_THAT(refused<InputError>(endless, {.memory = 1U << 28U, .seconds = 1}),
                HasSubstr("longer than a file of its size can"));
}

TEST_F(TrialReadTest, LimitsGrowWithTheFileAndStopAtTheMachine) {
    EXPECT_EQ(usual_limits(0).memory, std::uint64_t{256} << 20U);
    EXPECT_EQ(usual_limits(288).memory, (std::uint64_t{256} << 20U) + 2'880'000U);
    EXPECT_LE(usual_limits(~std::uintmax_t{0}).memory, std::uint64_t{1} << 50U);
    EXPECT_GT(usual_limits(~std::uintmax_t{0}).memory, std::uint64_t{256} << 20U);
    EXPECT_EQ(usual_limits(std::uintmax_t{100} << 20U).seconds, 130U);
}

TEST_F(TrialReadTest, SignalsThatStopARunAreTheParentsAffair) {
    for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
        EXPECT_EQ(refused<InputError>([number] { std::raise(number); }), "") << number;
    }
}

TEST_F(TrialReadTest, WhatIsReadAndWhatIsThrownAreThisProcessesOwn) {
    int reads = 0;
    EXPECT_EQ(read_after_trial("some.h5ad", [&] { return ++reads; }), 1);
    EXPECT_EQ(reads, 1); // the child counted for itself
    EXPECT_THROW(read_after_trial("some.h5ad", [&]() -> int { throw std::out_of_range("here"); }),
                 std::out_of_range);
}

TEST_F(TrialReadTest, ARehearsalInsideAnotherIsPartOfIt) {
    const pid_t self = ::getpid();
    bool once = true;
    const TrialRead outer("some.h5ad", [] {});
    const TrialRead inner("some.h5ad", [&] { once = false; });
    EXPECT_TRUE(once);
    EXPECT_EQ(::getpid(), self);
}

TEST_F(TrialReadTest, ManyThreadsMayReadAtOnce) {
    const TemporaryFolder folder;
    write_anndata(folder / "a.h5ad", small());
    parallel_for(64, [](Index) {}); // threads that a child will not have
    std::atomic<int> read{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; ++i) {
        readers.emplace_back([&] {
            for (int repeat = 0; repeat < 10; ++repeat) {
                read += read_anndata(folder / "a.h5ad").X ? 1 : 0;
            }
        });
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    EXPECT_EQ(read.load(), 40);
}

TEST_F(TrialReadTest, ABodyOfAParallelLoopMayRead) {
    const TemporaryFolder folder;
    write_anndata(folder / "a.h5ad", small());
    std::atomic<int> read{0};
    parallel_for(8, [&](Index) { read += read_anndata(folder / "a.h5ad").X ? 1 : 0; });
    EXPECT_EQ(read.load(), 8);
}

TEST_F(TrialReadTest, SlabsOfAFileThatChangedAreRehearsedAgain) {
    const TemporaryFolder folder;
    const auto write = [&](double value) {
        AnnDataFile file = small();
        file.uns["slabs"] =
            SlabArray{.slabs = 100, .rows = 2, .cols = 3, .slab = [value](Index t) {
                          return Matrix(Matrix::Constant(2, 3, value + static_cast<double>(t)));
                      }};
        write_anndata(folder / "a.h5ad", file);
    };
    for (const double value : {1.0, 1000.0}) {
        write(value);
        for (const Index t : {0, 63, 64, 99, 1}) {
            EXPECT_EQ(read_slab(folder / "a.h5ad", "uns/slabs", t)(1, 2), value + static_cast<double>(t));
        }
        EXPECT_THROW(read_slab(folder / "a.h5ad", "uns/slabs", 100), InputError);
    }
    std::filesystem::resize_file(folder / "a.h5ad", 3000);
    EXPECT_THROW(read_slab(folder / "a.h5ad", "uns/slabs", 1), InputError);
}

TEST_F(TrialReadTest, SaysWhetherAChildHasDoneIt) {
    const TrialRead outer("some.h5ad", [] {});
    const TrialRead inner("some.h5ad", [] {});
    EXPECT_TRUE(outer.by_child());
    EXPECT_FALSE(inner.by_child());
}

/// As in a program where another part ignores its children.
TEST_F(TrialReadTest, ProcessesThatWorkTogetherStartNoChild) {
    test::ThreadRanks ranks(2);
    ranks.run([&](int) {
        const TrialRead trial("some.h5ad", [] { std::abort(); });
        EXPECT_FALSE(trial.by_child());
    });
}

TEST_F(TrialReadTest, AChildThatTheSystemReapsIsJudgedAllTheSame) {
    const auto before = std::signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(refused<InputError>([] {}), "");
    EXPECT_THAT(refused<InputError>([] { std::abort(); }), HasSubstr("is damaged"));
    std::signal(SIGCHLD, before);
}

} // namespace
} // namespace pnmf::io
