#include "support/lent_threads.hpp"

#include <pnmf/cancel.hpp>
#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pnmf {
namespace {

using Task = std::function<void()>;

class Executors : public ::testing::Test {
  protected:
    void SetUp() override { set_thread_count(3); }
    void TearDown() override {
        set_executor({});
        set_thread_count(before_);
    }

  private:
    int before_ = thread_count();
};

/// Sums of sums, added in order.
double nested_sum() {
    std::vector<double> outer(20);
    parallel_for(20, [&](Index i) {
        std::vector<double> inner(50);
        parallel_for(50, [&](Index j) { inner[j] = 1.0 / static_cast<double>(50 * i + j + 1); });
        outer[i] = std::accumulate(inner.begin(), inner.end(), 0.0);
    });
    return std::accumulate(outer.begin(), outer.end(), 0.0);
}

/// What every executor owes; it must be set.
void expect_that_all_is_as_usual() {
    set_thread_count(1);
    const double alone = nested_sum();
    for (const int threads : {2, 3, 5}) {
        set_thread_count(threads);
        EXPECT_EQ(thread_count(), threads);
        for (int round = 0; round < 20; ++round) {
            ASSERT_EQ(nested_sum(), alone);
        }
    }
    const auto bad_item = [](Index i) { require(i != 37, "item {}", i); };
    EXPECT_THROW(parallel_for(100, bad_item), InputError);
    EXPECT_THROW(parallel_for(3, [&](Index) { parallel_for(100, bad_item); }), InputError);
    std::atomic<bool> stop = false;
    const auto stopping = [&](Index) { stop = true; };
    const CancelScope scope(stop);
    EXPECT_THROW(parallel_for(3, [&](Index) { parallel_for(100, stopping); }), Cancelled);
    stop = false;
    EXPECT_EQ(nested_sum(), alone);
}

TEST_F(Executors, TasksMayRunAtOnceOnTheThreadOfTheCaller) {
    const auto caller = std::this_thread::get_id();
    int tasks = 0; // without a lock: there is one thread
    set_executor([&](const Task& task) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        ++tasks;
        task();
    });
    expect_that_all_is_as_usual();
    EXPECT_GT(tasks, 0);
}

TEST_F(Executors, TasksInsideOfABodyThatRunAtOnceDoNotPileUp) {
    set_executor([](const Task& task) { task(); });
    int depth = 0;
    int deepest = 0;
    parallel_for(1000, [&](Index) {
        deepest = std::max(deepest, ++depth);
        parallel_for(2, [](Index) {});
        --depth;
    });
    EXPECT_EQ(deepest, 1);
}

TEST_F(Executors, TwoThreadsWithAQueueDoTheSame) {
    const test::LentThreads lent(2);
    expect_that_all_is_as_usual();
}

TEST_F(Executors, TasksMayBeDroppedAndLaterOnesAreHandedOutAllTheSame) {
    std::atomic<int> dropped = 0;
    set_executor([&](const Task&) { ++dropped; });
    expect_that_all_is_as_usual();
    set_thread_count(3);
    dropped = 0;
    parallel_for(10, [](Index) {});
    EXPECT_EQ(dropped, 2);
    parallel_for(2, [](Index) {});
    EXPECT_EQ(dropped, 3);
}

TEST_F(Executors, TasksThatRunLongAfterTheirJobDoNothing) {
    std::mutex mutex; // jobs inside of bodies hand out tasks too
    std::vector<Task> kept;
    const auto keep = [&](Task task) {
        const std::lock_guard lock(mutex);
        kept.push_back(std::move(task));
    };
    set_executor(keep);
    expect_that_all_is_as_usual();
    set_thread_count(3);
    kept.clear();
    double sum = nested_sum();
    EXPECT_EQ(kept.size(), 2U); // not more as long as these may still be run
    for (const Task& task : kept) {
        std::thread(task).join();
        std::thread(task).join(); // once too often
    }
    EXPECT_EQ(nested_sum(), sum);
    EXPECT_EQ(kept.size(), 4U);
    set_executor({}); // the pool they belong to is gone
    for (const Task& task : kept) {
        std::thread(task).join();
    }
    EXPECT_EQ(nested_sum(), sum);
}

TEST_F(Executors, ATaskOfAnEarlierJobHelpsALaterOne) {
    std::vector<Task> kept;
    set_executor([&](Task task) { kept.push_back(std::move(task)); });
    set_thread_count(2);
    parallel_for(2, [](Index) {});
    ASSERT_EQ(kept.size(), 1U);
    std::atomic<int> arrived = 0;
    std::atomic<int> met = 0;
    std::thread late;
    std::atomic_flag begun;
    parallel_for(2, [&](Index) {
        if (!begun.test_and_set()) {
            late = std::thread(kept[0]);
        }
        met += test::wait_for_two(arrived) ? 1 : 0;
    });
    late.join();
    EXPECT_EQ(met, 2);
}

TEST_F(Executors, WhatTheExecutorThrowsReachesTheCaller) {
    set_executor([](const Task&) { throw std::length_error("full"); });
    EXPECT_THROW(parallel_for(10, [](Index) {}), std::length_error);
    EXPECT_THROW(nested_sum(), std::length_error);
    set_executor({});
    EXPECT_GT(nested_sum(), 0.0);
}

TEST_F(Executors, ARunOfOneThreadOrOneItemHandsOutNothing) {
    set_executor([](const Task&) { ADD_FAILURE(); });
    parallel_for(1, [](Index) {});
    set_thread_count(1);
    nested_sum();
}

TEST_F(Executors, ATaskOfTheCallersOwnThatTheExecutorRunsFirstMayCompute) {
    double own = 0.0;
    set_executor([&](const Task& task) {
        if (own == 0.0) {
            own = 1.0;
            own = nested_sum();
        }
        task();
    });
    EXPECT_EQ(nested_sum(), own);
}

std::set<std::string> threads_of_this_process() {
    std::set<std::string> numbers;
    for (const auto& one : std::filesystem::directory_iterator("/proc/self/task")) {
        numbers.insert(one.path().filename().string());
    }
    return numbers;
}

TEST_F(Executors, NoThreadIsStartedWhereSomeAreLent) {
    if (!std::filesystem::exists("/proc/self/task")) {
        GTEST_SKIP() << "no /proc/self/task";
    }
    const test::LentThreads lent(2);
    const auto before = threads_of_this_process();
    // A thread that has ended may be in the list a moment longer.
    const auto new_ones = [&] {
        const auto now = threads_of_this_process();
        return std::count_if(now.begin(), now.end(), [&](const auto& one) { return before.count(one) == 0; });
    };
    nested_sum();
    set_thread_count(8);
    nested_sum();
    EXPECT_EQ(new_ones(), 0);
    set_executor({});
    nested_sum();
    EXPECT_EQ(new_ones(), 7); // own ones would have been seen
}

} // namespace
} // namespace pnmf
