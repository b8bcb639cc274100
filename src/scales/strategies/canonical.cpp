#include <pnmf/scales/strategies.hpp>

namespace pnmf {

ScaleSet choose_canonical(const ScaleSource& source) {
    return canonical_scales(source.tree);
}

} // namespace pnmf
