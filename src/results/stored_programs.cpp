#include <pnmf/results/stored_programs.hpp>

#include <pnmf/assess/programs.hpp>

#include <fmt/format.h>

#include <cmath>

namespace pnmf {
namespace {

std::vector<Index> whole_numbers(const StoredResult& result, const std::string& entry) {
    std::vector<Index> values;
    for (const double value : result.numbers(entry, result.rank)) {
        values.push_back(static_cast<Index>(value));
    }
    return values;
}

} // namespace

bool StoredPrograms::follows_depth(Index program) const {
    return !depth_correlation.empty() &&
           std::abs(depth_correlation[static_cast<std::size_t>(program)]) > depth_driven;
}

std::string program_name(Index program) {
    return fmt::format("P{}", program + 1);
}

std::optional<StoredPrograms> stored_programs(const StoredResult& result) {
    const Index p = std::ssize(result.features);
    const std::vector<double> scores = result.numbers("programs/scores", p * result.rank);
    if (scores.empty()) {
        return std::nullopt;
    }
    StoredPrograms programs{
        .scale = result.recommended,
        .genes = result.features,
        .scores = Eigen::Map<const Matrix>(scores.data(), result.rank, p).transpose().cast<float>(),
        .mean_usage = result.numbers("programs/mean_usage", result.rank),
        .persistence = result.numbers("programs/persistence", result.rank)};
    programs.first_scale = whole_numbers(result, "programs/first_scale");
    programs.last_scale = whole_numbers(result, "programs/last_scale");
    programs.merges_into = whole_numbers(result, "programs/merges_into");
    const std::vector<double> moran = result.numbers("domains/moran", result.scales * result.rank);
    if (!moran.empty()) {
        const auto of_scale = moran.begin() + result.recommended * result.rank;
        programs.moran.assign(of_scale, of_scale + result.rank);
    }
    programs.depth_correlation = result.numbers("programs/depth_correlation", result.rank);
    const bool whole = !programs.mean_usage.empty() && !programs.persistence.empty() &&
                       !programs.first_scale.empty() && !programs.last_scale.empty() &&
                       !programs.merges_into.empty();
    return whole ? std::optional(std::move(programs)) : std::nullopt;
}

std::string programs_table(const StoredPrograms& programs, Index listed) {
    const bool placed = !programs.moran.empty();
    std::string text = fmt::format("program\tgene\tscore\trank\tscale{}\n", placed ? "\tmoran" : "");
    const std::vector<std::vector<Index>> best = top_genes(programs.scores, listed);
    for (Index k = 0; k < programs.count(); ++k) {
        Index rank = 0;
        for (const Index gene : best[static_cast<std::size_t>(k)]) {
            text += fmt::format("{}\t{}\t{:.6g}\t{}\t{}{}\n", program_name(k),
                                programs.genes[static_cast<std::size_t>(gene)], programs.scores(gene, k),
                                ++rank, programs.scale + 1,
                                placed ? fmt::format("\t{:.4f}", programs.moran[static_cast<std::size_t>(k)])
                                       : std::string{});
        }
    }
    return text;
}

} // namespace pnmf
