#pragma once

#include <pnmf/types.hpp>

#include <vector>

namespace pnmf {

/// Distances between some cells, for the silhouettes of many clusterings of them: n² numbers are held, and a
/// clustering costs n² additions instead of 2n²d.
class SilhouetteTable {
  public:
    /// X is d × n.
    explicit SilhouetteTable(const Matrix& X);

    /// As `mean_silhouette` of X, to rounding; −1 for fewer than 2 clusters.
    double mean(const std::vector<Index>& clusters) const;

  private:
    Matrix distances_;
};

} // namespace pnmf
