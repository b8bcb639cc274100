#include <pnmf/scales/scale_set.hpp>

namespace pnmf {

ScaleSet choose_canonical(const ScaleSource& source) {
    return canonical_scales(source.tree);
}

} // namespace pnmf
