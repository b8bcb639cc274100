#pragma once

/// What no handler can reach ends with a line and exit code 1, not with an abort: memory that runs out before
/// `main`, inside a destructor or inside a library. HDF5 does not expect that everywhere: it calls `exit`, or
/// follows a null pointer.
///
/// Where a core file is asked for (`ulimit -c`), a crash leaves one, as it would by itself.
namespace pnmf::cli {

/// From here on `exit` is ours to call, after `reach_end`; called by another, it is a failure.
void guard_end();
void reach_end();

} // namespace pnmf::cli
