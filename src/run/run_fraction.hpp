#pragma once

#include <pnmf/run/run.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pnmf {

/// How much of a run is done, 0 to 1; it never falls. Each stage has a share of it, about that of a default
/// fit. Nobody knows how many sweeps the start takes: each takes a part of what is left of its share. In
/// sweeps the residual falls roughly by a constant factor each; the limit ends them at the latest.
class RunFraction {
  public:
    explicit RunFraction(const SolverOptions& options)
        : tolerance_(options.tolerance.value_or(default_tolerance(options))),
          limit_(options.max_sweeps.value_or(default_max_sweeps(options))),
          certificate_(options.algorithm == Algorithm::stationary && options.stop == StopRule::certificate) {}

    Index limit() const { return limit_; }
    double value() const { return value_; }

    void begin(Stage stage) { raise(begins_[static_cast<std::size_t>(stage)]); }
    void step_of_start() {
        constexpr double part = 0.03;
        raise(value_ + part * (begins_[static_cast<std::size_t>(Stage::sweeping)] - value_));
    }
    /// Counted from the first sweep seen, so that a resumed run is judged by its own pace.
    void after(const SweepReport& report) {
        const double excess = std::log(std::max(report.residual.certificate() / tolerance_, 1.0));
        if (first_ < 0) {
            first_ = report.sweep;
            first_excess_ = excess;
            return;
        }
        double part = static_cast<double>(report.sweep - first_) / static_cast<double>(limit_ - first_);
        if (certificate_ && tolerance_ > 0.0 && first_excess_ > excess) {
            part = std::max(part, (first_excess_ - excess) / first_excess_);
        }
        const double begin = begins_[static_cast<std::size_t>(Stage::sweeping)];
        raise(begin + std::min(part, 1.0) * (begins_[static_cast<std::size_t>(Stage::assessing)] - begin));
    }

  private:
    void raise(double value) { value_ = std::max(value_, value); }

    static constexpr std::array begins_{0.0, 0.1, 0.45, 0.85}; ///< by `Stage`
    double tolerance_;
    Index limit_;
    bool certificate_;
    double value_ = 0.0;
    Index first_ = -1;
    double first_excess_ = 0.0;
};

} // namespace pnmf
