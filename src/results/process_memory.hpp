#pragma once

/// What this process holds, as the system counts it.
namespace pnmf {

/// What was freed goes back to the system: it may lie in pieces that nothing else fits into.
void give_back_memory();
/// The same when more than `planned` bytes are held, unless that is 0.
void keep_to_plan(double planned);
/// Bytes this process holds now, what it has freed given back first.
double resident_bytes();
/// Bytes that it could still have: what the machine has free, or less where the process is in a group with a
/// limit (a container). 0 where the system does not say.
double available_bytes();
/// The most it has held.
double peak_bytes();

} // namespace pnmf
