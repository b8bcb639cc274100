#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace pnmf {

/// What decides how many threads are used where nobody says so.
struct ThreadFacts {
    std::optional<std::string> omp_num_threads{}; ///< the environment variable of that name
    int processors = 1;                           ///< that this process may run on
    /// Processors' worth of time that the process may use; nothing: no limit.
    std::optional<double> quota{};
};

/// The number in OMP_NUM_THREADS (of a list, as OpenMP allows, the first), where there is a whole number
/// above 0. Else the processors, but not more than the quota, rounded up: a container that may use 1.5
/// processors gets 2 threads. At least 1.
int usual_threads(const ThreadFacts& facts);

/// The quota of the control group of this process, or of a group above it where that is smaller; versions 1
/// and 2. `root` is the root of the file system. Nothing where there is no limit or no such files.
std::optional<double> processor_quota(const std::filesystem::path& root = "/");

/// The facts about this process.
ThreadFacts thread_facts();

} // namespace pnmf
