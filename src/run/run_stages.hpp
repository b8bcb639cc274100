#pragma once

#include "cells/processes.hpp"
#include "cells/shared_work.hpp"
#include "run/run_fraction.hpp"

#include <pnmf/run/run.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace pnmf {

using RunClock = std::chrono::steady_clock;

inline double seconds_since(RunClock::time_point moment) {
    return std::chrono::duration<double>(RunClock::now() - moment).count();
}

/// The stages of a run: who watches, and how long each takes.
class RunStages {
  public:
    RunStages(const RunObserver& observer, const SolverOptions& options)
        : observer_(observer), fraction_(options) {}

    /// The stage before ends here. False when the observer asks to stop.
    bool begin(Stage stage, const char* name) {
        end();
        seconds_.push_back({.stage = name});
        began_ = RunClock::now();
        stage_ = stage;
        fraction_.begin(stage);
        return tell(nullptr);
    }
    bool step_of_start() {
        fraction_.step_of_start();
        return tell(nullptr);
    }
    bool after(const SweepReport& sweep) {
        fraction_.after(sweep);
        return tell(&sweep);
    }
    /// What a run within this one may tell: it is the first part of this one, of so large a share.
    RunObserver of_part(double share) {
        behind_ = share;
        RunObserver part;
        part.progress = [this, share](const RunProgress& inner) {
            return !observer_.progress ||
                   observer_.progress({.stage = stage_, .fraction = share * inner.fraction});
        };
        part.warning = observer_.warning;
        return part;
    }
    std::vector<StageTime> end() {
        if (!seconds_.empty()) {
            seconds_.back().seconds = seconds_since(began_);
        }
        return seconds_;
    }
    void notice(const std::string& text) const {
        if (observer_.notice) {
            observer_.notice(text);
        }
    }

  private:
    /// Processes go on together or not at all.
    bool tell(const SweepReport* sweep) const {
        const bool go_on = !observer_.progress ||
                           observer_.progress({.stage = stage_,
                                               .fraction = behind_ + (1.0 - behind_) * fraction_.value(),
                                               .max_sweeps = fraction_.limit(),
                                               .sweep = sweep});
        return least_of(all_processes(), go_on ? 1.0 : 0.0) > 0.0;
    }

    const RunObserver& observer_;
    RunFraction fraction_;
    double behind_ = 0.0; ///< share of all that is done beside these stages
    Stage stage_ = Stage::preparing;
    RunClock::time_point began_;
    std::vector<StageTime> seconds_;
};

} // namespace pnmf
