#pragma once

#include "say.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace pnmf::cli {

/// How well batches are mixed and types kept apart, before and after.
inline void print_batches(const nlohmann::ordered_json& batch) {
    const auto number = [&](const char* name) {
        return batch.contains(name) && !batch[name].is_null()
                   ? fmt::format("{:.2f}", batch[name].get<double>())
                   : std::string("-");
    };
    const bool labelled = batch.contains("label_purity");
    put("\n{} batches of '{}'  mixing of batches{}\n", batch["batches"].size(),
        batch["column"].get<std::string>(), labelled ? "  purity of labels" : "");
    const auto line = [&](const char* where, const char* mixing, const char* purity) {
        put("{:<24}  {:>11}{}\n", where, number(mixing),
            labelled && *purity != '\0' ? fmt::format("  {:>22}", number(purity)) : std::string{});
    };
    line("before, in the space", "mixing_before", "label_purity_before");
    line("after, in the embedding", "mixing", "label_purity");
    line("after, in the clusters", "mixing_of_clusters", "");
    if (batch.contains("mixing") && !batch["mixing"].is_null() && batch["mixing"].get<double>() < 0.5) {
        put("0: apart, about 1: on each other. The embedding keeps batches apart, because the values are not "
            "corrected\nor because batches hold different types. Clusters also follow the balanced graph.\n");
    }
}

} // namespace pnmf::cli
