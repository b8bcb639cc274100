#pragma once

#include <pnmf/types.hpp>

#include <functional>

namespace pnmf {

/// Whether this thread is inside a body of `parallel_for`.
bool inside_parallel_body();

/// `parallel_for`, for calls with equally many items that follow each other and go through the same data:
/// each thread begins with the same items every time, whose data its processor may still have in its cache.
void parallel_for_near(Index count, const std::function<void(Index)>& body);

/// `parallel_for` with at most `at_once` items at work, for bodies that share out work of their own: when the
/// threads of one have nothing left to do, they go to another.
void parallel_few(Index count, Index at_once, const std::function<void(Index)>& body);

} // namespace pnmf
