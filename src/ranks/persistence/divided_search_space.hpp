#pragma once

#include "ranks/persistence/divided_points.hpp"

#include <pnmf/types.hpp>

#include <cstdint>
#include <span>

namespace pnmf {

/// `search_space` of points of which each process has its own: each process has the vectors of its own cells.
/// They are those of one process, if processes hold whole panels of cells (`CellBlocks`).
class DividedSearchSpace {
  public:
    DividedSearchSpace(const DividedPoints& points, Index largest_dimension, Index sample,
                       std::uint64_t seed);

    Index dimension() const { return dimension_; } ///< q
    /// (q + 1) × own cells: Qᵀa, then ‖r_a‖².
    const DenseMatrix<float>& mine() const { return mine_; }
    /// The vectors of any cells, in this order. Each process asks for those it wants, or for none.
    DenseMatrix<float> fetch(std::span<const Index> cells) const;

    /// Where the vectors are easily made of points, they are not kept from here on.
    void forget_what_points_have();
    /// What `put` needs beside the points of the same wishes.
    DenseMatrix<float> fetch_beside(const ColumnWishes& wishes) const;
    /// Qᵀa of one of them, by its place among these; returns ‖r_a‖².
    float put(const Points& points, const DenseMatrix<float>& beside, Index place,
              Eigen::Ref<Eigen::VectorXf> out) const;

  private:
    const DividedPoints& points_;
    Index dimension_;
    bool is_coordinates_; ///< dense, and q = p: coordinates from their mean
    Vector mean_;
    DenseMatrix<float> mine_;
};

} // namespace pnmf
