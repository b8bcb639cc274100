#include "hints.hpp"

namespace pnmf::cli {

std::string_view hint_for(Remedy remedy) {
    switch (remedy) {
    case Remedy::none:
        return "";
    case Remedy::drop_empty_cells:
        return "--drop-empty leaves them out, --cells rows or --cells columns chooses the axis";
    case Remedy::choose_layer:
        return "--layer NAME takes another matrix of an .h5ad file";
    case Remedy::choose_variable:
        return "--variable NAME chooses one";
    case Remedy::other_cell_axis:
        return "--cells rows or --cells columns says which";
    case Remedy::same_precision:
        return "--precision double or --precision float";
    case Remedy::need_less_memory:
        return "these flags need less: --preset cells, --neighbors, --max-scales, --rank, --threads, "
               "--precision float; --memory SIZE gives up scales or momentum, which changes the result";
    case Remedy::keep_bases:
        return "`pnmf fit --save-basis` keeps them";
    case Remedy::overwrite:
        return "--overwrite allows that";
    case Remedy::resume_or_overwrite:
        return "--resume continues it, --overwrite starts again";
    }
    return "";
}

} // namespace pnmf::cli
