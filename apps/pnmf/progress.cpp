#include "progress.hpp"
#include "say.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace pnmf::cli {
namespace {

constexpr double between_lines = 60.0; // seconds, in a log
constexpr std::size_t widest = 79;     // the last of 80 columns stays free: some terminals wrap there
constexpr std::size_t bar_length = 16;

std::string duration(double seconds) {
    if (seconds < 60.0) {
        return fmt::format("{:.0f} s", seconds);
    }
    if (seconds < 3600.0) {
        return fmt::format("{:.0f} min", seconds / 60.0);
    }
    return fmt::format("{:.1f} h", seconds / 3600.0);
}

const char* name_of_stage(Stage stage) {
    switch (stage) {
    case Stage::preparing:
        return "preparing";
    case Stage::starting:
        return "starting";
    case Stage::sweeping:
        return "sweeping";
    case Stage::assessing:
        return "clusters";
    }
    return "";
}

std::string bar(double fraction) {
    const double share = std::clamp(fraction, 0.0, 1.0);
    const auto full = static_cast<std::size_t>(share * static_cast<double>(bar_length));
    return fmt::format("[{}{}] {:>3.0f} %", std::string(full, '#'), std::string(bar_length - full, '.'),
                       std::floor(100.0 * share));
}

/// The columns of the terminal, at most 79.
std::size_t columns() {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? std::min<std::size_t>(widest, size.ws_col - 1U) : widest;
}

/// As https://no-color.org asks, and a terminal that says it can do nothing is believed.
bool may_colour() {
    const char* const no_colour = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return (no_colour == nullptr || *no_colour == '\0') && terminal != nullptr &&
           std::string_view(terminal) != "dumb";
}

/// The same text with a green bar; colours take no column.
std::string coloured(const std::string& text) {
    const std::size_t begin = text.find('[');
    const std::size_t end = text.find(']');
    if (begin == std::string::npos || end == std::string::npos) {
        return text;
    }
    return fmt::format("{}\033[32m{}\033[0m{}", text.substr(0, begin), text.substr(begin, end + 1 - begin),
                       text.substr(end + 1));
}

} // namespace

std::string text_of(const ProgressLine& line, std::size_t columns) {
    std::vector<std::string> details; // the most important first
    details.push_back(line.left ? fmt::format("about {} left", duration(*line.left))
                                : fmt::format("{} so far", duration(line.seconds)));
    if (line.sweep) {
        details.push_back(fmt::format("sweep {}", *line.sweep));
    }
    if (line.residual) {
        details.push_back(fmt::format("KKT {:.1e}", *line.residual));
    }
    std::string text = fmt::format("{:<9}", line.stage);
    if (line.fraction) {
        text += "  " + bar(*line.fraction);
    }
    for (const std::string& detail : details) {
        const std::string more = (&detail == &details.front() ? "  " : ", ") + detail;
        if (text.size() + more.size() <= columns) {
            text += more;
        }
    }
    return text.substr(0, columns);
}

Progress::Progress(bool certificate)
    : certificate_(certificate), terminal_(isatty(STDERR_FILENO) != 0), coloured_(terminal_ && may_colour()) {
}

Progress::~Progress() {
    end_line();
}

void Progress::end_line() {
    if (terminal_ && width_ > 0) {
        say_text(fmt::format("\r{}\r", std::string(width_, ' ')));
        width_ = 0;
    }
}

double Progress::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
}

void Progress::stage(Stage stage) {
    show({.stage = name_of_stage(stage), .seconds = seconds()});
}

void Progress::sweep(const RunProgress& report) {
    const double left = seconds_left(report.fraction);
    ProgressLine line{
        .stage = name_of_stage(Stage::sweeping), .sweep = report.sweep->sweep, .seconds = seconds()};
    if (!std::isnan(report.fraction)) {
        line.fraction = report.fraction;
    }
    if (certificate_) {
        line.residual = report.sweep->residual.certificate();
    }
    if (std::isfinite(left)) {
        line.left = left;
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

void Progress::show(const ProgressLine& line) {
    if (terminal_) {
        const std::string text = text_of(line, columns());
        const std::string rest(width_ > text.size() ? width_ - text.size() : 0, ' ');
        say_text(fmt::format("\r{}{}", coloured_ ? coloured(text) : text, rest));
        width_ = text.size();
    } else if (seconds() - last_line_ >= between_lines) {
        say("{}\n", text_of(line, widest));
        last_line_ = seconds();
    }
}

} // namespace pnmf::cli
