#include "results/process_memory.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

namespace pnmf {
namespace {

/// A line of /proc/self/status, in bytes; 0 where there is none.
double status_bytes(const std::string& field) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(field)) {
            return 1024.0 * std::stod(line.substr(field.size() + 1));
        }
    }
    return 0.0;
}

/// A number alone in a file; NaN for "max" and where there is none.
double number_in(const char* path) {
    std::ifstream file(path);
    double number = 0.0;
    return file >> number ? number : std::numeric_limits<double>::quiet_NaN();
}

/// A line of /proc/meminfo, in bytes; 0 where there is none.
double machine_bytes(const std::string& field) {
    std::ifstream status("/proc/meminfo");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(field)) {
            return 1024.0 * std::stod(line.substr(field.size() + 1));
        }
    }
    return 0.0;
}

} // namespace

double available_bytes() {
    double free = machine_bytes("MemAvailable");
    // Control groups of version 2, then of version 1: a limit and what is used of it.
    for (const auto& [limit, used] : {std::pair("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
                                      std::pair("/sys/fs/cgroup/memory/memory.limit_in_bytes",
                                                "/sys/fs/cgroup/memory/memory.usage_in_bytes")}) {
        const double left = number_in(limit) - number_in(used);
        if (left > 0.0 && (free <= 0.0 || left < free)) {
            free = left;
        }
    }
    // `ulimit -v`, as batch systems set it.
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        const double left = static_cast<double>(space.rlim_cur) - status_bytes("VmSize");
        free = free <= 0.0 ? std::max(left, 1.0) : std::clamp(left, 1.0, free);
    }
    return free;
}

void give_back_memory() {
    malloc_trim(0);
}

void keep_to_plan(double planned) {
    if (planned > 0.0 && status_bytes("VmRSS") > planned) {
        give_back_memory();
    }
}

double resident_bytes() {
    give_back_memory();
    return status_bytes("VmRSS");
}

double peak_bytes() {
    return status_bytes("VmHWM");
}

} // namespace pnmf
