#pragma once

namespace pnmf {

/// Whether this thread is inside a body of `parallel_for`.
bool inside_parallel_body();

} // namespace pnmf
