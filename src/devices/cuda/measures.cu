#include "devices/cuda/column_product.cuh"
#include "devices/cuda/measures.hpp"

namespace pnmf::cuda {
namespace {

constexpr std::int64_t cells_of_block = most_cells_of_part;

/// What the sums need of row k of one cell at one scale.
template <class Real>
struct Entry {
    Real here;
    Real before; ///< H at the finer scale; `here` where there is none, and so `after`
    Real after;
    Real WtX;
    Real HA;
    Real degree;
};

template <class Real>
struct Entries {
    const Shape& shape;
    const ProductsView<Real>& products;
    const Real* H;
    int t;

    __device__ std::int64_t column(std::int64_t j) const {
        return j * shape.stride() + static_cast<std::int64_t>(t) * shape.rank;
    }
    __device__ Entry<Real> at(std::int64_t j, int k) const {
        if (k >= shape.rank) {
            return {};
        }
        const std::int64_t at = column(j) + k;
        const Real here = H[at];
        return {here,
                t > 0 ? H[at - shape.rank] : here,
                t + 1 < shape.scales ? H[at + shape.rank] : here,
                products.WtX[at],
                products.HA[at],
                products.degree[j * shape.scales + t]};
    }
};

/// `TermSums` of one entry.
template <class Real>
struct TermMeasure {
    static constexpr int count = term_sums;

    __device__ void add(int, const Entry<Real>& entry, Real product, Real, double* sums) const {
        const auto h = static_cast<double>(entry.here);
        const auto step = static_cast<double>(entry.here - entry.before);
        sums[0] += static_cast<double>(entry.WtX) * h;
        sums[1] += static_cast<double>(product) * h;
        sums[2] += h * h;
        sums[3] += static_cast<double>(entry.degree) * h * h;
        sums[4] += static_cast<double>(entry.HA) * h;
        sums[5] += step * step;
    }
};

/// `TermSums` of one entry and then Σ q r² and Σ q h² of `movement_H`.
template <class Real>
struct AllMeasure {
    static constexpr int count = all_sums;
    Penalties<Real> penalties;

    __device__ void add(int t, const Entry<Real>& entry, Real product, Real own, double* sums) const {
        TermMeasure<Real>{}.add(t, entry, product, own, sums);
        const Real graph = penalties.graph[t];
        const Real anchor = penalties.anchor[t];
        const Real before = penalties.before[t];
        const Real after = penalties.before[t + 1];
        const Real gradient = product - entry.WtX + graph * (entry.here * entry.degree - entry.HA) +
                              anchor * entry.here + before * (entry.here - entry.before) +
                              after * (entry.here - entry.after);
        const double q =
            static_cast<double>(own) + static_cast<double>(graph) * static_cast<double>(entry.degree) +
            static_cast<double>(before) + static_cast<double>(after) + static_cast<double>(anchor);
        if (q > 0.0) {
            const auto h = static_cast<double>(entry.here);
            const double step = h - fmax(0.0, h - static_cast<double>(gradient) / q);
            sums[term_sums] += q * step * step;
            sums[term_sums + 1] += q * h * h;
        }
    }
};

/// The sums over a block of cells at one scale, by one warp, cell after cell; a thread has row k. Numbers of
/// the next cell are fetched while those of one are added.
template <class Real, class Measure, bool small>
__global__ void __launch_bounds__(WarpsOfScales::most_warps* lanes_of_warp)
    measure_blocks(Shape shape, std::int64_t cells_of_part, ProductsView<Real> products, const Real* H,
                   Measure measure, double* parts) {
    extern __shared__ __align__(16) char memory[];
    const auto [warp, lane, t] = WarpOfScale{};
    if (t >= shape.scales) {
        return;
    }
    const Real* const gram = products.WtW + static_cast<std::int64_t>(t) * shape.rank * shape.rank;
    const std::int64_t begin = blockIdx.x * cells_of_part;
    const std::int64_t end = min(shape.cells, begin + cells_of_part);
    const Entries<Real> entries{shape, products, H, t};
    using Column = GramTimesColumn<Real, small>;
    Column column(gram, shape.rank, lane,
                  reinterpret_cast<Real*>(memory) + warp * Column::buffer(shape.rank));
    double sums[Measure::count] = {};
    for (int first = 0; first < shape.rank; first += lanes_of_warp) {
        const int k = first + lane;
        const Real own = k < shape.rank ? column.diagonal(k) : Real{0};
        Entry<Real> entry = entries.at(begin, k);
        for (std::int64_t j = begin; j < end; ++j) {
            const Entry<Real> next = entries.at(min(j + 1, end - 1), k);
            if constexpr (small) {
                column.hold(entry.here);
            } else {
                column.bring(H + entries.column(j));
            }
            if (k < shape.rank) {
                measure.add(t, entry, column.times(k), own, sums);
            }
            entry = next;
        }
    }
    for (int s = 0; s < Measure::count; ++s) {
        double sum = sums[s];
        for (int step = lanes_of_warp / 2; step > 0; step /= 2) {
            sum += __shfl_xor_sync(0xffffffffU, sum, step);
        }
        if (lane == 0) {
            parts[(static_cast<std::int64_t>(t) * Measure::count + s) * gridDim.x + blockIdx.x] = sum;
        }
    }
}

/// One of the sums of one scale over the blocks of cells, by a warp, in a fixed order.
__global__ void __launch_bounds__(lanes_of_warp)
    add_blocks(const double* parts, std::int64_t blocks, double* sums) {
    const double* const of_sum = parts + blockIdx.x * blocks;
    double sum = 0.0;
#pragma unroll 4
    for (std::int64_t b = threadIdx.x; b < blocks; b += lanes_of_warp) {
        sum += of_sum[b];
    }
    for (int step = lanes_of_warp / 2; step > 0; step /= 2) {
        sum += __shfl_xor_sync(0xffffffffU, sum, step);
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

template <bool small, class Real, class Measure>
void launch(const Shape& shape, std::int64_t cells_of_part, const ProductsView<Real>& products, const Real* H,
            const Measure& measure, double* parts) {
    const auto kernel = measure_blocks<Real, Measure, small>;
    const WarpsOfScales start(shape.scales, blocks_of(shape.cells, cells_of_part));
    const int buffer = buffer_of_columns<Real, small>(kernel, start, shape.rank);
    kernel<<<start.grid, start.threads(), static_cast<std::size_t>(buffer)>>>(shape, cells_of_part, products,
                                                                              H, measure, parts);
    check_launch("sums over cells");
}

template <class Real, class Measure>
void measure_each(const Shape& shape, std::int64_t cells_of_part, const ProductsView<Real>& products,
                  const Real* H, const Measure& measure, double* parts) {
    if (shape.rank <= lanes_of_warp) {
        launch<true>(shape, cells_of_part, products, H, measure, parts);
    } else {
        launch<false>(shape, cells_of_part, products, H, measure, parts);
    }
}

template <class Real, class Measure>
void measure_all(const Shape& shape, const ProductsView<Real>& products, const Real* H,
                 const Measure& measure, double* parts, double* sums) {
    measure_each(shape, cells_of_block, products, H, measure, parts);
    add_blocks<<<static_cast<unsigned>(shape.scales * Measure::count), lanes_of_warp>>>(
        parts, blocks_of(shape.cells, cells_of_block), sums);
    check_launch("adding blocks of cells");
}

} // namespace

std::int64_t measure_parts(const Shape& shape, std::int64_t cells_of_part) {
    return blocks_of(shape.cells, cells_of_part) * shape.scales * all_sums;
}

template <class Real>
void sum_terms(const Shape& shape, const ProductsView<Real>& products, const Real* H, double* parts,
               double* sums) {
    measure_all(shape, products, H, TermMeasure<Real>{}, parts, sums);
}

template <class Real>
void sum_all(const Shape& shape, const Penalties<Real>& penalties, const ProductsView<Real>& products,
             const Real* H, double* parts, double* sums) {
    measure_all(shape, products, H, AllMeasure<Real>{penalties}, parts, sums);
}

template <class Real>
void sum_parts(const Shape& shape, std::int64_t cells_of_part, const Penalties<Real>& penalties,
               const ProductsView<Real>& products, const Real* H, double* parts) {
    measure_each(shape, cells_of_part, products, H, AllMeasure<Real>{penalties}, parts);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void sum_terms(const Shape&, const ProductsView<Real>&, const Real*, double*, double*);         \
    template void sum_all(const Shape&, const Penalties<Real>&, const ProductsView<Real>&, const Real*,      \
                          double*, double*);                                                                 \
    template void sum_parts(const Shape&, std::int64_t, const Penalties<Real>&, const ProductsView<Real>&,   \
                            const Real*, double*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
