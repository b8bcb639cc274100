#include <pnmf/results/rank_tables.hpp>

#include "solvers/fit_data.hpp"

#include <pnmf/assess/programs.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/solvers/embed.hpp>

#include <fmt/format.h>

namespace pnmf {

DenseMatrix<float> consensus_scores(const DataValues& X, const ConsensusPrograms& programs) {
    const auto data = data_of<float>(view_of(X), true);
    constexpr double tolerance = 1e-4; // of H: the scores are shown to few digits
    const Matrix H = embed_cells<float>(*data, programs.W.cast<float>(), Penalty{0.0, 0.0, 0.0}, nullptr,
                                        {.tolerance = tolerance})
                         .H.cast<double>();
    return program_scores(*data, program_usages(programs.W, H)).cast<float>();
}

std::string rank_table(const RankCurve& curve) {
    std::string text = "rank\terror\tstandard_error\tdifference_error\tstability\tconsensus_error\n";
    for (std::size_t i = 0; i < curve.ranks.size(); ++i) {
        text += fmt::format("{}\t{:.6g}\t{:.3g}\t{:.3g}\t{:.6g}\t{:.6g}\n", curve.ranks[i], curve.error[i],
                            curve.deviation[i], curve.difference_deviation[i], curve.stability[i],
                            curve.consensus_error[i]);
    }
    return text;
}

std::string consensus_table(const std::vector<std::string>& genes, const ConsensusPrograms& programs,
                            const DenseMatrix<float>& scores) {
    std::string text = "program\tgene\tweight\tscore\trank\tstability\n";
    const std::vector<std::vector<Index>> best = top_genes(scores, scores.rows());
    for (Index k = 0; k < programs.listed(); ++k) {
        Index rank = 0;
        for (const Index gene : best[static_cast<std::size_t>(k)]) {
            text += fmt::format("{}\t{}\t{:.6g}\t{:.6g}\t{}\t{:.4g}\n", program_name(k),
                                genes[static_cast<std::size_t>(gene)], programs.W(gene, k), scores(gene, k),
                                ++rank, programs.stability[static_cast<std::size_t>(k)]);
        }
    }
    return text;
}

} // namespace pnmf
