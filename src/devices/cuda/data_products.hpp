#pragma once

#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/shape.hpp"

#include <cstdint>
#include <span>

namespace pnmf::cuda {

/// X by compressed columns or, of the transpose, by compressed rows.
template <class Real>
struct HostSparse {
    std::span<const std::int64_t> start;
    std::span<const std::int32_t> other; ///< row of an entry, or column
    std::span<const Real> value;
};

/// X on the device, features × cells, and its two products with all scales at once. Sparse data are kept by
/// columns and by rows, with 64-bit offsets. Sums over cells are taken over blocks of cells whose size is
/// decided by the shape alone; the sums of the blocks are added in double precision, in the order of the
/// cells. Several processes give the size of the blocks and add them themselves.
template <class Real>
class DeviceData {
  public:
    /// On the host: where the device reads values and places of sparse data.
    explicit DeviceData(bool on_host = false)
        : DeviceData(on_host ? MemoryKind::pinned : MemoryKind::device) {}

    void take_dense(const Real* values, std::int64_t features, std::int64_t cells);
    void take_sparse(const HostSparse<Real>& columns, const HostSparse<Real>& rows);

    /// Memory for products of this shape, which is also that of all calls below. With blocks of a given size
    /// `parts_of_blocks` takes the place of `times_transposed`.
    void prepare(const Shape& shape, std::int64_t cells_in_block = 0);
    /// Bytes that `prepare` takes.
    static double bytes_of_work(const Shape& shape, bool sparse, std::int64_t cells_in_block = 0);

    /// XHᵀ of every scale.
    void times_transposed(const Products& products, const Real* H, Real* XHt);
    /// w·WᵀX of every scale, w its weight.
    void transposed_times(const Products& products, const Real* W, const Real* weight, Real* WtX);

    /// How many blocks `parts_of_blocks` makes at once: a power of two where their size was given.
    std::int64_t blocks_at_once() const { return at_once_; }
    /// XHᵀ of blocks [first, first + count), `shape.bases()` numbers each, in an order of its own.
    Real* parts_of_blocks(const Products& products, const Real* H, std::int64_t first, std::int64_t count);
    /// A sum of such parts as XHᵀ of every scale. Nothing else may be asked for in between.
    void put_sum(const Real* sum, Real* XHt) const;

  private:
    explicit DeviceData(MemoryKind kind)
        : column_feature_(kind), column_value_(kind), row_cell_(kind), row_value_(kind) {}
    void sum_blocks(std::int64_t count, bool first, bool last, Real* XHt);

    Shape shape_;
    bool sparse_ = false;
    bool given_blocks_ = false;
    std::int64_t in_block_ = 1; ///< cells
    std::int64_t at_once_ = 1;  ///< blocks
    DeviceArray<Real> dense_;
    DeviceArray<std::int64_t> column_start_;
    DeviceArray<std::int32_t> column_feature_;
    DeviceArray<Real> column_value_;
    DeviceArray<std::int64_t> row_start_;
    DeviceArray<std::int32_t> row_cell_;
    DeviceArray<Real> row_value_;
    DeviceArray<std::int64_t> part_start_; ///< where each block of cells begins in each row of X
    DeviceArray<Real> parts_;              ///< XHᵀ of some blocks of cells
    DeviceArray<double> sum_;              ///< of the blocks so far
    DeviceArray<Real> Wt_;                 ///< W with the numbers of a feature beside each other
};

} // namespace pnmf::cuda
