#include "fit_plan.hpp"
#include "json_text.hpp"
#include "run/plan_run.hpp"
#include "say.hpp"

#include <pnmf/parallel.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace pnmf::cli {
namespace {

nlohmann::ordered_json plan_json(const RunForecast& plan, double seconds) {
    nlohmann::ordered_json json{{"seconds", seconds}, {"may_use_device", plan.may_use_device}};
    for (const auto& [stage, time] : plan.stages) {
        json["seconds_of"][stage] = time;
    }
    json["memory_bytes"] = plan.bytes;
    json["memory_allowed_bytes"] = plan.allowed;
    json["files_bytes"] = plan.files;
    json["files_free_bytes"] = plan.files_free;
    json["disk_bytes"] = plan.disk;
    json["disk_free_bytes"] = plan.disk_free;
    return json;
}

} // namespace

void print_plan(const Work& work, const RunOptions& run, bool page, bool as_json) {
    const DataView X = view_of(work.data.X);
    RunForecast plan = work.analysis.precision == Precision::single ? forecast_run<float>(X, run, page)
                                                                    : forecast_run<double>(X, run, page);
    plan.stages.insert(plan.stages.begin(), {"reading and preparing", work.reading});
    double seconds = 0.0;
    for (const auto& [stage, time] : plan.stages) {
        seconds += time;
    }
    if (as_json) {
        put_json(plan_json(plan, seconds));
        return;
    }
    for (const auto& [stage, time] : plan.stages) {
        put("{:24} {}\n", stage, time < 10.0 ? fmt::format("{:.1f} s", time) : rough_time(time));
    }
    put("{:24} {} on {} thread{}{}\n", "all", rough_time(seconds), thread_count(),
        thread_count() == 1 ? "" : "s", plan.may_use_device ? " of the CPU; not estimated on the GPU" : "");
    put("{:24} {}{}\n", "memory", size_words(plan.bytes),
        plan.allowed > 0.0 ? fmt::format(" of {}", size_words(plan.allowed)) : "");
    if (plan.files > 0.0) {
        put("{:24} {} of files for large arrays, of {} free\n", "out of core", size_words(plan.files),
            size_words(plan.files_free));
    }
    put("{:24} {}{}\n", "disk", size_words(plan.disk),
        plan.disk_free > 0.0 ? fmt::format(" of {} free", size_words(plan.disk_free)) : "");
}

} // namespace pnmf::cli
