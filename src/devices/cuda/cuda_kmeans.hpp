#pragma once

#include <pnmf/metrics/kmeans.hpp>

namespace pnmf {

/// `kmeans` on a CUDA device; very many clusters are found on the CPU.
KMeansResult cuda_kmeans(const Matrix& X, const KMeansOptions& options);

} // namespace pnmf
