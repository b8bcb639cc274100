#include "parallel_region.hpp"
#include "usual_threads.hpp"

#include <pnmf/cancel.hpp>
#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pnmf {
namespace {

thread_local bool inside_parallel_region = false;
thread_local const std::atomic<bool>* stop_request = nullptr;

void throw_if_cancelled() {
    if (stop_request != nullptr && stop_request->load(std::memory_order_relaxed)) {
        throw Cancelled();
    }
}

/// One call of `parallel_for`, shared by the threads that work on it.
struct Job {
    Index count = 0;
    const std::function<void(Index)>* body = nullptr;
    const std::atomic<bool>* stop = stop_request; ///< of the caller
    std::atomic<Index> next{0};
    std::exception_ptr error;
    std::mutex error_mutex;

    void work() {
        inside_parallel_region = true;
        const CancelScope scope(stop);
        for (Index i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
            try {
                throw_if_cancelled();
                (*body)(i);
            } catch (...) {
                const std::lock_guard lock(error_mutex);
                if (!error) {
                    error = std::current_exception();
                }
                next.store(count);
            }
        }
        inside_parallel_region = false;
    }
};

/// Threads that wait for jobs. The calling thread works too, so a pool of n threads starts n − 1; fewer where
/// the system gives no more, for results do not depend on their number.
class Pool {
  public:
    explicit Pool(int threads) {
        workers_.reserve(static_cast<std::size_t>(threads - 1));
        try {
            for (int i = 1; i < threads; ++i) {
                workers_.emplace_back([this] { serve(); });
            }
        } catch (const std::exception&) {
            // Those that did start serve. A thread needs a place in the process table and some memory.
        }
    }

    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    ~Pool() {
        {
            const std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wake_.notify_all();
        for (std::thread& worker : workers_) {
            worker.join();
        }
    }

    void run(Job& job) {
        {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            ++generation_;
            busy_ = workers_.size();
        }
        wake_.notify_all();
        job.work();
        std::unique_lock lock(mutex_);
        done_.wait(lock, [this] { return busy_ == 0; });
        job_ = nullptr;
    }

  private:
    void serve() {
        std::uint64_t seen = 0;
        for (;;) {
            Job* job = nullptr;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
                if (stopping_) {
                    return;
                }
                seen = generation_;
                job = job_;
            }
            job->work();
            const std::lock_guard lock(mutex_);
            if (--busy_ == 0) {
                done_.notify_one();
            }
        }
    }

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    Job* job_ = nullptr;
    std::uint64_t generation_ = 0;
    std::size_t busy_ = 0;
    bool stopping_ = false;
};

/// The pool and its size. One region at a time: a second caller waits for the first.
struct Team {
    std::mutex mutex;
    std::atomic<int> threads{usual_threads(thread_facts())};
    std::unique_ptr<Pool> pool;
};

Team& team() {
    static Team instance;
    return instance;
}

/// A forked child has none of its parent's threads: it must not wait for them, nor join them at its end. A
/// fork waits until no region is at work.
void survive_forks() {
    static const int done = pthread_atfork([] { team().mutex.lock(); }, [] { team().mutex.unlock(); },
                                           [] {
                                               static_cast<void>(team().pool.release());
                                               team().mutex.unlock();
                                           });
    static_cast<void>(done);
}

} // namespace

bool inside_parallel_body() {
    return inside_parallel_region;
}

CancelScope::CancelScope(const std::atomic<bool>& stop) : CancelScope(&stop) {}

CancelScope::CancelScope(const std::atomic<bool>* stop) : before_(stop_request) {
    stop_request = stop;
}

CancelScope::~CancelScope() {
    stop_request = before_;
}

int thread_count() {
    return team().threads;
}

void set_thread_count(int threads) {
    require(threads >= 1, "threads must be at least 1, got {}", threads);
    const std::lock_guard lock(team().mutex);
    if (threads != team().threads) {
        team().pool.reset();
        team().threads = threads;
    }
}

void parallel_for(Index count, const std::function<void(Index)>& body) {
    if (count <= 0) {
        return;
    }
    if (inside_parallel_region || count == 1) {
        for (Index i = 0; i < count; ++i) {
            throw_if_cancelled();
            body(i);
        }
        return;
    }
    survive_forks(); // also without a pool: a child must not find the mutex locked by a thread it does not
                     // have
    const std::lock_guard lock(team().mutex);
    Job job;
    job.count = count;
    job.body = &body;
    if (team().threads == 1) {
        job.work();
    } else {
        if (!team().pool) {
            team().pool = std::make_unique<Pool>(team().threads);
        }
        team().pool->run(job);
    }
    if (job.error) {
        std::rethrow_exception(job.error);
    }
}

void parallel_blocks(Index count, Index block, const std::function<void(Index, Index)>& body) {
    const Index blocks = (count + block - 1) / block;
    parallel_for(blocks, [&](Index b) { body(b * block, std::min(count, (b + 1) * block)); });
}

} // namespace pnmf
