#include <pnmf/communicator.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/results/run.hpp>

namespace pnmf {

std::string gather_for_run(Dataset& data) {
    if (communicator().size() == 1 || data.space || !data.is_sparse()) {
        return {};
    }
    hold_all_cells(data, HeldBy::all_ranks);
    return "they are sparse, and distances are measured in them";
}

} // namespace pnmf
