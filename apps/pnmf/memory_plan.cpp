#include "memory_plan.hpp"

#include <pnmf/error.hpp>

#include <array>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <malloc.h>
#include <string>

namespace pnmf::cli {
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

std::string size_text(double bytes) {
    return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes / 1e9) : fmt::format("{:.0f} MB", bytes / 1e6);
}

/// What a run does about its memory.
struct Measures {
    bool bases_rest;
    bool keep_momentum;
    bool keep_shifts;
};

SolverMemory memory_of(const Measures& way, const FitSize& size, SolverOptions options, Index bytes_of_number,
                       int threads) {
    options.extrapolate = options.extrapolate && way.keep_momentum;
    options.shift_components = options.shift_components && way.keep_shifts;
    return solver_memory(size, options, bytes_of_number, threads, way.bases_rest);
}

} // namespace

double parse_size(const std::string& text) {
    std::size_t end = 0;
    double number = 0.0;
    try {
        number = std::stod(text, &end);
    } catch (const std::exception&) {
        end = 0;
    }
    std::string unit = text.substr(end);
    if (!unit.empty() && std::toupper(static_cast<unsigned char>(unit.back())) == 'B') {
        unit.pop_back();
    }
    const bool binary = unit.size() == 2 && unit[1] == 'i';
    const std::string letters = "KMGT";
    const std::size_t power =
        unit.empty() ? 0
                     : letters.find(static_cast<char>(std::toupper(static_cast<unsigned char>(unit[0])))) + 1;
    const bool known = unit.empty() || ((unit.size() == 1 || binary) && power > 0);
    require(end > 0 && known && std::isfinite(number) && number > 0.0,
            "--memory must be a size such as 16G or 800M, got {}", text);
    return number * std::pow(binary ? 1024.0 : 1000.0, static_cast<double>(power));
}

double resident_bytes() {
    malloc_trim(0);
    return status_bytes("VmRSS");
}

double peak_bytes() {
    return status_bytes("VmHWM");
}

MemoryPlan plan_memory(double limit, double held, const FitSize& size, const SolverOptions& options,
                       Index bytes_of_number, int threads) {
    // From what costs least to what costs most: files cost time in every sweep, what is not kept costs
    // sweeps.
    constexpr std::array<Measures, 6> ways{{{false, true, true},
                                            {true, true, true},
                                            {false, false, true},
                                            {true, false, true},
                                            {false, false, false},
                                            {true, false, false}}};
    MemoryPlan plan;
    SolverMemory memory;
    for (const Measures& way : ways) {
        plan.bases_rest = way.bases_rest;
        plan.keep_momentum = way.keep_momentum;
        plan.keep_shifts = way.keep_shifts;
        memory = memory_of(way, size, options, bytes_of_number, threads);
        plan.bytes = held + memory.total();
        if (plan.bytes <= limit) {
            break;
        }
    }
    const bool momentum = memory.before > 0.0;
    if (plan.bases_rest) {
        plan.file_bytes = (momentum ? 2.0 : 1.0) * static_cast<double>(size.scales * size.features) *
                          static_cast<double>(size.rank * bytes_of_number);
    }
    require(plan.bytes <= limit,
            "--memory: this run needs {} ({} data and graph, {} factors, {} products and sums, {} for {} "
            "threads), "
            "more than {}. Fewer scales (--max-scales){}{}, or a lower --rank needs less",
            size_text(plan.bytes), size_text(held), size_text(memory.factors),
            size_text(memory.products + memory.shifts), size_text(memory.work), threads, size_text(limit),
            bytes_of_number > 4 ? ", --precision float" : "", threads > 1 ? ", fewer --threads" : "");
    plan.text = fmt::format(
        "memory: {} of {} planned: {} data and graph, {} factors, {}{} products and sums, {} for {} threads",
        size_text(plan.bytes), size_text(limit), size_text(held), size_text(memory.factors),
        momentum ? size_text(memory.before) + " the point before, " : "",
        size_text(memory.products + memory.shifts), size_text(memory.work), threads);
    if (plan.bases_rest) {
        plan.text += fmt::format("; the bases rest in a file of {}, read and written in every sweep",
                                 size_text(plan.file_bytes));
    }
    if (!plan.keep_momentum && plan.keep_shifts) {
        plan.text += "; the point before is not kept, so sweeps have no momentum and more of them are needed";
    } else if (!plan.keep_shifts) {
        plan.text += "; the point before and sums over components are not kept, so more sweeps are needed";
    }
    return plan;
}

} // namespace pnmf::cli
