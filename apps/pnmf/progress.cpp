#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace pnmf::cli {
namespace {

constexpr double between_lines = 60.0; // seconds, in a log

std::string duration(double seconds) {
    if (seconds < 60.0) {
        return fmt::format("{:.0f} s", seconds);
    }
    if (seconds < 3600.0) {
        return fmt::format("{:.0f} min", seconds / 60.0);
    }
    return fmt::format("{:.1f} h", seconds / 3600.0);
}

} // namespace

Progress::Progress(double tolerance, Index limit, bool certificate)
    : tolerance_(tolerance), limit_(limit), certificate_(certificate), terminal_(isatty(STDERR_FILENO) != 0) {
}

Progress::~Progress() {
    end_line();
}

void Progress::end_line() {
    if (terminal_ && width_ > 0) {
        std::fputs("\n", stderr);
        width_ = 0;
    }
}

double Progress::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Progress::starting() {
    show(fmt::format("starting · {}", duration(seconds())));
}

void Progress::sweep(const SweepReport& report) {
    const double left = seconds_left(report);
    std::string line =
        fmt::format("sweep {}/{} · objective {:.6g}", report.sweep, limit_, report.objective.total());
    if (certificate_) {
        line += fmt::format(" · KKT residual {:.1e}", report.residual.certificate());
    }
    line += fmt::format(" · {}", duration(seconds()));
    if (std::isfinite(left)) {
        line += fmt::format(", about {} left", duration(left));
    }
    show(line);
}

/// The residual falls roughly by a constant factor a sweep; the limit ends the run at the latest.
double Progress::seconds_left(const SweepReport& report) {
    const double excess = std::log(std::max(report.residual.certificate() / tolerance_, 1.0));
    if (first_ < 0) {
        first_ = report.sweep;
        first_excess_ = excess;
        first_sweep_ = std::chrono::steady_clock::now();
        return INFINITY;
    }
    const auto sweeps = static_cast<double>(report.sweep - first_);
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - first_sweep_).count();
    double sweeps_left = static_cast<double>(limit_ - report.sweep);
    if (certificate_ && tolerance_ > 0.0 && first_excess_ > excess) {
        sweeps_left = std::min(sweeps_left, excess / ((first_excess_ - excess) / sweeps));
    }
    return sweeps_left * elapsed / sweeps;
}

void Progress::show(const std::string& line) {
    if (terminal_) {
        fmt::print(stderr, "\r{:<{}}", line, width_);
        std::fflush(stderr);
        width_ = std::max(width_, line.size());
    } else if (seconds() - last_line_ >= between_lines) {
        fmt::print(stderr, "{}\n", line);
        last_line_ = seconds();
    }
}

} // namespace pnmf::cli
