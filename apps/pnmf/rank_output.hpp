#pragma once

#include "progress.hpp"

#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/io/dataset.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

/// What `pnmf rank` says at its end.
namespace pnmf::cli {

inline constexpr const char* rank_summary_name = "rank.json";

struct RankRun {
    RankCurve curve;
    RankOptions options;
    std::string input; ///< the file

    /// The consensus programs of the chosen rank.
    const ConsensusPrograms& chosen_programs() const;
};

/// `choose_rank` with a line of progress. Ctrl-C ends the program with a line and its exit code.
RankCurve watched_choose_rank(const DataValues& X, const RankOptions& options, ProgressStyle style);

/// `scores`: of the genes in the consensus programs (`consensus_scores`).
nlohmann::ordered_json rank_json(const RankRun& run, const Dataset& data, const DenseMatrix<float>& scores);
/// The curves and the programs as a table on stdout. `folder`: what was written into; empty: nothing was.
void print_rank(const RankRun& run, const Dataset& data, const DenseMatrix<float>& scores,
                const std::string& folder);

} // namespace pnmf::cli
