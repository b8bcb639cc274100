#include "progress.hpp"
#include "say.hpp"

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

Progress::Progress(bool certificate) : certificate_(certificate), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
    end_line();
}

void Progress::end_line() {
    if (terminal_ && width_ > 0) {
        say_text("\n");
        width_ = 0;
    }
}

double Progress::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Progress::starting() {
    show(fmt::format("starting · {}", duration(seconds())));
}

void Progress::sweep(const RunProgress& report) {
    const double left = seconds_left(report.fraction);
    const SweepReport& sweep = *report.sweep;
    std::string line = fmt::format("sweep {}/{} · objective {:.6g}", sweep.sweep, report.max_sweeps,
                                   sweep.objective.total());
    if (certificate_) {
        line += fmt::format(" · KKT residual {:.1e}", sweep.residual.certificate());
    }
    line += fmt::format(" · {}", duration(seconds()));
    if (std::isfinite(left)) {
        line += fmt::format(", about {} left", duration(left));
    }
    show(line);
}

/// From the pace since the first sweep that was seen.
double Progress::seconds_left(double fraction) {
    if (!swept_) {
        swept_ = true;
        first_sweep_ = std::chrono::steady_clock::now();
        return INFINITY;
    }
    const double elapsed =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - first_sweep_).count();
    return fraction > 0.0 ? elapsed * (1.0 - fraction) / fraction : INFINITY;
}

void Progress::show(const std::string& line) {
    if (terminal_) {
        say_text(fmt::format("\r{:<{}}", line, width_));
        width_ = std::max(width_, line.size());
    } else if (seconds() - last_line_ >= between_lines) {
        say("{}\n", line);
        last_line_ = seconds();
    }
}

} // namespace pnmf::cli
