#include "devices/cuda/data_products.hpp"
#include "devices/cuda/gemm.hpp"
#include "devices/cuda/reduce.cuh"
#include "devices/cuda/transpose.cuh"

#include <algorithm>
#include <bit>

namespace pnmf::cuda {
namespace {

constexpr int lanes = 32;
constexpr int warps = 8;
constexpr int columns_of_thread = 4;               // sums that a thread keeps at once
constexpr std::int64_t bytes_at_hand = 16 << 20;   // of H, that stay in the device's cache
constexpr std::int64_t bytes_of_parts = 512 << 20; // of sums of blocks

/// Cells of a block: those of sparse data share what is in the cache, those of dense data share a product.
std::int64_t cells_of_block(const Shape& shape, bool sparse) {
    const std::int64_t wide = 1 << 16;
    if (!sparse) {
        return std::min(wide, shape.cells);
    }
    // By the bytes of single precision, so that both precisions add in the same blocks.
    const std::int64_t fitting = bytes_at_hand / (shape.stride() * 4);
    return std::min(std::clamp<std::int64_t>(fitting, 256, wide), shape.cells);
}

std::int64_t blocks_together(const Shape& shape, std::int64_t in_block, std::int64_t bytes_of_number) {
    const std::int64_t all = blocks_of(shape.cells, in_block);
    return std::clamp<std::int64_t>(bytes_of_parts / (shape.bases() * bytes_of_number), 1, all);
}

/// A batch that ends where a node of the tree of blocks does.
std::int64_t power_below(std::int64_t count) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(count)));
}

/// part_start[b·features + i]: the first entry of row i whose cell is in block b or later.
__global__ void find_parts(const std::int64_t* start, const std::int32_t* cell, std::int64_t features,
                           std::int64_t blocks, std::int64_t cells_in_block, std::int64_t* part_start) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at >= (blocks + 1) * features) {
        return;
    }
    const std::int64_t i = at % features;
    const std::int64_t wanted = at / features * cells_in_block;
    std::int64_t low = start[i];
    std::int64_t high = start[i + 1];
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (cell[middle] < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    part_start[at] = low;
}

/// Σ_e value[e] · M[other[e]·stride + r] for this thread's rows r: one column of a product with a sparse
/// matrix.
template <class Real>
__device__ void gather(const std::int32_t* __restrict__ other, const Real* __restrict__ value,
                       std::int64_t begin, std::int64_t end, const Real* __restrict__ M, std::int64_t stride,
                       std::int64_t first, std::int64_t rows, Real (&sum)[columns_of_thread]) {
    const int step = blockDim.x;
#pragma unroll 4
    for (std::int64_t e = begin; e < end; ++e) {
        const Real x = value[e];
        const Real* const column = M + other[e] * stride;
#pragma unroll
        for (int c = 0; c < columns_of_thread; ++c) {
            const std::int64_t r = first + c * step;
            if (r < rows) {
                sum[c] += x * column[r];
            }
        }
    }
}

/// Row i of XHᵀ from one block of cells, at parts[(block·features + i)·rows + r].
template <class Real>
__global__ void rows_of_parts(const std::int64_t* part_start, const std::int32_t* cell, const Real* value,
                              const Real* H, std::int64_t stride, std::int64_t rows, std::int64_t features,
                              std::int64_t first_block, Real* parts) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.y) + threadIdx.y;
    if (i >= features) {
        return;
    }
    const std::int64_t block = first_block + blockIdx.y;
    const std::int64_t first =
        static_cast<std::int64_t>(blockIdx.z) * blockDim.x * columns_of_thread + threadIdx.x;
    Real sum[columns_of_thread] = {};
    gather(cell, value, part_start[block * features + i], part_start[(block + 1) * features + i], H, stride,
           first, rows, sum);
    Real* const out = parts + (blockIdx.y * features + i) * rows;
    for (int c = 0; c < columns_of_thread; ++c) {
        const std::int64_t r = first + static_cast<std::int64_t>(c) * blockDim.x;
        if (r < rows) {
            out[r] = sum[c];
        }
    }
}

/// Column j of w·WᵀX.
template <class Real>
__global__ void columns_of_product(const std::int64_t* start, const std::int32_t* feature, const Real* value,
                                   const Real* Wt, std::int64_t stride, std::int64_t rows, int rank,
                                   const Real* weight, std::int64_t cells, Real* WtX) {
    const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.y) + threadIdx.y;
    if (j >= cells) {
        return;
    }
    const std::int64_t first =
        static_cast<std::int64_t>(blockIdx.y) * blockDim.x * columns_of_thread + threadIdx.x;
    Real sum[columns_of_thread] = {};
    gather(feature, value, start[j], start[j + 1], Wt, stride, first, rows, sum);
    for (int c = 0; c < columns_of_thread; ++c) {
        const std::int64_t r = first + static_cast<std::int64_t>(c) * blockDim.x;
        if (r < rows) {
            WtX[j * stride + r] = weight[r / rank] * sum[c];
        }
    }
}

/// The same sum for a stack of one row: the threads of a warp share the entries.
template <class Real>
__device__ Real gather_alone(const std::int32_t* __restrict__ other, const Real* __restrict__ value,
                             std::int64_t begin, std::int64_t end, const Real* __restrict__ M,
                             std::int64_t stride) {
    Real sum = 0;
    for (std::int64_t e = begin + threadIdx.x; e < end; e += lanes) {
        sum += value[e] * M[other[e] * stride];
    }
    for (int step = lanes / 2; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, step);
    }
    return sum;
}

/// `rows_of_parts` and `columns_of_product` for one row: a warp has a feature, or a cell.
template <class Real>
__global__ void one_row_of_parts(const std::int64_t* part_start, const std::int32_t* cell, const Real* value,
                                 const Real* H, std::int64_t stride, std::int64_t features,
                                 std::int64_t first_block, Real* parts) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.y) + threadIdx.y;
    if (i >= features) {
        return;
    }
    const std::int64_t block = first_block + blockIdx.y;
    const Real sum = gather_alone(cell, value, part_start[block * features + i],
                                  part_start[(block + 1) * features + i], H, stride);
    if (threadIdx.x == 0) {
        parts[blockIdx.y * features + i] = sum;
    }
}

template <class Real>
__global__ void one_row_of_product(const std::int64_t* start, const std::int32_t* feature, const Real* value,
                                   const Real* Wt, std::int64_t stride, const Real* weight,
                                   std::int64_t cells, Real* WtX) {
    const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.y) + threadIdx.y;
    if (j >= cells) {
        return;
    }
    const Real sum = gather_alone(feature, value, start[j], start[j + 1], Wt, stride);
    if (threadIdx.x == 0) {
        WtX[j * stride] = weight[0] * sum;
    }
}

/// WᵀX of dense data, weighed.
template <class Real>
__global__ void weigh_rows(std::int64_t cells, std::int64_t stride, std::int64_t rows, int rank,
                           const Real* weight, Real* WtX) {
    const std::int64_t r = blockIdx.y * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (r < rows) {
        for (std::int64_t j = blockIdx.x; j < cells; j += gridDim.x) {
            WtX[j * stride + r] *= weight[r / rank];
        }
    }
}

struct AsItIs {
    template <class Real>
    __device__ Real operator()(std::int64_t, Real value) const {
        return value;
    }
};

/// sum ← (first ? 0 : sum) + Σ parts, in order; the place of an entry does not matter.
template <class Real>
__global__ void add_parts(const Real* parts, std::int64_t size, std::int64_t count, bool first, double* sum) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at >= size) {
        return;
    }
    double total = first ? 0.0 : sum[at];
#pragma unroll 4
    for (std::int64_t b = 0; b < count; ++b) {
        total += static_cast<double>(parts[b * size + at]);
    }
    sum[at] = total;
}

template <class Real>
__global__ void round_sums(const double* sum, std::int64_t size, Real* out) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at < size) {
        out[at] = static_cast<Real>(sum[at]);
    }
}

/// Threads of a block: x along the rows of the stack, y over columns of the product.
dim3 shape_of_block(std::int64_t rows) {
    const int along = threads_for(blocks_of(rows, columns_of_thread), 256);
    return dim3(static_cast<unsigned>(along), static_cast<unsigned>(256 / along));
}

} // namespace

template <class Real>
void DeviceData<Real>::take_dense(const Real* values, std::int64_t features, std::int64_t cells) {
    sparse_ = false;
    dense_.upload({values, static_cast<std::size_t>(features * cells)});
}

template <class Real>
void DeviceData<Real>::take_sparse(const HostSparse<Real>& columns, const HostSparse<Real>& rows) {
    sparse_ = true;
    column_start_.upload(columns.start);
    column_feature_.upload(columns.other);
    column_value_.upload(columns.value);
    row_start_.upload(rows.start);
    row_cell_.upload(rows.other);
    row_value_.upload(rows.value);
}

template <class Real>
double DeviceData<Real>::bytes_of_work(const Shape& shape, bool sparse, std::int64_t cells_in_block) {
    const std::int64_t in_block = cells_in_block > 0 ? cells_in_block : cells_of_block(shape, sparse);
    const auto bases = static_cast<double>(shape.bases());
    const double blocks = static_cast<double>(blocks_of(shape.cells, in_block));
    const double at_once = static_cast<double>(blocks_together(shape, in_block, sizeof(Real)));
    const double starts = sparse ? (blocks + 1.0) * static_cast<double>(shape.features) * 8.0 : 0.0;
    return bases * (at_once * sizeof(Real) + 8.0) + starts +
           (sparse ? static_cast<double>(shape.stride() * shape.features) * sizeof(Real) : 0.0);
}

template <class Real>
void DeviceData<Real>::prepare(const Shape& shape, std::int64_t cells_in_block) {
    shape_ = shape;
    given_blocks_ = cells_in_block > 0;
    in_block_ = given_blocks_ ? cells_in_block : cells_of_block(shape, sparse_);
    at_once_ = blocks_together(shape, in_block_, sizeof(Real));
    if (given_blocks_) {
        at_once_ = power_below(at_once_);
    } else {
        sum_.allocate(shape.bases());
    }
    parts_.allocate(at_once_ * shape.bases());
    if (!sparse_) {
        return;
    }
    Wt_.allocate(shape.stride() * shape.features);
    const std::int64_t blocks = blocks_of(shape.cells, in_block_);
    part_start_.allocate((blocks + 1) * shape.features);
    find_parts<<<static_cast<unsigned>(blocks_of(part_start_.size(), 256)), 256>>>(
        row_start_.get(), row_cell_.get(), shape.features, blocks, in_block_, part_start_.get());
    check_launch("finding blocks of cells");
}

/// Adds `count` blocks in parts_ to the sums; after the last, XHᵀ is rounded to the precision of the numbers.
/// Parts of sparse data have the numbers of a feature beside each other, those of dense data the features.
template <class Real>
void DeviceData<Real>::sum_blocks(std::int64_t count, bool first, bool last, Real* XHt) {
    const std::int64_t size = shape_.bases();
    const auto blocks = static_cast<unsigned>(blocks_of(size, 256));
    add_parts<<<blocks, 256>>>(parts_.get(), size, count, first, sum_.get());
    check_launch("adding blocks of cells");
    if (!last) {
        return;
    }
    Real* const out = sparse_ ? parts_.get() : XHt;
    round_sums<<<blocks, 256>>>(sum_.get(), size, out);
    check_launch("rounding sums");
    if (sparse_) {
        put_sum(out, XHt);
    }
}

template <class Real>
void DeviceData<Real>::put_sum(const Real* sum, Real* XHt) const {
    if (sparse_) {
        transpose(sum, shape_.rows(), shape_.features, shape_.rows(), XHt, shape_.features, AsItIs{});
    } else {
        check(cudaMemcpyAsync(XHt, sum, static_cast<std::size_t>(shape_.bases()) * sizeof(Real),
                              cudaMemcpyDeviceToDevice),
              "copying on the device");
    }
}

template <class Real>
Real* DeviceData<Real>::parts_of_blocks(const Products& products, const Real* H, std::int64_t first,
                                        std::int64_t count) {
    const std::int64_t rows = shape_.rows();
    if (sparse_ && rows == 1) {
        const dim3 grid(static_cast<unsigned>(blocks_of(shape_.features, warps)),
                        static_cast<unsigned>(count));
        one_row_of_parts<<<grid, dim3(lanes, warps)>>>(part_start_.get(), row_cell_.get(), row_value_.get(),
                                                       H, shape_.stride(), shape_.features, first,
                                                       parts_.get());
        check_launch("X times a vector");
    } else if (sparse_) {
        const dim3 threads = shape_of_block(rows);
        const dim3 grid(static_cast<unsigned>(blocks_of(shape_.features, threads.y)),
                        static_cast<unsigned>(count),
                        static_cast<unsigned>(blocks_of(rows, threads.x * columns_of_thread)));
        rows_of_parts<<<grid, threads>>>(part_start_.get(), row_cell_.get(), row_value_.get(), H,
                                         shape_.stride(), rows, shape_.features, first, parts_.get());
        check_launch("X times H transposed");
    } else {
        for (std::int64_t b = 0; b < count; ++b) {
            const std::int64_t cell = (first + b) * in_block_;
            gemm(products, false, true, shape_.features, rows, std::min(in_block_, shape_.cells - cell),
                 dense_.get() + cell * shape_.features, shape_.features, H + cell * shape_.stride(),
                 shape_.stride(), parts_.get() + b * shape_.bases(), shape_.features);
        }
    }
    return parts_.get();
}

template <class Real>
void DeviceData<Real>::times_transposed(const Products& products, const Real* H, Real* XHt) {
    const std::int64_t blocks = blocks_of(shape_.cells, in_block_);
    for (std::int64_t begin = 0; begin < blocks; begin += at_once_) {
        const std::int64_t count = std::min(at_once_, blocks - begin);
        parts_of_blocks(products, H, begin, count);
        sum_blocks(count, begin == 0, begin + count == blocks, XHt);
    }
}

template <class Real>
void DeviceData<Real>::transposed_times(const Products& products, const Real* W, const Real* weight,
                                        Real* WtX) {
    const std::int64_t rows = shape_.rows();
    if (sparse_) {
        transpose(W, shape_.features, rows, shape_.features, Wt_.get(), shape_.stride(), AsItIs{});
        if (rows == 1) {
            one_row_of_product<<<static_cast<unsigned>(blocks_of(shape_.cells, warps)), dim3(lanes, warps)>>>(
                column_start_.get(), column_feature_.get(), column_value_.get(), Wt_.get(), shape_.stride(),
                weight, shape_.cells, WtX);
            check_launch("a vector transposed times X");
            return;
        }
        const dim3 threads = shape_of_block(rows);
        const dim3 grid(static_cast<unsigned>(blocks_of(shape_.cells, threads.y)),
                        static_cast<unsigned>(blocks_of(rows, threads.x * columns_of_thread)));
        columns_of_product<<<grid, threads>>>(column_start_.get(), column_feature_.get(), column_value_.get(),
                                              Wt_.get(), shape_.stride(), rows, shape_.rank, weight,
                                              shape_.cells, WtX);
        check_launch("W transposed times X");
        return;
    }
    const std::int64_t columns = given_blocks_ ? in_block_ : shape_.cells;
    for (std::int64_t j = 0; j < shape_.cells; j += columns) { // the same products whatever a process holds
        gemm(products, true, false, rows, std::min(columns, shape_.cells - j), shape_.features, W,
             shape_.features, dense_.get() + j * shape_.features, shape_.features, WtX + j * shape_.stride(),
             shape_.stride());
    }
    const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(shape_.cells, 1 << 16)),
                    static_cast<unsigned>(blocks_of(rows, 256)));
    weigh_rows<<<grid, 256>>>(shape_.cells, shape_.stride(), rows, shape_.rank, weight, WtX);
    check_launch("weighing");
}

template class DeviceData<float>;
template class DeviceData<double>;

} // namespace pnmf::cuda
