#pragma once

namespace pnmf::cli {

/// From here on Ctrl-C and SIGTERM ask for a stop instead of ending the program; a second one ends it.
void catch_interrupts();

/// Whether a stop was asked for.
bool interrupt_requested();

} // namespace pnmf::cli
