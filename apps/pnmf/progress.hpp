#pragma once

#include <pnmf/results/run.hpp>

#include <chrono>
#include <string>

namespace pnmf::cli {

/// A line on stderr that is rewritten after each sweep; where stderr is not a terminal, a new one each
/// minute.
class Progress {
  public:
    /// `certificate`: with the KKT residual, which the run is to bring down.
    explicit Progress(bool certificate);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void starting();
    void sweep(const RunProgress& report);
    /// Ends the line, so that something else can be printed.
    void end_line();
    double seconds() const;

  private:
    void show(const std::string& line);
    double seconds_left(double fraction);

    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point first_sweep_;
    bool certificate_;
    bool terminal_;
    bool swept_ = false;
    std::size_t width_ = 0;
    double last_line_ = 0; ///< when it was written to a log, in seconds
};

} // namespace pnmf::cli
