#pragma once

#include <pnmf/run/run.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace pnmf::cli {

/// What is known about a run, for one line of at most `columns`: stage, bar, sweep, residual, time left.
struct ProgressLine {
    std::string stage{};
    std::optional<double> fraction{}; ///< of the run; nothing: not known, no bar
    std::optional<Index> sweep{};
    std::optional<Index> sweeps{};    ///< at most
    std::optional<double> residual{}; ///< KKT; nothing: not shown
    double seconds = 0.0;             ///< since the run began
    std::optional<double> left{};     ///< seconds
};
/// What does not fit is left out, the least important first. ASCII alone: a letter is a column.
std::string text_of(const ProgressLine& line, std::size_t columns);

/// How a run says where it is. `automatic`: for people; `json`: an event a line, for programs; `none`: not.
enum class ProgressStyle { automatic, json, none };
/// Adds --progress to a verb; `style` must outlive its callback.
void add_progress_option(CLI::App& verb, ProgressStyle& style);

/// For people, a line on stderr that is rewritten as the run goes on, and removed when something else is
/// printed. Where stderr is not a terminal, a new line each minute. The bar is coloured on a terminal that
/// can, unless NO_COLOR is set.
///
/// For programs, as each stage begins and after sweeps, at most ten times a second:
///
///     {"event":"progress","stage":"sweeping","done":12,"total":500,"fraction":0.4,"seconds":3.1,
///      "seconds_left":4.6,"kkt":0.004}
///
/// `done` and `total` count sweeps, or the fits of `pnmf rank`; a run that converges ends before `total`.
/// `fraction` is of the whole run and never falls. What is not known is null. The last event of a run that
/// wrote its result is "done".
class Progress {
  public:
    /// `certificate`: with the KKT residual, which the run is to bring down.
    explicit Progress(bool certificate, ProgressStyle style = ProgressStyle::automatic);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// As a stage begins, and while it lasts.
    void stage(const RunProgress& report);
    void sweep(const RunProgress& report);
    /// So much of a stage that is made of equal parts.
    void parts(const char* stage, Index done, Index total);
    /// Removes the line, so that something else can be printed.
    void end_line();
    double seconds() const;

  private:
    void show(const ProgressLine& line);
    void send(const ProgressLine& line);
    void set_fraction(ProgressLine& line, double fraction);

    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    bool certificate_;
    ProgressStyle style_;
    bool terminal_;
    bool coloured_;
    std::size_t width_ = 0; ///< of the line that is shown
    double last_line_ = 0;  ///< when it was written to a log or sent, in seconds
    ProgressLine last_{};   ///< what was sent last
};

} // namespace pnmf::cli
