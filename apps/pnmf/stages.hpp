#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

namespace pnmf::cli {

/// Wall-clock time of the stages of a run, one after the other.
class Stages {
  public:
    /// The stage before ends here.
    void begin(const std::string& name) {
        end();
        name_ = name;
        began_ = std::chrono::steady_clock::now();
    }

    /// Seconds of each stage, in order; the one that runs ends here.
    nlohmann::ordered_json seconds() {
        end();
        return seconds_;
    }

    /// Of all stages so far.
    double total() {
        end();
        double sum = 0.0;
        for (const auto& stage : seconds_) {
            sum += stage.get<double>();
        }
        return sum;
    }

  private:
    void end() {
        if (!name_.empty()) {
            seconds_[name_] =
                std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
        }
        name_.clear();
    }

    std::string name_;
    std::chrono::steady_clock::time_point began_;
    nlohmann::ordered_json seconds_ = nlohmann::ordered_json::object();
};

} // namespace pnmf::cli
