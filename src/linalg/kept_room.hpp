#pragma once

#include <pnmf/types.hpp>

namespace pnmf {

/// Makes `room` at least rows × cols, with exactly so many rows. For room that a thread keeps from call to
/// call (`thread_local`): threads that ask for memory all the time wait for each other.
template <class Real>
void widen(DenseMatrix<Real>& room, Index rows, Index cols) {
    if (room.rows() != rows || room.cols() < cols) {
        room.resize(rows, cols);
    }
}

} // namespace pnmf
