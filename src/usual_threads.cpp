#include "usual_threads.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace pnmf {
namespace {

namespace fs = std::filesystem;

/// The whole number at the begin of a text, where it is above 0.
std::optional<int> leading_count(std::string_view text) {
    while (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
    int count = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    const bool ends = stop == text.data() + text.size() || *stop == ',' || *stop == ' ';
    return error == std::errc{} && ends && count > 0 ? std::optional(count) : std::nullopt;
}

std::optional<double> number_in(const fs::path& file) {
    std::ifstream stream(file);
    double number = 0.0;
    return stream >> number ? std::optional(number) : std::nullopt;
}

/// Version 2: "150000 100000" are 1.5 processors, "max 100000" is no limit.
std::optional<double> quota_of_version_2(const fs::path& group) {
    std::ifstream stream(group / "cpu.max");
    std::string quota;
    double period = 0.0;
    if (!(stream >> quota >> period) || quota == "max" || period <= 0.0) {
        return std::nullopt;
    }
    std::int64_t time = 0; // microseconds
    const auto [stop, error] = std::from_chars(quota.data(), quota.data() + quota.size(), time);
    return error == std::errc{} && time > 0 ? std::optional(static_cast<double>(time) / period)
                                            : std::nullopt;
}

/// Version 1: no limit is −1.
std::optional<double> quota_of_version_1(const fs::path& group) {
    const auto quota = number_in(group / "cpu.cfs_quota_us");
    const auto period = number_in(group / "cpu.cfs_period_us");
    return quota && period && *quota > 0.0 && *period > 0.0 ? std::optional(*quota / *period) : std::nullopt;
}

/// The smallest quota of a group and those above it, up to where the groups are mounted. In a container the
/// path of the group may be one outside it: then only the mount itself is found, which is the container's.
template <class QuotaOf>
std::optional<double> smallest_quota(const fs::path& mount, const fs::path& group, const QuotaOf& quota_of) {
    std::optional<double> smallest;
    for (fs::path at = group.relative_path();; at = at.parent_path()) {
        if (const std::optional<double> quota = quota_of(mount / at)) {
            smallest = std::min(*quota, smallest.value_or(*quota));
        }
        if (at.empty()) {
            return smallest;
        }
    }
}

bool names_processors(const std::string& controllers) {
    std::istringstream stream(controllers);
    for (std::string name; std::getline(stream, name, ',');) {
        if (name == "cpu") {
            return true;
        }
    }
    return false;
}

} // namespace

int usual_threads(const ThreadFacts& facts) {
    if (facts.omp_num_threads) {
        if (const std::optional<int> wanted = leading_count(*facts.omp_num_threads)) {
            return *wanted;
        }
    }
    int threads = facts.processors;
    if (facts.quota && *facts.quota < threads) {
        threads = static_cast<int>(std::ceil(*facts.quota));
    }
    return std::max(1, threads);
}

std::optional<double> processor_quota(const fs::path& root) {
    const fs::path mount = root / "sys/fs/cgroup";
    std::ifstream groups(root / "proc/self/cgroup");
    std::optional<double> smallest;
    // A line for each hierarchy: "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1.
    for (std::string line; std::getline(groups, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        const fs::path group = line.substr(second + 1);
        std::optional<double> quota;
        if (controllers.empty()) {
            quota = smallest_quota(mount, group, quota_of_version_2);
        } else if (names_processors(controllers)) {
            quota = smallest_quota(mount / "cpu", group, quota_of_version_1);
        }
        if (quota) {
            smallest = std::min(*quota, smallest.value_or(*quota));
        }
    }
    return smallest;
}

ThreadFacts thread_facts() {
    ThreadFacts facts;
    if (const char* const wanted = std::getenv("OMP_NUM_THREADS")) {
        facts.omp_num_threads = wanted;
    }
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    facts.processors = sched_getaffinity(0, sizeof allowed, &allowed) == 0
                           ? CPU_COUNT(&allowed)
                           : static_cast<int>(std::thread::hardware_concurrency());
    facts.quota = processor_quota();
    return facts;
}

} // namespace pnmf
