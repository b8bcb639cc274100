#pragma once

#include <pnmf/io/dataset.hpp>

#include <string>

namespace pnmf {

/// Leaves a loop out of what clusters are found and tested in: the space of the cells, in a tissue their
/// expression. Two harmonics of the phases are taken off by least squares (`without_waves`); X stays.
///
/// `which`: N for the N-th most persistent of the loops that `find_loops` reports in 30 principal components
/// of the values that are factorised, or in the space that was asked for (`space` as in `AnalysisOptions`);
/// else a column of the table of cells with the phase of each. InputError where there is no such loop, with
/// what was found, and where there is no space. Returns what the loop was left out of, as it was before.
Matrix leave_out_loop(Dataset& data, const std::string& which, const std::string& space);

} // namespace pnmf
