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
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

namespace pnmf {
namespace {

struct Job;
thread_local Job* job_at_work = nullptr; ///< whose body this thread is inside of
thread_local const std::atomic<bool>* stop_request = nullptr;

class Pool;
thread_local Pool* pool_at_work = nullptr; ///< that this thread works for, inside a parallel region
thread_local std::size_t number_in_pool = 0;

void throw_if_cancelled() {
    if (stop_request != nullptr && stop_request->load(std::memory_order_relaxed)) {
        throw Cancelled();
    }
}

/// Consecutive items, taken one after the other. Threads write to different lines of the cache.
struct alignas(64) ItemRun {
    std::atomic<Index> next{0};
    Index end = 0;

    bool has_items() const { return next.load(std::memory_order_relaxed) < end; }
};

/// One call of `parallel_for`, shared by the threads that work on it. Each begins with a run of its own, if
/// there are several, and then takes what is left of the others.
struct Job {
    std::span<ItemRun> runs;
    const std::function<void(Index)>* body = nullptr;
    const std::atomic<bool>* stop = stop_request; ///< of the caller
    Job* const outer = job_at_work;               ///< that it is a part of
    std::exception_ptr error;
    std::mutex error_mutex;
    // The pool's mutex guards these.
    std::size_t helpers = 0;         ///< threads of the pool at work on it
    bool caller_waits = false;       ///< for them
    std::condition_variable changed; ///< there are none any more, or there is a new job that is a part of it

    bool has_items() const { return std::any_of(runs.begin(), runs.end(), std::mem_fn(&ItemRun::has_items)); }
    Index count() const { return runs.back().end; }

    bool is_part_of(const Job& other) const {
        return this == &other || (outer != nullptr && outer->is_part_of(other));
    }

    /// Ends it: no item begins any more. The first error is the one that the caller gets.
    void fail(std::exception_ptr cause) {
        const std::lock_guard lock(error_mutex);
        if (!error) {
            error = std::move(cause);
        }
        for (ItemRun& run : runs) {
            run.next.store(run.end);
        }
    }

    void work() {
        Job* const before = std::exchange(job_at_work, this);
        const CancelScope scope(stop);
        for (std::size_t r = 0; r < runs.size(); ++r) {
            work_on(runs[(number_in_pool + r) % runs.size()]);
        }
        job_at_work = before;
    }

  private:
    void work_on(ItemRun& run) {
        for (Index i = run.next.fetch_add(1); i < run.end; i = run.next.fetch_add(1)) {
            try {
                throw_if_cancelled();
                (*body)(i);
            } catch (...) {
                fail(std::current_exception());
            }
        }
    }
};

/// Threads that help with jobs. The thread that has a job works on it too, so a pool of n threads starts
/// n − 1; fewer where the system gives no more, for results do not depend on their number. With an executor
/// it starts none but hands out tasks, at most n − 1 at a time. A thread that runs one helps as an own thread
/// does, until no job has items left.
///
/// Jobs may be made inside of bodies. A thread without work helps with the oldest job that has items left:
/// the outermost ones first, then what they are divided into. A thread whose own job has no items left waits
/// for its helpers, and meanwhile helps with what these divide theirs into: parts of its own job and nothing
/// else, so that it is back when the helpers are. Nobody waits for threads that have not come to help, so a
/// job of a few microseconds costs little more than its items.
class Pool : public std::enable_shared_from_this<Pool> {
  public:
    /// The executor must live as long as jobs are run.
    Pool(int threads, const Executor& executor)
        : executor_(executor), helpers_(static_cast<std::size_t>(threads - 1)) {
        if (executor) {
            return;
        }
        workers_.reserve(helpers_);
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
        std::size_t asleep = 0;
        {
            const std::lock_guard lock(mutex_);
            jobs_.push_back(&job);
            asleep = asleep_;
            for (Job* outer = job.outer; outer != nullptr; outer = outer->outer) {
                if (outer->caller_waits) {
                    outer->changed.notify_one();
                }
            }
        }
        const auto useful = static_cast<std::size_t>(job.count() - 1);
        if (executor_) {
            invite(job, std::min(useful, helpers_));
        } else if (asleep > useful) {
            for (std::size_t i = 0; i < useful; ++i) {
                wake_.notify_one();
            }
        } else if (asleep > 0) {
            wake_.notify_all();
        }
        job.work();
        std::unique_lock lock(mutex_);
        std::erase(jobs_, &job);
        while (job.helpers != 0) {
            if (Job* const part = job_with_items(&job)) {
                help(*part, lock);
            } else {
                job.caller_waits = true;
                job.changed.wait(lock);
                job.caller_waits = false;
            }
        }
    }

  private:
    /// Held by a task that was given to an executor, which may run it late, when the job or even the pool's
    /// use is over, or never.
    struct Place {
        std::shared_ptr<Pool> pool;

        Place() = default;
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        ~Place() {
            if (pool) {
                const std::lock_guard lock(pool->mutex_);
                ++pool->free_places_;
            }
        }

        void use() {
            // Where the executor runs it at once, that thread is at work already.
            if (pool && pool_at_work == nullptr) {
                std::exchange(pool, nullptr)->serve_once();
            }
        }
    };

    /// Hands out at most `useful` tasks.
    void invite(Job& job, std::size_t useful) {
        try {
            for (std::size_t i = 0; i < useful && job.has_items(); ++i) {
                const auto place = std::make_shared<Place>();
                {
                    const std::lock_guard lock(mutex_);
                    if (free_places_ == 0) {
                        return;
                    }
                    --free_places_;
                }
                place->pool = shared_from_this();
                executor_([place] { place->use(); });
            }
        } catch (...) {
            job.fail(std::current_exception());
        }
    }

    /// The oldest of those that are parts of `whole`, or of all.
    Job* job_with_items(const Job* whole = nullptr) const {
        const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const Job* job) {
            return job->has_items() && (whole == nullptr || job->is_part_of(*whole));
        });
        return found == jobs_.end() ? nullptr : *found;
    }

    void help(Job& job, std::unique_lock<std::mutex>& lock) {
        ++job.helpers;
        lock.unlock();
        job.work();
        lock.lock();
        if (--job.helpers == 0 && job.caller_waits) {
            job.changed.notify_one();
        }
    }

    void help_while_there_are_items(std::unique_lock<std::mutex>& lock) {
        if (number_in_pool == 0) {
            number_in_pool = ++numbered_threads_;
        }
        while (Job* const job = job_with_items()) {
            help(*job, lock);
        }
    }

    void serve() {
        pool_at_work = this;
        std::unique_lock lock(mutex_);
        for (;;) {
            help_while_there_are_items(lock);
            if (stopping_) {
                return;
            }
            ++asleep_;
            wake_.wait(lock);
            --asleep_;
        }
    }

    /// On a thread that an executor lends. The place is free again before any later job looks for one.
    void serve_once() {
        pool_at_work = this;
        std::unique_lock lock(mutex_);
        help_while_there_are_items(lock);
        ++free_places_;
        pool_at_work = nullptr;
    }

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::vector<Job*> jobs_; ///< oldest first
    std::size_t asleep_ = 0;
    bool stopping_ = false;
    const Executor& executor_;
    const std::size_t helpers_;
    std::size_t free_places_ = helpers_;
    std::size_t numbered_threads_ = 0;
};

/// The pool, its size and who lends it threads. Several callers may be at work at once; who takes both
/// mutexes is alone, and the first one keeps new callers out meanwhile.
struct Team {
    std::mutex entrance;
    std::shared_mutex at_work;
    std::atomic<int> threads{usual_threads(thread_facts())};
    Executor executor;
    std::shared_ptr<Pool> pool;

    void lock() {
        entrance.lock();
        at_work.lock();
    }
    void unlock() {
        at_work.unlock();
        entrance.unlock();
    }
};

Team& team() {
    static Team instance;
    return instance;
}

/// A forked child has none of its parent's threads, own or lent: it must not wait for them, nor join them at
/// its end, and starts its own. A fork waits until no region is at work.
void survive_forks() {
    const auto begin_child = [] {
        new (&team().pool) std::shared_ptr<Pool>;
        new (&team().executor) Executor;
        // The child's only thread has another number than the one that locked it, and could not unlock it.
        new (&team().at_work) std::shared_mutex;
        team().entrance.unlock();
    };
    static const int done = pthread_atfork([] { team().lock(); }, [] { team().unlock(); }, begin_child);
    static_cast<void>(done);
}

/// A caller's place among those at work; the first one starts the pool.
std::shared_lock<std::shared_mutex> enter(Team& team) {
    const std::lock_guard door(team.entrance);
    std::shared_lock at_work(team.at_work);
    if (!team.pool && team.threads > 1) {
        team.pool = std::make_shared<Pool>(team.threads, team.executor);
    }
    return at_work;
}

/// Whether nobody could help.
bool does_alone(Index count) {
    return count <= 1 || (inside_parallel_body() && pool_at_work == nullptr);
}

void do_items(Index count, const std::function<void(Index)>& body) {
    for (Index i = 0; i < count; ++i) {
        throw_if_cancelled();
        body(i);
    }
}

void share_items(std::span<ItemRun> runs, const std::function<void(Index)>& body) {
    Job job;
    job.runs = runs;
    job.body = &body;
    if (pool_at_work != nullptr) {
        pool_at_work->run(job);
    } else {
        survive_forks(); // also without a pool: a child must not find the mutex locked for good
        const auto at_work = enter(team());
        if (team().threads == 1) {
            job.work();
        } else {
            pool_at_work = team().pool.get();
            const std::unique_ptr<Pool*, void (*)(Pool**)> left(&pool_at_work,
                                                                [](Pool** at) { *at = nullptr; });
            pool_at_work->run(job);
        }
    }
    if (job.error) {
        std::rethrow_exception(job.error);
    }
}

} // namespace

bool inside_parallel_body() {
    return job_at_work != nullptr;
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
    const std::lock_guard alone(team());
    if (threads != team().threads) {
        team().pool.reset();
        team().threads = threads;
    }
}

void set_executor(Executor executor) {
    survive_forks(); // also before the first region: a child must not use the executor
    const std::lock_guard alone(team());
    team().pool.reset();
    team().executor.swap(
        executor); // the one before ends after the lock: it may wait for threads that want it
}

void parallel_for(Index count, const std::function<void(Index)>& body) {
    if (does_alone(count)) {
        do_items(count, body);
        return;
    }
    ItemRun all;
    all.end = count;
    share_items({&all, 1}, body);
}

void parallel_for_near(Index count, const std::function<void(Index)>& body) {
    if (does_alone(count)) {
        do_items(count, body);
        return;
    }
    std::vector<ItemRun> runs(static_cast<std::size_t>(std::min<Index>(count, thread_count())));
    for (Index r = 0; r < std::ssize(runs); ++r) {
        runs[r].next = count * r / std::ssize(runs);
        runs[r].end = count * (r + 1) / std::ssize(runs);
    }
    share_items(runs, body);
}

void parallel_few(Index count, Index at_once, const std::function<void(Index)>& body) {
    std::atomic<Index> next{0};
    parallel_for(std::min(count, at_once), [&](Index) {
        for (Index i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
            try {
                throw_if_cancelled();
                body(i);
            } catch (...) {
                next = count;
                throw;
            }
        }
    });
}

void parallel_blocks(Index count, Index block, const std::function<void(Index, Index)>& body) {
    const Index blocks = (count + block - 1) / block;
    parallel_for(blocks, [&](Index b) { body(b * block, std::min(count, (b + 1) * block)); });
}

} // namespace pnmf
