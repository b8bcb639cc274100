#pragma once

#include <pnmf/types.hpp>

namespace pnmf {

/// Makes `buffer` at least rows × cols, with exactly so many rows. For memory that a thread keeps from call
/// to call (`thread_local`): threads that ask for memory all the time wait for each other.
template <class Real>
void widen(DenseMatrix<Real>& buffer, Index rows, Index cols) {
    if (buffer.rows() != rows || buffer.cols() < cols) {
        buffer.resize(rows, cols);
    }
}

} // namespace pnmf
