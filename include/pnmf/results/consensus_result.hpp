#pragma once

#include <pnmf/assess/assess.hpp>
#include <pnmf/assess/programs.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/solvers/fit.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf {

/// Consensus programs and the usages of all cells that fit them best, like a baseline of one scale.
struct ConsensusFit {
    PreparedFit<float> prepared;
    FitResult<float> result; ///< W: the programs, columns of length 1
    Assessment assessment;
};
/// `data` as they were factorised; they must outlive the fit.
ConsensusFit fit_consensus(const Dataset& data, const ConsensusPrograms& programs);

/// As a stored result of the method "consensus": whatever reads results reads it too, and new cells are
/// embedded with its programs (`transform_cells`).
AnnDataFile consensus_file(const Dataset& data, const ConsensusFit& fit, const std::string& command);

/// The tables that cNMF writes of consensus programs, under its names, for `folder/<name of the folder>`:
///
///     .usages.k_K.dt_0_5.consensus.txt    cells × programs, of programs that sum to 1
///     .spectra.k_K.dt_0_5.consensus.txt   programs × genes of the fit, rows sum to 1
///     .gene_spectra_score.k_K.dt_0_5.txt  programs × all genes: z-scores (`program_scores`) of TPM
///     .gene_spectra_tpm.k_K.dt_0_5.txt    programs × all genes: what fits TPM best with these usages, ≥ 0
///
/// TPM are the values of the file, each cell scaled to a sum of a million. The last two are there where
/// `unscaled`, the data as they were read, are counts or other values that are no logarithms; not where they
/// have no cells. No copy of a program is left out, whatever dt says: 0.5 is the threshold that cNMF uses
/// unless told otherwise.
std::vector<TextFile> cnmf_tables(const std::filesystem::path& folder, const Dataset& data,
                                  const ConsensusFit& fit, Dataset unscaled);

/// Writes a result and tables that belong to it: all of them take their names, or none does.
void write_consensus(const std::filesystem::path& path, const AnnDataFile& result,
                     const std::vector<TextFile>& tables);

/// The data of a file before they were prepared, with the cells that were kept: for `cnmf_tables`.
Dataset read_unscaled(const std::filesystem::path& path, const Dataset& prepared);

} // namespace pnmf
