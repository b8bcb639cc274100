#pragma once

namespace pnmf::cli {

/// From here on Ctrl-C (SIGINT), SIGTERM and SIGHUP ask for a stop instead of ending the program; a second
/// one ends it. `speak`: whether this process says so when it happens. `of_several`: SIGUSR1 too, which
/// mpirun hands on to its processes.
void catch_interrupts(bool speak = true, bool of_several = false);

/// The signal that asked for a stop; 0 when none did.
int interrupt_signal();

} // namespace pnmf::cli
