#include <pnmf/results/stored_result.hpp>

#include <pnmf/assess/programs.hpp>

#include <fmt/format.h>

#include <cmath>

namespace pnmf {

std::vector<Index> StoredPrograms::order() const {
    return order_of_programs(persistence, between_clusters, mean_usage);
}

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
    programs.between_clusters = result.numbers("programs/between_clusters", result.rank);
    if (programs.between_clusters.empty()) {
        programs.between_clusters.assign(static_cast<std::size_t>(result.rank), 1.0);
    }
    programs.first_scale = result.positions("programs/first_scale", 0, result.scales);
    programs.last_scale = result.positions("programs/last_scale", 0, result.scales);
    programs.merges_into = result.positions("programs/merges_into", -1, result.rank);
    const std::vector<double> moran = result.numbers("domains/moran", result.scales * result.rank);
    if (!moran.empty()) {
        const auto of_scale = moran.begin() + result.recommended * result.rank;
        programs.moran.assign(of_scale, of_scale + result.rank);
    }
    programs.depth_correlation = result.numbers("programs/depth_correlation", result.rank);
    const bool whole = !programs.mean_usage.empty() && !programs.persistence.empty() &&
                       std::ssize(programs.first_scale) == result.rank &&
                       std::ssize(programs.last_scale) == result.rank &&
                       std::ssize(programs.merges_into) == result.rank;
    return whole ? std::optional(std::move(programs)) : std::nullopt;
}

std::string programs_table(const StoredPrograms& programs, Index listed) {
    const bool placed = !programs.moran.empty();
    std::string text = fmt::format("program\tgene\tscore\trank\tscale{}\n", placed ? "\tmoran" : "");
    const std::vector<std::vector<Index>> best = top_genes(programs.scores, listed);
    for (const Index k : programs.order()) {
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
