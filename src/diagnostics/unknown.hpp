#pragma once

#include <limits>

namespace pnmf {

/// Stands for a number that could not be computed, in every table of findings.
inline constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

} // namespace pnmf
