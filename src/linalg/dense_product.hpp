#pragma once

#include "cells/cell_sums.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <span>
#include <vector>

namespace pnmf {

/// Features that one thread computes at a time. Fixed, so that results do not depend on the number of
/// threads; large enough that the packing inside the BLAS library pays.
constexpr Index features_of_product = 2048;

/// X·Hᵀ over the blocks of a node, p × d, for a dense X: a product of matrices for each block of cells, and
/// these added along the tree of blocks. X and H have the cells of the slab. Cost 2pd for each cell.
template <class Real>
DenseMatrix<Real> dense_times_transposed(const DenseView<Real>& X, const DenseMatrix<Real>& H,
                                         const BlockSlab& slab, const BlockNode& node) {
    const Index pieces = pieces_for_threads((X.rows() + features_of_product - 1) / features_of_product);
    DenseMatrix<Real> result(X.rows(), H.rows());
    parallel_blocks(X.rows(), features_of_product, [&](Index begin, Index end) {
        if (node.past - node.first == 1) { // in place
            const Index first = slab.begin(node.first);
            const Index count = slab.end(node.first) - first;
            multiply_by_transposed(X.block(begin, first, end - begin, count), H.middleCols(first, count),
                                   result.middleRows(begin, end - begin));
            return;
        }
        result.middleRows(begin, end - begin) = sum_of_node<DenseMatrix<Real>>(node, pieces, [&](Index b) {
            const Index first = slab.begin(b);
            const Index count = slab.end(b) - first;
            DenseMatrix<Real> part(end - begin, H.rows());
            multiply_by_transposed(X.block(begin, first, end - begin, count), H.middleCols(first, count),
                                   part);
            return part;
        });
    });
    return result;
}

/// C ← [W_1 … W_k]ᵀX for a dense X: a product of matrices for each block of features, and these added in
/// order. Threads without work take some of the blocks.
template <class Real>
void dense_transposed_times(std::span<const DenseMatrix<Real>> W, ConstBlock<Real> X, MutableBlock<Real> C) {
    const auto multiply_block = [&](Index begin, Index end, MutableBlock<Real> product) {
        if (W.size() == 1) {
            multiply_transposed(W.front().middleRows(begin, end - begin), X.middleRows(begin, end - begin),
                                product);
            return;
        }
        DenseMatrix<Real> side_by_side(end - begin, C.rows());
        Index first = 0;
        for (const DenseMatrix<Real>& one : W) {
            side_by_side.middleCols(first, one.cols()) = one.middleRows(begin, end - begin);
            first += one.cols();
        }
        multiply_transposed(side_by_side, X.middleRows(begin, end - begin), product);
    };
    const Index p = X.rows();
    if (p <= features_of_product) {
        multiply_block(0, p, C);
        return;
    }
    std::vector<DenseMatrix<Real>> parts((p + features_of_product - 1) / features_of_product);
    parallel_blocks(p, features_of_product, [&](Index begin, Index end) {
        DenseMatrix<Real>& part = parts[begin / features_of_product];
        part.resize(C.rows(), C.cols());
        multiply_block(begin, end, part);
    });
    C = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        C += parts[i];
    }
}

} // namespace pnmf
