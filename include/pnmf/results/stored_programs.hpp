#pragma once

#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pnmf {

/// The programs of a stored result: the components of its recommended scale, by their genes.
struct StoredPrograms {
    Index scale = 0;                         ///< the recommended one, from 0
    std::vector<std::string> genes;          ///< p
    DenseMatrix<float> scores;               ///< `program_scores`, p × d
    std::vector<double> mean_usage;          ///< the mean share of a cell, d
    std::vector<double> persistence;         ///< `ProgramPath`, d
    std::vector<double> between_clusters{};  ///< `variance_between`, d; all 1 in results before 0.3
    std::vector<Index> first_scale{};        ///< from 0
    std::vector<Index> last_scale{};         ///< from 0
    std::vector<Index> merges_into{};        ///< −1: none
    std::vector<double> moran{};             ///< Moran's I in a tissue, d; empty: not in a tissue
    std::vector<double> depth_correlation{}; ///< with the counts of the cells; empty: these are not known

    Index count() const { return scores.cols(); }
    /// `order_of_programs`: how they are listed.
    std::vector<Index> order() const;
    /// Whether the program follows the depth of the cells (`depth_driven`); false where it is not known.
    bool follows_depth(Index program) const;
};

/// "P1" for component 0: the name of a program in tables, so that nobody has to know where counting begins.
std::string program_name(Index program);

/// Nothing for results of version 0.1, and where genes have no names.
std::optional<StoredPrograms> stored_programs(const StoredResult& result);

/// A tidy table as text, a row for each of the `listed` best genes of each program: program, gene, score,
/// rank (from 1), scale (from 1), and in a tissue moran, with tabs between them and a header; programs in
/// their order.
std::string programs_table(const StoredPrograms& programs, Index listed);

} // namespace pnmf
