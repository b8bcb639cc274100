#include "results/process_memory.hpp"

#include <malloc.h>

#include <fstream>
#include <string>

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

} // namespace

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
