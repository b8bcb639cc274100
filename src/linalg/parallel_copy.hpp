#pragma once

#include "linalg/arrays_on_disk.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

namespace pnmf {

/// Copies by all threads. For embeddings of very many cells most of a copy's time goes into pages of memory
/// that are touched for the first time, and one thread touches them slowly. Where large arrays are out of
/// core, so is the copy.
inline constexpr Index cells_of_copy = 8192;

template <class To, class From>
DenseMatrix<To> converted(const DenseMatrix<From>& from) {
    DenseMatrix<To> to;
    resize_on_disk(to, from.rows(), from.cols());
    parallel_blocks(from.cols(), cells_of_copy, [&](Index begin, Index end) {
        to.middleCols(begin, end - begin) = from.middleCols(begin, end - begin).template cast<To>();
    });
    return to;
}

/// The longer side is divided.
template <class To, class From>
DenseMatrix<To> converted_transpose(const DenseMatrix<From>& from) {
    DenseMatrix<To> to;
    resize_on_disk(to, from.cols(), from.rows());
    if (from.cols() >= from.rows()) {
        parallel_blocks(from.cols(), cells_of_copy, [&](Index begin, Index end) {
            to.middleRows(begin, end - begin) =
                from.middleCols(begin, end - begin).transpose().template cast<To>();
        });
    } else {
        parallel_blocks(from.rows(), cells_of_copy, [&](Index begin, Index end) {
            to.middleCols(begin, end - begin) =
                from.middleRows(begin, end - begin).transpose().template cast<To>();
        });
    }
    return to;
}

} // namespace pnmf
