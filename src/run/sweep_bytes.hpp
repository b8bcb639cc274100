#pragma once

#include "cells/processes.hpp"
#include "solvers/frozen_scales.hpp"

#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace pnmf {

/// What this process sends in a sweep. A sweep that freezes or wakes scales sends more, and one that leaves
/// out frozen scales less: of those that change no mark, the ones that move most scales count. Among them it
/// is the least, since some end with more, such as a certificate.
class SweepBytes {
  public:
    explicit SweepBytes(const Processes& processes) : processes_(processes) {}

    /// A sweep has ended.
    template <class Real>
    void end(const SolverState<Real>& state) {
        const FrozenScales marks = marks_of(state);
        if (!begun_ || marks != frozen_) {
            return;
        }
        const std::int64_t bytes = processes_.bytes_sent() - *begun_;
        const Index moving = std::ssize(moving_scales(frozen_, std::ssize(frozen_)));
        if (moving > moving_) {
            moving_ = moving;
            bytes_ = bytes;
        } else if (moving == moving_) {
            bytes_ = std::min(bytes_, bytes);
        }
    }

    /// The next one begins.
    template <class Real>
    void begin(const SolverState<Real>& state) {
        begun_ = processes_.bytes_sent();
        frozen_ = marks_of(state);
    }

    std::int64_t bytes() const { return bytes_; }
    Index moving() const { return moving_; } ///< 0: none was counted

  private:
    template <class Real>
    static FrozenScales marks_of(const SolverState<Real>& state) {
        FrozenScales marks(static_cast<std::size_t>(state.current.scales()), 0);
        for (std::size_t t = 0; t < state.momentum.size(); ++t) {
            marks[t] = state.momentum[t].t == 0.0 ? 1 : 0;
        }
        return marks;
    }

    const Processes& processes_;
    std::optional<std::int64_t> begun_; ///< sent when the sweep began
    FrozenScales frozen_;               ///< when it began
    std::int64_t bytes_ = 0;
    Index moving_ = 0;
};

} // namespace pnmf
