#pragma once

#include <pnmf/solvers/solver.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf::cli {

/// Rows of --trace: the objective after every sweep, and after every step inside it; the steps of a sweep
/// stand before it.
class Trace {
  public:
    /// An empty path records nothing.
    explicit Trace(std::filesystem::path path);

    bool wanted() const { return !path_.empty(); }
    /// Writes the head of the table, unless a run is resumed whose rows are there: finds out before the work
    /// whether the file can be written.
    void begin(bool resume);
    /// The sweeps a state has behind it, 0 is the start. The rows of the interrupted run are kept when they
    /// end where it does.
    void past(const std::vector<Objective>& sweeps);
    void sweep(Index number, double objective);
    void step(const StepReport& report);
    void write() const;

  private:
    std::filesystem::path path_;
    std::string text_;
};

} // namespace pnmf::cli
