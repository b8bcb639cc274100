#include "support/sanitiser.hpp"

namespace pnmf::test {

bool with_sanitiser() {
#if defined(PNMF_SANITIZED)
    return true;
#else
    return false;
#endif
}

} // namespace pnmf::test
