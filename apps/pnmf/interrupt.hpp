#pragma once

namespace pnmf::cli {

/// From here on Ctrl-C (SIGINT), SIGTERM and SIGHUP ask for a stop instead of ending the program; a second
/// one ends it.
void catch_interrupts();

/// The signal that asked for a stop; 0 when none did.
int interrupt_signal();

} // namespace pnmf::cli
