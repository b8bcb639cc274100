#include "progress.hpp"
#include "say.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
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
constexpr double between_events = 0.1; // seconds
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

std::string name_of_stage(Stage stage) {
    return stage == Stage::assessing ? "clusters" : std::string(name_of(stage));
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

void add_progress_option(CLI::App& verb, ProgressStyle& style) {
    const auto take = [&style](const std::string& name) {
        style = name == "json"   ? ProgressStyle::json
                : name == "none" ? ProgressStyle::none
                                 : ProgressStyle::automatic;
        if (style == ProgressStyle::json) {
            say_json();
        }
    };
    verb.add_option_function<std::string>(
            "--progress", take,
            "How the run says where it is, on stderr. auto: a bar in a terminal, else a line each minute; "
            "json: "
            "a JSON object on each line, for other programs; none: not at all [auto]")
        ->check(CLI::IsMember({"auto", "json", "none"}).description(""))
        ->type_name("auto|json|none");
}

Progress::Progress(bool certificate, ProgressStyle style)
    : certificate_(certificate), style_(style),
      terminal_(style == ProgressStyle::automatic && isatty(STDERR_FILENO) != 0),
      coloured_(terminal_ && may_colour()) {}

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

/// With the time that is left, at the pace so far.
void Progress::set_fraction(ProgressLine& line, double fraction) {
    if (std::isnan(fraction)) {
        return;
    }
    constexpr double enough = 0.05; // of the run, before its pace says something
    line.fraction = fraction;
    if (fraction >= enough) {
        line.left = line.seconds * (1.0 - fraction) / fraction;
    }
}

void Progress::stage(const RunProgress& report) {
    ProgressLine line{.stage = name_of_stage(report.stage), .seconds = seconds()};
    set_fraction(line, report.fraction);
    show(line);
}

void Progress::sweep(const RunProgress& report) {
    ProgressLine line{
        .stage = name_of_stage(Stage::sweeping), .sweep = report.sweep->sweep, .seconds = seconds()};
    if (report.max_sweeps > 0) {
        line.sweeps = report.max_sweeps;
    }
    set_fraction(line, report.fraction);
    if (certificate_) {
        line.residual = report.sweep->residual.certificate();
    }
    show(line);
}

void Progress::parts(const char* stage, Index done, Index total) {
    ProgressLine line{.stage = stage, .seconds = seconds()};
    if (style_ == ProgressStyle::json) { // people see the bar
        line.sweep = done;
        line.sweeps = total;
    }
    set_fraction(line, static_cast<double>(done) / static_cast<double>(total));
    show(line);
}

/// A stage that begins is always sent, and its first sweep; others when enough time has passed.
void Progress::send(const ProgressLine& line) {
    const bool news = line.stage != last_.stage || line.sweep.has_value() != last_.sweep.has_value();
    if (!news && line.seconds - last_line_ < between_events) {
        return;
    }
    nlohmann::ordered_json event{{"event", "progress"}, {"stage", line.stage}};
    const auto add = [&event](const char* key, const auto& value) {
        event[key] = value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
    };
    add("done", line.sweep);
    add("total", line.sweeps);
    add("fraction", line.fraction);
    event["seconds"] = line.seconds;
    add("seconds_left", line.left);
    add("kkt", line.residual);
    say_event(event);
    last_ = line;
    last_line_ = line.seconds;
}

void Progress::show(const ProgressLine& line) {
    if (style_ == ProgressStyle::none) {
        return;
    }
    if (style_ == ProgressStyle::json) {
        send(line);
    } else if (terminal_) {
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
