#include "parallel_region.hpp"
#include "support/lent_threads.hpp"

#include <pnmf/cancel.hpp>
#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

namespace pnmf {
namespace {

struct Hands {
    int threads;
    bool lent = false; ///< by the caller, in place of the library's own

    friend void PrintTo(const Hands& hands, std::ostream* out) {
        *out << hands.threads << (hands.lent ? " lent" : " own");
    }
};

class Parallel : public ::testing::TestWithParam<Hands> {
  protected:
    void SetUp() override {
        if (GetParam().lent) {
            lent_.emplace(threads() - 1);
        }
        set_thread_count(threads());
    }
    void TearDown() override { set_thread_count(before_); }

    static int threads() { return GetParam().threads; }

  private:
    int before_ = thread_count();
    std::optional<test::LentThreads> lent_;
};

TEST_P(Parallel, EveryItemIsVisitedOnce) {
    std::vector<std::atomic<int>> visits(1000);
    parallel_for(1000, [&](Index i) { ++visits[i]; });
    for (const auto& count : visits) {
        EXPECT_EQ(count, 1);
    }
}

TEST_P(Parallel, EveryItemOfANearLoopIsVisitedOnce) {
    for (const Index count : {0, 1, 2, 3, 5, 17, 1000}) {
        std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
        parallel_for_near(count, [&](Index i) { ++visits[i]; });
        for (const auto& times : visits) {
            EXPECT_EQ(times, 1) << count;
        }
    }
    std::atomic<int> inside = 0;
    parallel_for(10, [&](Index) { parallel_for_near(10, [&](Index) { ++inside; }); });
    EXPECT_EQ(inside, 100);
}

TEST_P(Parallel, ItemsOfANearLoopComeToTheSameThreadAgain) {
    const Index threads = Parallel::threads();
    std::vector<std::thread::id> first;
    for (int round = 0; round < 20; ++round) {
        // No item ends before all have begun: each is on a thread of its own.
        std::vector<std::thread::id> where(static_cast<std::size_t>(threads));
        std::atomic<Index> begun = 0;
        parallel_for_near(threads, [&](Index i) {
            where[i] = std::this_thread::get_id();
            ++begun;
            const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
            while (begun < threads && std::chrono::steady_clock::now() < until) {
                std::this_thread::yield();
            }
        });
        if (round == 0) {
            first = where;
        }
        EXPECT_EQ(where, first);
    }
}

TEST_P(Parallel, AnExceptionEndsANearLoop) {
    EXPECT_THROW(parallel_for_near(100, [](Index i) { require(i != 37, "item {}", i); }), InputError);
    std::atomic<int> total = 0;
    parallel_for_near(100, [&](Index) { ++total; });
    EXPECT_EQ(total, 100);
}

TEST_P(Parallel, ACallInsideABodyRunsAndEnds) {
    std::atomic<int> total = 0;
    parallel_for(10, [&](Index) {
        EXPECT_GE(thread_count(), 1);
        parallel_for(10, [&](Index) { ++total; });
    });
    EXPECT_EQ(total, 100);
}

TEST_P(Parallel, TwoCallersAreAtWorkTogether) {
    // The items of one loop end only when those of the other have begun.
    std::atomic<int> begun = 0;
    std::atomic<bool> in_vain = false;
    std::atomic<int> visits = 0;
    const auto call = [&] {
        parallel_for(20, [&](Index i) {
            if (i == 0) {
                in_vain = !test::wait_for_two(begun) || in_vain;
            }
            parallel_for(5, [&](Index) { ++visits; });
        });
    };
    std::thread other(call);
    call();
    other.join();
    EXPECT_FALSE(in_vain);
    EXPECT_EQ(visits, 200);
}

TEST_P(Parallel, ThreadsWithoutWorkHelpInsideABody) {
    if (threads() == 1) {
        return;
    }
    // Two items of the inner loop wait for each other: they end only on two threads.
    std::atomic<int> arrived = 0;
    std::atomic<bool> in_vain = false;
    parallel_for(2, [&](Index i) {
        if (i == 0) {
            parallel_for(2, [&](Index) { in_vain = !test::wait_for_two(arrived) || in_vain; });
        }
    });
    EXPECT_FALSE(in_vain);
}

TEST_P(Parallel, TheCallerHelpsInsideABodyOfAnotherThread) {
    if (threads() == 1) {
        return;
    }
    const auto caller = std::this_thread::get_id();
    // Each outer item is on a thread of its own. The caller's ends; the other one has a loop of two items
    // that wait for each other.
    std::atomic<int> outer = 0;
    std::atomic<int> inner = 0;
    std::atomic<bool> in_vain = false;
    parallel_for(2, [&](Index) {
        const bool both = test::wait_for_two(outer);
        if (both && std::this_thread::get_id() != caller) {
            parallel_for(2, [&](Index) { in_vain = !test::wait_for_two(inner) || in_vain; });
        }
    });
    EXPECT_EQ(outer, 2);
    EXPECT_FALSE(in_vain);
}

TEST_P(Parallel, AThreadThatWaitsForItsHelpersHelpsThem) {
    if (threads() == 1) {
        return;
    }
    // With two threads: one has a loop inside of a body, the other one helps with it, and divides its item
    // into two that wait for each other. Only the first one can come.
    std::atomic<int> middle = 0;
    std::atomic<int> inner = 0;
    std::atomic<bool> in_vain = false;
    parallel_for(2, [&](Index i) {
        if (i == 1) {
            return;
        }
        const auto owner = std::this_thread::get_id();
        parallel_for(2, [&](Index) {
            in_vain = !test::wait_for_two(middle) || in_vain;
            if (std::this_thread::get_id() != owner) {
                parallel_for(2, [&](Index) { in_vain = !test::wait_for_two(inner) || in_vain; });
            }
        });
    });
    EXPECT_GE(inner, 2); // with more threads both items may be helpers'
    EXPECT_FALSE(in_vain);
}

TEST_P(Parallel, LoopsInLoopsVisitEveryItemOnce) {
    constexpr Index sides[] = {5, 4, 3, 7};
    for (int round = 0; round < 200; ++round) {
        std::vector<std::atomic<int>> visits(5 * 4 * 3 * 7);
        parallel_for(sides[0], [&](Index a) {
            parallel_for(sides[1], [&](Index b) {
                parallel_for(sides[2], [&](Index c) {
                    parallel_for(sides[3], [&](Index d) {
                        ++visits[((a * sides[1] + b) * sides[2] + c) * sides[3] + d];
                    });
                });
            });
        });
        for (const auto& count : visits) {
            ASSERT_EQ(count, 1);
        }
    }
}

TEST_P(Parallel, FewItemsAtOnceVisitEveryItemOnceAndNoMoreAtATime) {
    for (const Index at_once : {1, 2, 3, 50}) {
        std::vector<std::atomic<int>> visits(20 * 30);
        std::atomic<Index> at_work = 0;
        std::atomic<Index> most = 0;
        parallel_few(20, at_once, [&](Index i) {
            const Index now = ++at_work;
            for (Index seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
            }
            parallel_for(30, [&](Index j) { ++visits[30 * i + j]; });
            --at_work;
        });
        for (const auto& count : visits) {
            ASSERT_EQ(count, 1) << at_once;
        }
        EXPECT_LE(most, at_once);
    }
    parallel_few(0, 2, [](Index) { FAIL(); });
}

TEST_P(Parallel, TwoOfFewItemsAreAtWorkTogether) {
    if (threads() < 2) {
        GTEST_SKIP() << "one thread";
    }
    std::atomic<int> at_work = 0;
    parallel_few(2, 2, [&](Index) {
        ++at_work; // neither ends before both have begun
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (at_work < 2 && std::chrono::steady_clock::now() < until) {
            std::this_thread::yield();
        }
        EXPECT_EQ(at_work, 2);
    });
}

TEST_P(Parallel, AnExceptionEndsFewItems) {
    std::atomic<int> done = 0;
    EXPECT_THROW(parallel_few(100000, 2,
                              [&](Index i) {
                                  require(i != 3, "item {}", i);
                                  ++done;
                                  std::this_thread::yield();
                              }),
                 InputError);
    EXPECT_GE(done, 3 - threads());
    EXPECT_LT(done, 100000 - 1);
}

TEST_P(Parallel, AnExceptionInsideABodyOfABodyReachesTheCaller) {
    for (int round = 0; round < 50; ++round) {
        const auto inner = [](Index i) { require(i != 3, "item {}", i); };
        EXPECT_THROW(parallel_for(8, [&](Index) { parallel_for(5, inner); }), InputError);
    }
    std::vector<std::atomic<int>> visits(64);
    parallel_for(8, [&](Index i) { parallel_for(8, [&](Index j) { ++visits[8 * i + j]; }); });
    for (const auto& count : visits) {
        EXPECT_EQ(count, 1);
    }
}

TEST_P(Parallel, AnExceptionReachesTheCallerAndThePoolGoesOn) {
    EXPECT_THROW(parallel_for(100, [](Index i) { require(i != 37, "item {}", i); }), InputError);
    std::atomic<int> total = 0;
    parallel_for(100, [&](Index) { ++total; });
    EXPECT_EQ(total, 100);
}

TEST_P(Parallel, BlocksCoverTheRange) {
    std::vector<std::atomic<int>> visits(103);
    parallel_blocks(103, 10, [&](Index begin, Index end) {
        EXPECT_LE(end - begin, 10);
        for (Index i = begin; i < end; ++i) {
            ++visits[i];
        }
    });
    for (const auto& count : visits) {
        EXPECT_EQ(count, 1);
    }
    parallel_blocks(0, 10, [](Index, Index) { FAIL() << "nothing to visit"; });
}

TEST_P(Parallel, ACancelledComputationStopsBeforeItsNextItemAndLaterOnesRun) {
    std::atomic<bool> stop = false;
    std::atomic<int> visits = 0;
    {
        const CancelScope scope(stop);
        const auto work = [&](Index i) {
            ++visits;
            if (i == 10) {
                stop = true;
            }
            while (!stop && i > 10) {
                std::this_thread::yield(); // item 10 has begun on another thread
            }
        };
        EXPECT_THROW(parallel_for(1000, work), Cancelled);
        EXPECT_GE(visits, 11);
        EXPECT_LE(visits, 11 + threads());
        EXPECT_THROW(parallel_for(1, work), Cancelled);
    }
    visits = 0;
    parallel_for(100, [&](Index) { ++visits; });
    EXPECT_EQ(visits, 100);
}

TEST_P(Parallel, ACallInsideABodyIsCancelledToo) {
    std::atomic<bool> stop = false;
    std::atomic<int> visits = 0;
    const CancelScope scope(stop);
    const auto inner = [&](Index) {
        ++visits;
        stop = true;
    };
    EXPECT_THROW(parallel_for(8, [&](Index) { parallel_for(1000, inner); }), Cancelled);
    EXPECT_LE(visits, threads());
}

TEST_P(Parallel, AForkedChildComputesAndEnds) {
    parallel_for(10, [](Index) {}); // starts the threads that the child will not have
    const pid_t child = fork();
    if (child == 0) {
        std::atomic<int> total = 0;
        parallel_for(100, [&](Index) { ++total; });
        _exit(total == 100 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel,
                         ::testing::Values(Hands{1}, Hands{2}, Hands{4}, Hands{2, true}, Hands{4, true}),
                         [](const auto& hands) {
                             return (hands.param.lent ? "Lent" : "Own") + std::to_string(hands.param.threads);
                         });

TEST(ParallelSettings, AThreadCountBelowOneIsRejected) {
    EXPECT_THROW(set_thread_count(0), InputError);
}

} // namespace
} // namespace pnmf
