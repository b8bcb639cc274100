#include "devices/cuda/gemm.hpp"
#include "devices/cuda/graph_products.hpp"
#include "devices/cuda/reduce.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

/// `EdgeWeight` of the host (pnmf/graphs/multiscale_graph.hpp): exp(−d²/ε^α) where d < ε, 0 elsewhere and where it
/// would be below 1e-307.
__device__ double edge_weight(double length, double epsilon, double negative_rate) {
    constexpr double smallest_exponent = -706.0;
    const double exponent = length * length * negative_rate;
    return length < epsilon && exponent >= smallest_exponent ? exp(exponent) : 0.0;
}

/// Lists of neighbours and the scales they are weighed at.
struct Lists {
    const std::int64_t* start;
    const std::int32_t* cell;
    const double* length; ///< null where weights are given
    const double* weight;
    const double* epsilon;
    const double* rate;

    __device__ double weight_of(std::int64_t e, int t) const {
        return length == nullptr ? weight[e] : edge_weight(length[e], epsilon[t], rate[t]);
    }
};

template <class Real>
__global__ void list_degrees(Lists lists, std::int64_t cells, int scales, Real* degree) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at >= cells * scales) {
        return;
    }
    const std::int64_t j = at / scales;
    const int t = static_cast<int>(at % scales);
    double sum = 0.0;
    for (std::int64_t e = lists.start[j]; e < lists.start[j + 1]; ++e) {
        sum += lists.weight_of(e, t);
    }
    degree[at] = static_cast<Real>(sum);
}

constexpr int edges_at_once = 32;
constexpr int rows_of_thread = 4;
constexpr int scales_of_block = 66; // most that `rows_of_block` rows can touch

/// Rows of the stack that one block works on: few enough scales that their weights fit beside each other.
__host__ __device__ int rows_of_block(int rank) {
    return rank < 16 ? 64 * rank : 1024;
}

/// Some rows of column j of HA, all their scales: the columns of H of its neighbours, weighed and added in
/// the order of the list.
template <class Real>
__global__ void list_products(Lists lists, std::int64_t stride, std::int64_t rows, int rank, const Real* H,
                              Real* HA) {
    __shared__ Real weight[edges_at_once * scales_of_block];
    __shared__ std::int32_t neighbour[edges_at_once];
    const std::int64_t j = blockIdx.x;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * rows_of_block(rank);
    const std::int64_t past = min(rows, first + rows_of_block(rank));
    const int first_scale = static_cast<int>(first / rank);
    const int scales = static_cast<int>((past - 1) / rank) - first_scale + 1;
    Real sum[rows_of_thread] = {};
    int scale[rows_of_thread];
    for (int c = 0; c < rows_of_thread; ++c) {
        const std::int64_t r = first + threadIdx.x + c * blockDim.x;
        scale[c] = r < past ? static_cast<int>(r / rank) - first_scale : -1;
    }
    const std::int64_t end = lists.start[j + 1];
    for (std::int64_t begin = lists.start[j]; begin < end; begin += edges_at_once) {
        const int count = static_cast<int>(min(static_cast<std::int64_t>(edges_at_once), end - begin));
        __syncthreads();
        for (int i = threadIdx.x; i < count * scales; i += blockDim.x) {
            weight[i] = static_cast<Real>(lists.weight_of(begin + i / scales, first_scale + i % scales));
        }
        for (int e = threadIdx.x; e < count; e += blockDim.x) {
            neighbour[e] = lists.cell[begin + e];
        }
        __syncthreads();
#pragma unroll 4
        for (int e = 0; e < count; ++e) {
            const Real* const column = H + neighbour[e] * stride + first + threadIdx.x;
#pragma unroll
            for (int c = 0; c < rows_of_thread; ++c) {
                const Real w = scale[c] < 0 ? Real{0} : weight[e * scales + scale[c]];
                if (w != Real{0}) { // at fine scales most neighbours are too far: their columns are not read
                    sum[c] += w * column[c * blockDim.x];
                }
            }
        }
    }
    for (int c = 0; c < rows_of_thread; ++c) {
        if (scale[c] >= 0) {
            HA[j * stride + first + threadIdx.x + c * blockDim.x] = sum[c];
        }
    }
}

template <class Real>
__global__ void table_degrees(const double* distances, std::int64_t all, std::int64_t first,
                              std::int64_t cells, const double* epsilon, const double* rate, int scales,
                              Real* degree) {
    const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    const int t = blockIdx.y;
    if (j >= cells) {
        return;
    }
    double sum = 0.0;
    const bool whole = cells == all;
    for (std::int64_t i = 0; i < all; ++i) { // a whole table is symmetric: threads read beside each other
        const double distance = distances[whole ? i * all + j : j * all + i];
        sum += i == first + j ? 0.0 : edge_weight(distance, epsilon[t], rate[t]);
    }
    degree[j * scales + t] = static_cast<Real>(sum);
}

template <class Real>
__global__ void weigh_table(const double* distances, std::int64_t all, std::int64_t first, std::int64_t cells,
                            const double* epsilon, const double* rate, int t, Real* table) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (i < all) {
        for (std::int64_t j = blockIdx.y; j < cells; j += gridDim.y) {
            table[j * all + i] =
                i == first + j ? Real{0}
                               : static_cast<Real>(edge_weight(distances[j * all + i], epsilon[t], rate[t]));
        }
    }
}

} // namespace

template <class Real>
void DeviceGraph<Real>::take_lists(std::span<const std::int64_t> start, std::span<const std::int32_t> cell,
                                   std::span<const double> length, std::span<const double> weight) {
    cells_ = static_cast<std::int64_t>(start.size()) - 1;
    start_.upload(start);
    cell_.upload(cell);
    length_.upload(length);
    weight_.upload(weight);
}

template <class Real>
void DeviceGraph<Real>::take_table(const double* distances, std::int64_t all, std::int64_t first,
                                   std::int64_t cells, std::int64_t columns_at_once) {
    cells_ = cells;
    all_ = all;
    first_ = first;
    columns_at_once_ = columns_at_once > 0 ? columns_at_once : cells;
    distances_.upload({distances, static_cast<std::size_t>(all * cells)});
    table_.allocate(all * cells);
}

template <class Real>
void DeviceGraph<Real>::take_scales(std::span<const double> epsilon, std::span<const double> negative_rate) {
    epsilon_.upload(epsilon);
    rate_.upload(negative_rate);
}

template <class Real>
void DeviceGraph<Real>::degrees(const Shape& shape, Real* degree) const {
    if (cells_ == 0) {
        return;
    }
    if (distances_.empty()) {
        const Lists lists{start_.get(),  cell_.get(),    length_.get(),
                          weight_.get(), epsilon_.get(), rate_.get()};
        list_degrees<<<static_cast<unsigned>(blocks_of(cells_ * shape.scales, 256)), 256>>>(
            lists, cells_, shape.scales, degree);
    } else {
        const dim3 grid(static_cast<unsigned>(blocks_of(cells_, 128)), static_cast<unsigned>(shape.scales));
        table_degrees<<<grid, 128>>>(distances_.get(), all_, first_, cells_, epsilon_.get(), rate_.get(),
                                     shape.scales, degree);
    }
    check_launch("degrees");
}

template <class Real>
void DeviceGraph<Real>::products(const Products& products, const Shape& shape, const Real* H, Real* HA) {
    if (cells_ == 0) {
        return;
    }
    if (distances_.empty()) {
        const Lists lists{start_.get(),  cell_.get(),    length_.get(),
                          weight_.get(), epsilon_.get(), rate_.get()};
        const int rows = static_cast<int>(std::min<std::int64_t>(shape.rows(), rows_of_block(shape.rank)));
        const dim3 grid(static_cast<unsigned>(cells_),
                        static_cast<unsigned>(blocks_of(shape.rows(), rows_of_block(shape.rank))));
        list_products<<<grid, threads_for(blocks_of(rows, rows_of_thread), 256)>>>(
            lists, shape.stride(), shape.rows(), shape.rank, H, HA);
        check_launch("products with the graph");
        return;
    }
    const dim3 grid(static_cast<unsigned>(blocks_of(all_, 256)),
                    static_cast<unsigned>(std::min<std::int64_t>(cells_, 1 << 15)));
    for (int t = 0; t < shape.scales; ++t) {
        weigh_table<<<grid, 256>>>(distances_.get(), all_, first_, cells_, epsilon_.get(), rate_.get(), t,
                                   table_.get());
        check_launch("weights of a graph");
        const std::int64_t at = static_cast<std::int64_t>(t) * shape.rank;
        for (std::int64_t j = 0; j < cells_; j += columns_at_once_) {
            gemm(products, false, false, shape.rank, std::min(columns_at_once_, cells_ - j), all_, H + at,
                 shape.stride(), table_.get() + j * all_, all_, HA + j * shape.stride() + at, shape.stride());
        }
    }
}

template class DeviceGraph<float>;
template class DeviceGraph<double>;

} // namespace pnmf::cuda
