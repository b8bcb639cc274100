#pragma once

#include <pnmf/solvers/solver.hpp>

#include <chrono>
#include <string>

namespace pnmf::cli {

/// A line on stderr that is rewritten after each sweep; where stderr is not a terminal, a new one each
/// minute.
class Progress {
  public:
    /// `tolerance` and `limit` as the solver has them: what the time left is estimated from.
    Progress(double tolerance, Index limit, bool certificate);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void starting();
    void sweep(const SweepReport& report);
    /// Ends the line, so that something else can be printed.
    void end_line();
    double seconds() const;

  private:
    void show(const std::string& line);
    double seconds_left(const SweepReport& report);

    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point first_sweep_;
    double tolerance_;
    Index limit_;
    bool certificate_;
    bool terminal_;
    Index first_ = -1;        ///< number of the first sweep seen
    double first_excess_ = 0; ///< how far above its tolerance the residual was then
    std::size_t width_ = 0;
    double last_line_ = 0; ///< when it was written to a log, in seconds
};

} // namespace pnmf::cli
