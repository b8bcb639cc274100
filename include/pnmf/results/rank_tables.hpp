#pragma once

#include <pnmf/baselines/choose_rank.hpp>
#include <pnmf/types.hpp>

#include <string>
#include <vector>

/// What `choose_rank` found, as text to write into files.
namespace pnmf {

/// How well each gene marks each consensus program, p × d: `program_scores` of the values with the usages of
/// all cells that fit these programs best. X is features × cells.
DenseMatrix<float> consensus_scores(const DataValues& X, const ConsensusPrograms& programs);

/// A row for each rank: rank, error, standard_error, difference_error, stability, consensus_error, with tabs
/// and a header.
std::string rank_table(const RankCurve& curve);

/// A row for each gene of each consensus program, best first: program, gene, weight, score, rank (from 1),
/// stability, with tabs and a header. `scores` are `consensus_scores`.
std::string consensus_table(const std::vector<std::string>& genes, const ConsensusPrograms& programs,
                            const DenseMatrix<float>& scores);

/// Stability and error against the rank, the picture by which users of cNMF choose, as SVG. The chosen ranks
/// are marked.
std::string rank_picture(const RankCurve& curve);

} // namespace pnmf
