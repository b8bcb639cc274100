#include "results/process_memory.hpp"

#include "linalg/arrays_on_disk.hpp"

#include <malloc.h>
#include <sys/resource.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace pnmf {
namespace {

namespace fs = std::filesystem;

/// The number after a word at the begin of a line; NaN where there is none.
double number_after(const fs::path& path, const std::string& word) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(word)) {
            return std::stod(line.substr(word.size()));
        }
    }
    return std::numeric_limits<double>::quiet_NaN();
}

/// In bytes; 0 where there is none.
double status_bytes(const char* field) {
    const double kilobytes = number_after("/proc/self/status", field);
    return kilobytes > 0.0 ? 1024.0 * kilobytes : 0.0;
}

/// A number alone in a file; NaN for "max" and where there is none.
double number_in(const fs::path& path) {
    std::ifstream file(path);
    double number = 0.0;
    return file >> number ? number : std::numeric_limits<double>::quiet_NaN();
}

/// The files of a version of control groups.
struct GroupFiles {
    const char* limit;
    const char* used;
    const char* droppable; ///< in memory.stat: pages of files that are not in use
    const char* active;    ///< and those that are, such as those of arrays that are out of core
};
constexpr GroupFiles version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
                               "total_active_file "};
constexpr GroupFiles version_2{"memory.max", "memory.current", "inactive_file ", "active_file "};

/// The least that is left in a group and those around it, up to the `mount` of all; NaN where none has a
/// limit. The path is missing where a container shows a part of the groups only: then those that it shows.
double left_in_groups(const fs::path& mount, const fs::path& group, const GroupFiles& files) {
    double least = std::numeric_limits<double>::quiet_NaN();
    fs::path at = (mount / group.relative_path()).lexically_normal();
    if (!at.string().starts_with(mount.string())) {
        at = mount;
    }
    while (true) {
        double dropped = number_after(at / "memory.stat", files.droppable);
        if (arrays_on_disk()) {
            dropped += number_after(at / "memory.stat", files.active);
        }
        const double left =
            number_in(at / files.limit) - number_in(at / files.used) + (dropped > 0.0 ? dropped : 0.0);
        least = std::fmin(least, left);
        if (at == mount) {
            return least;
        }
        at = at.parent_path();
    }
}

/// Over the groups of this process: "0::/path" is of version 2, "4:memory:/path" of version 1.
double left_in_own_groups(const fs::path& root) {
    const fs::path mount = (root / "sys/fs/cgroup").lexically_normal();
    double least = std::numeric_limits<double>::quiet_NaN();
    std::ifstream groups(root / "proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string kinds = ',' + line.substr(first + 1, second - first - 1) + ',';
        const fs::path group = line.substr(second + 1);
        if (kinds == ",,") {
            least = std::fmin(least, left_in_groups(mount, group, version_2));
            least = std::fmin(least, left_in_groups(mount / "unified", group, version_2));
        } else if (kinds.find(",memory,") != std::string::npos) {
            least = std::fmin(least, left_in_groups(mount / "memory", group, version_1));
        }
    }
    return least;
}

} // namespace

double available_bytes(const fs::path& root) {
    double free = 1024.0 * number_after(root / "proc/meminfo", "MemAvailable:");
    std::vector<double> limits{left_in_own_groups(root)};
    if (rlimit space{}; getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) { // `ulimit -v`
        limits.push_back(static_cast<double>(space.rlim_cur) - status_bytes("VmSize:"));
    }
    for (const double left : limits) {
        free = std::fmin(free, left < 1.0 ? 1.0 : left);
    }
    return std::isnan(free) ? 0.0 : free;
}

void give_back_memory() {
    malloc_trim(0);
}

namespace {

/// What is out of core does not count: the system takes it away where others need memory.
double held_bytes() {
    return status_bytes(arrays_on_disk() ? "RssAnon:" : "VmRSS:");
}

} // namespace

void keep_to_plan(double planned) {
    if (planned > 0.0 && held_bytes() > planned) {
        give_back_memory();
    }
}

double resident_bytes() {
    give_back_memory();
    return held_bytes();
}

double peak_bytes() {
    return status_bytes("VmHWM:");
}

} // namespace pnmf
