#pragma once

#include <filesystem>

/// What this process holds, as the system counts it.
namespace pnmf {

/// What was freed goes back to the system: it may lie in pieces that nothing else fits into.
void give_back_memory();
/// The same when more than `planned` bytes are held, unless that is 0.
void keep_to_plan(double planned);
/// Bytes this process holds now, what it has freed given back first; without arrays that are out of core.
double resident_bytes();
/// Bytes that it could still have: what the machine has free, or less where one of its control groups has a
/// limit, as containers and batch systems set them: of the groups that are inside each other the one that has
/// least left. Pages of files that the system can drop do not count as used. 0 where the system does not say.
/// `root`: the folder that has proc and sys.
double available_bytes(const std::filesystem::path& root = "/");
/// The most it has held.
double peak_bytes();

} // namespace pnmf
