#pragma once

#include <pnmf/parallel.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace pnmf::test {

/// Counts one up, and waits until there are two: not for ever, should the other one never come.
inline bool wait_for_two(std::atomic<int>& arrived) {
    ++arrived;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (arrived < 2 && std::chrono::steady_clock::now() < until) {
        std::this_thread::yield();
    }
    return arrived >= 2;
}

/// Threads with a queue, as a program may have them; the library uses them while this lives.
class LentThreads {
  public:
    explicit LentThreads(int count) {
        for (int i = 0; i < count; ++i) {
            threads_.emplace_back([this] { serve(); });
        }
        set_executor([this](std::function<void()> task) { push(std::move(task)); });
    }
    LentThreads(const LentThreads&) = delete;
    LentThreads& operator=(const LentThreads&) = delete;

    ~LentThreads() {
        set_executor({});
        for (std::size_t i = 0; i < threads_.size(); ++i) {
            push({});
        }
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }

  private:
    void push(std::function<void()> task) {
        {
            const std::lock_guard lock(mutex_);
            tasks_.push_back(std::move(task));
        }
        more_.notify_one();
    }

    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            more_.wait(lock, [&] { return !tasks_.empty(); });
            const std::function<void()> task = std::move(tasks_.front());
            tasks_.pop_front();
            if (!task) {
                return;
            }
            lock.unlock();
            task();
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable more_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::thread> threads_;
};

} // namespace pnmf::test
