#include "io/unnamed_anndata.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/results/save_run.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <functional>
#include <type_traits>

namespace pnmf {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json objective_json(const Objective& objective) {
    return {{"total", objective.total()},
            {"fit", objective.fit},
            {"graph", objective.graph},
            {"smoothness", objective.smoothness},
            {"anchor", objective.anchor}};
}

/// From few clusters to many. JSON has null for NaN.
Json resolutions_json(const Resolutions& resolutions) {
    Json list = Json::array();
    for (std::size_t r = 0; r < resolutions.all.size(); ++r) {
        const Resolution& resolution = resolutions.all[r];
        list.push_back({{"k", resolution.clusters},
                        {"scale", resolution.scale + 1},
                        {"stability", resolution.stability},
                        {"agreement", resolution.agreement},
                        {"p_value", resolution.p_value},
                        {"modularity", resolution.modularity},
                        {"recommended", static_cast<Index>(r) == resolutions.recommended}});
    }
    return list;
}

/// What the run took: time and memory.
template <RealNumber Real>
void add_costs(Json& json, const Run<Real>& run) {
    json["precision"] = std::is_same_v<Real, float> ? "float" : "double";
    double total = 0.0;
    Json stages = Json::object();
    for (const StageTime& time : run.seconds) {
        total += time.seconds;
        stages[time.stage] = time.seconds;
    }
    json["seconds"] = total;
    json["seconds_of"] = std::move(stages);
    if (run.processes > 1) {
        json["seconds_communicating"] = run.communicating;
    }
    json["peak_bytes"] = run.peak_bytes;
    if (run.plan.bytes > 0.0) {
        json["planned_bytes"] = run.plan.bytes;
    }
    if (run.plan.bases_rest) {
        json["file_bytes"] = run.plan.file_bytes;
    }
}

/// The work is done, but the folder does not take the result: tries the folder for temporary files, and says
/// what is left to the user. The folder there is a new one with a name nobody can know before, and closed to
/// others: whatever lies in the folder for temporary files, nothing is overwritten and no link followed.
std::string rescue(const RunFolder& folder, const std::function<void(const fs::path&)>& write_to) {
    std::error_code ignored;
    std::string spare = (fs::temp_directory_path(ignored) / "pnmf-result-XXXXXX").string();
    if (::mkdtemp(spare.data()) != nullptr) { // puts letters for the Xs
        try {
            write_to(spare);
            return fmt::format("The result is kept in {} instead", spare);
        } catch (const std::exception&) {
            fs::remove_all(spare, ignored);
        }
    }
    return fs::exists(folder.checkpoint(), ignored)
               ? "The last checkpoint stays: the run can be resumed from it"
               : "No other place was found for the result";
}

} // namespace

template <RealNumber Real>
std::string summary_json(const Run<Real>& run) {
    const FitResult<Real>& result = run.result;
    const KktResidual total = sum(result.residuals);
    Json json;
    json["features"] = run.prepared.X->features();
    json["cells"] = run.prepared.X->cells();
    json["rank"] = run.prepared.rank;
    json["scales"] = result.scales.size();
    json["scales_kept"] = result.scales.size();
    json["scales_all"] = result.scales.available;
    if (run.prepared.kept) {
        json["scale_error"] = result.scale_error;
    }
    json["epsilon_finest"] = result.scales.epsilon.front();
    json["epsilon_coarsest"] = result.scales.epsilon.back();
    json["stop"] = name_of(result.stop);
    json["sweeps"] = result.trace.size() - 1;
    json["objective_start"] = objective_json(result.trace.front());
    json["objective"] = objective_json(result.trace.back());
    json["kkt"] = total.certificate();
    json["kkt_H"] = total.H.ratio();
    json["kkt_W"] = total.W.ratio();
    json["effective_rank_finest"] = result.effective_rank.front();
    json["effective_rank_coarsest"] = result.effective_rank.back();
    json["recommended_scale"] = run.assessment.recommended + 1;
    json["clusters"] = run.assessment.cluster_count;
    json["resolutions"] = resolutions_json(run.assessment.resolutions);
    if (run.domains) {
        json["domains"] = {{"k", run.domains->count},
                           {"scale", run.domains->scale + 1},
                           {"neighbors", run.domains->neighbors},
                           {"coherence", run.domains->coherence}};
    }
    json["warnings"] = result.warnings;
    json["notices"] = run.prepared.notices;
    for (const std::string& notice : run.assessment.notices) {
        json["notices"].push_back(notice);
    }
    json["options"] = Json::parse(options_json(run.prepared.options));
    json["threads"] = thread_count();
    json["device"] = name_of(run.prepared.options.solver.device);
    json["ranks"] = run.processes;
    json["bytes_moved"] = run.bytes_moved;
    if (!run.bytes_of_sweep.empty()) {
        json["bytes_of_sweep"] = run.bytes_of_sweep;
        json["scales_of_sweep"] = run.scales_of_sweep;
    }
    add_costs(json, run);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace); // names may be any bytes
}

std::string save_result(const RunFolder& folder, AnnDataFile result_content, const std::string& summary) {
    const auto write_to = [&](const fs::path& place) {
        const fs::path path = place / folder.result().filename();
        AtomicFile result(path);
        AtomicFile text(place / folder.summary().filename());
        io::write_anndata(result, path, result_content);
        text.write(summary);
        commit_together({&result, &text}); // no summary beside the result of another run
    };
    try {
        write_to(folder.path());
    } catch (const InputError& e) { // of the file that parts are kept from; a result is worth more than they
        if (result_content.kept_from.empty()) {
            throw;
        }
        result_content.kept_from.clear();
        save_result(folder, std::move(result_content), summary);
        return fmt::format("the result is without obsm, obsp, layers, raw and uns of the input: {}",
                           e.what());
    } catch (const SystemError& e) {
        throw SystemError(fmt::format("{}\n{}", e.what(), rescue(folder, write_to)));
    }
    return {};
}

template <RealNumber Real>
std::string save_run(const RunFolder& folder, const Dataset& data, const Run<Real>& run,
                     const ResultFileOptions& options, const std::string& summary) {
    ResultFileOptions complete = options;
    complete.domains = run.domains ? &*run.domains : nullptr;
    std::string left_out =
        save_result(folder, result_file(data, run.prepared, run.result, run.assessment, complete), summary);
    std::error_code ignored;
    fs::remove(folder.checkpoint(), ignored);
    fs::remove(folder.types(), ignored);
    return left_out;
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template std::string summary_json(const Run<Real>&);                                                     \
    template std::string save_run(const RunFolder&, const Dataset&, const Run<Real>&,                        \
                                  const ResultFileOptions&, const std::string&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
