#include "cells/linalg/over_all_cells.hpp"
#include "cells/processes.hpp"

#include <pnmf/error.hpp>
#include <pnmf/run/run.hpp>

#include <fmt/format.h>

#include <string>

namespace pnmf {
namespace {

/// Its memory on the disk is taken here.
template <class Real>
MatrixFile<Real> file_for(const Factors<Real>& factors, Index cells, const std::filesystem::path& folder) {
    std::string why;
    // The second as for the result itself.
    for (const std::filesystem::path& tried : {folder, std::filesystem::temp_directory_path()}) {
        try {
            return MatrixFile<Real>(tried, factors.scales(), factors.rank(), cells);
        } catch (const SystemError& e) {
            why += fmt::format("\n{}", e.what());
        }
    }
    throw SystemError(
        fmt::format("the result cannot be written: there is no space to bring the embeddings of "
                    "all processes together; a checkpoint stays{}",
                    why));
}

} // namespace

template <RealNumber Real>
void keep_embeddings(Run<Real>& run, const std::filesystem::path& folder) {
    const DataMatrix<Real>& X = *run.prepared.X;
    if (X.has_all_cells()) {
        return;
    }
    FitResult<Real>& result = run.result;
    const bool first = X.processes().place() == 0;
    if (first) {
        result.embeddings = file_for(result.factors, X.cells(), folder);
    }
    for (Index t = 0; t < result.factors.scales(); ++t) {
        const DenseMatrix<Real> H = gather_cells(X, result.factors.H[static_cast<std::size_t>(t)], 0);
        if (first) {
            result.embeddings->write(t, H);
        }
    }
}

template void keep_embeddings(Run<float>&, const std::filesystem::path&);
template void keep_embeddings(Run<double>&, const std::filesystem::path&);

} // namespace pnmf
