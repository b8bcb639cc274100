#pragma once

#include "devices/cuda/device_memory.hpp"

#include <cstdint>
#include <vector>

namespace pnmf::cuda {

/// Cells on the device, feature by feature, and what k-means does with all of them. Sums over cells are those
/// of blocks of fixed size, added on the host in order, in double precision.
class KMeansCells {
  public:
    /// `X` is rows × cells, column after column.
    KMeansCells(const double* X, std::int64_t rows, std::int64_t cells);
    /// Whether so many centres fit into the memory of a block.
    static bool fits(std::int64_t rows, std::int64_t clusters) {
        return (rows + 1) * clusters * static_cast<std::int64_t>(sizeof(double)) <= 128 << 10;
    }

    /// The squared distances to the nearest centre: begun with one cell as the only centre; returns their
    /// sum.
    double begin_seeding(std::int64_t cell);
    /// What their sum would be with each of these cells as one more centre.
    std::vector<double> try_centres(const std::vector<std::int64_t>& candidates);
    /// That of the given number among them is taken.
    void take_centre(std::int64_t number);
    /// The first cell at which the running sum of the distances reaches `wanted`.
    std::int64_t find_place(double wanted) const;

    struct Assigned {
        std::vector<double> sums;         ///< rows × clusters
        std::vector<std::int64_t> counts; ///< cells of each
        std::int64_t changed = 0;         ///< labels that are not what they were
    };
    /// Each cell to its nearest of k centres (rows × k), the first among equals.
    Assigned assign(const std::vector<double>& centres, std::int64_t clusters);
    /// Σ_j ‖x_j − centre of its cluster‖² for the labels as they are.
    double inertia(const std::vector<double>& centres);

    /// No cell has a label.
    void forget_labels();
    std::vector<std::int32_t> labels() const { return labels_.download(); }

  private:
    std::vector<double> parts_of_blocks(std::int64_t first) const;

    std::int64_t rows_;
    std::int64_t cells_;
    std::int64_t blocks_;
    DeviceArray<double> X_;       ///< cells × rows
    DeviceArray<double> nearest_; ///< squared distances while centres are sought
    DeviceArray<double> tried_;   ///< the same with one centre more, of each candidate
    DeviceArray<double> parts_;
    DeviceArray<std::int32_t> counts_;
    DeviceArray<std::int32_t> labels_;
    DeviceArray<double> centres_;
    std::vector<double> nearest_parts_; ///< sums of `nearest_` over blocks of cells
    std::vector<std::vector<double>> tried_parts_;
};

} // namespace pnmf::cuda
