#pragma once

#include <pnmf/metrics/kmeans.hpp>

#include <functional>
#include <string>

namespace pnmf {

using KMeansFunction = std::function<KMeansResult(const Matrix&, const KMeansOptions&)>;

/// `kmeans` on a device of the table (src/backends/table.cpp) by its name: the same seedings and steps, sums
/// in another order. Empty where the CPU does it. From one thread at a time.
KMeansFunction kmeans_on(const std::string& device);

} // namespace pnmf
