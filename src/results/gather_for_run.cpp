#include "solvers/fit_data.hpp"

#include <pnmf/communicator.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/results/run.hpp>

namespace pnmf {

std::string gather_for_run(Dataset& data, Precision precision) {
    if (communicator().size() == 1) {
        return {};
    }
    const Index bytes = precision == Precision::single ? sizeof(float) : sizeof(double);
    const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X);
    const std::string why = sparse == nullptr ? "they are dense"
                            : !data.space     ? "distances are measured in the values themselves"
                            : becomes_dense(DataView(view_of(*sparse)), bytes, data.part)
                                ? "so many of them are filled that the fit takes them as dense"
                                : "";
    if (!why.empty()) {
        hold_all_cells(data, HeldBy::all_ranks);
    }
    return why;
}

} // namespace pnmf
