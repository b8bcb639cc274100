#pragma once

#include <pnmf/types.hpp>

#include <functional>

namespace pnmf {

/// Threads to work with; at first OMP_NUM_THREADS, else the processors that this process may use.
int thread_count();

/// Sets it; at least 1. Not while the library is computing. No result depends on it.
void set_thread_count(int threads);

/// Runs a task on some thread of the caller's: at once or later, or drops it.
using Executor = std::function<void(std::function<void()> task)>;

/// Threads of the caller's in place of the library's own, which it then does not start; an empty executor:
/// its own again. Not while the library is computing. A job hands out at most `thread_count()` − 1 tasks; its
/// own thread works too and never waits for a task that has not begun. Tasks throw nothing and may be run
/// when all is over: then they end at once. What the executor throws reaches the caller of the job. A forked
/// child has own threads.
void set_executor(Executor executor);

/// Calls `body(i)` once for each i in [0, count), on as many threads as `thread_count()`.
///
/// The split of work into items must not depend on the number of threads: then neither do results.
/// Sums over items are the caller's: keep one partial sum for each item and add them in order.
/// A call from inside a body gets the threads that have no work. The first exception thrown is rethrown here.
void parallel_for(Index count, const std::function<void(Index)>& body);

/// Consecutive blocks of at most `block` items that cover [0, count): `body(begin, end)` for each.
void parallel_blocks(Index count, Index block, const std::function<void(Index, Index)>& body);

} // namespace pnmf
