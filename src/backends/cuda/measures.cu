#include "backends/cuda/column_product.cuh"
#include "backends/cuda/measures.hpp"
#include "backends/cuda/reduce.cuh"

namespace pnmf::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / lanes_of_warp;
constexpr std::int64_t cells_of_block = 1024;

/// The sums of one cell at one scale: each warp takes every eighth cell of a block of cells, a thread every
/// 32nd row of H. `Measure` adds what row k of a cell gives.
template <class Real, class Measure, int count, bool small>
__global__ void __launch_bounds__(threads)
    measure_blocks(Shape shape, const Real* WtW, const Real* H, Measure measure, double* parts) {
    extern __shared__ __align__(16) char memory[];
    const int warp = threadIdx.x / lanes_of_warp;
    const int lane = threadIdx.x % lanes_of_warp;
    const int t = blockIdx.y;
    const Real* const gram = WtW + static_cast<std::int64_t>(t) * shape.rank * shape.rank;
    const std::int64_t first = blockIdx.x * cells_of_block;
    const std::int64_t past = min(shape.cells, first + cells_of_block);
    using Column = GramTimesColumn<Real, small>;
    Column column(gram, shape.rank, lane, reinterpret_cast<Real*>(memory) + warp * Column::room(shape.rank));
    double sums[count] = {};
    for (std::int64_t j = first + warp; j < past; j += warps) {
        const std::int64_t at = j * shape.stride() + static_cast<std::int64_t>(t) * shape.rank;
        column.bring(H + at);
        for (int k = lane; k < shape.rank; k += lanes_of_warp) {
            measure.add(j, t, at + k, column.at(k), column.times(k), column.diagonal(k), sums);
        }
    }
    for (int s = 0; s < count; ++s) {
        const double sum = sum_over_block<threads>(sums[s]);
        if (threadIdx.x == 0) {
            parts[(static_cast<std::int64_t>(t) * gridDim.x + blockIdx.x) * count + s] = sum;
        }
    }
}

/// The sums of the blocks of cells of one scale, added in order by each of its threads for one sum.
__global__ void add_blocks(const double* parts, std::int64_t blocks, int count, double* sums) {
    const int s = threadIdx.x;
    if (s < count) {
        const double* const of_scale = parts + blockIdx.x * blocks * count;
        double sum = 0.0;
        for (std::int64_t b = 0; b < blocks; ++b) {
            sum += of_scale[b * count + s];
        }
        sums[blockIdx.x * count + s] = sum;
    }
}

template <class Real>
struct TermMeasure {
    Shape shape;
    ProductsView<Real> products;
    const Real* H;

    __device__ void add(std::int64_t j, int t, std::int64_t at, Real here, Real product, Real,
                        double* sums) const {
        const auto h = static_cast<double>(here);
        sums[0] += static_cast<double>(products.WtX[at]) * h;
        sums[1] += static_cast<double>(product) * h;
        sums[2] += h * h;
        sums[3] += static_cast<double>(products.degree[j * shape.scales + t]) * h * h;
        sums[4] += static_cast<double>(products.HA[at]) * h;
        if (t > 0) {
            const auto step = static_cast<double>(here - H[at - shape.rank]);
            sums[5] += step * step;
        }
    }
};

template <class Real>
struct MovementMeasure {
    Shape shape;
    Penalties<Real> penalties;
    ProductsView<Real> products;
    const Real* H;

    __device__ void add(std::int64_t j, int t, std::int64_t at, Real here, Real product, Real own,
                        double* sums) const {
        const Real degree = products.degree[j * shape.scales + t];
        const Real graph = penalties.graph[t];
        const Real anchor = penalties.anchor[t];
        const Real before = penalties.before[t];
        const Real after = penalties.before[t + 1];
        Real gradient =
            product - products.WtX[at] + graph * (here * degree - products.HA[at]) + anchor * here;
        if (t > 0) {
            gradient += before * (here - H[at - shape.rank]);
        }
        if (t + 1 < shape.scales) {
            gradient += after * (here - H[at + shape.rank]);
        }
        const double q = static_cast<double>(own) + static_cast<double>(graph) * static_cast<double>(degree) +
                         static_cast<double>(before) + static_cast<double>(after) +
                         static_cast<double>(anchor);
        if (q > 0.0) {
            const auto h = static_cast<double>(here);
            const double step = h - fmax(0.0, h - static_cast<double>(gradient) / q);
            sums[0] += q * step * step;
            sums[1] += q * h * h;
        }
    }
};

template <int count, bool small, class Real, class Measure>
void launch(const Shape& shape, const Real* WtW, const Real* H, const Measure& measure, double* parts) {
    const auto kernel = measure_blocks<Real, Measure, count, small>;
    const dim3 grid(static_cast<unsigned>(blocks_of(shape.cells, cells_of_block)),
                    static_cast<unsigned>(shape.scales));
    const int room = warps * GramTimesColumn<Real, small>::room(shape.rank) * static_cast<int>(sizeof(Real));
    allow_memory_of_block(kernel, room);
    kernel<<<grid, threads, static_cast<std::size_t>(room)>>>(shape, WtW, H, measure, parts);
    check_launch("sums over cells");
}

template <int count, class Real, class Measure>
void measure_all(const Shape& shape, const Real* WtW, const Real* H, const Measure& measure, double* parts,
                 double* sums) {
    if (shape.rank <= lanes_of_warp) {
        launch<count, true>(shape, WtW, H, measure, parts);
    } else {
        launch<count, false>(shape, WtW, H, measure, parts);
    }
    add_blocks<<<static_cast<unsigned>(shape.scales), lanes_of_warp>>>(
        parts, blocks_of(shape.cells, cells_of_block), count, sums);
    check_launch("adding blocks of cells");
}

} // namespace

std::int64_t measure_parts(const Shape& shape) {
    return blocks_of(shape.cells, cells_of_block) * shape.scales * term_sums;
}

template <class Real>
void sum_terms(const Shape& shape, const ProductsView<Real>& products, const Real* H, double* parts,
               double* sums) {
    measure_all<term_sums>(shape, products.WtW, H, TermMeasure<Real>{shape, products, H}, parts, sums);
}

template <class Real>
void sum_movement(const Shape& shape, const Penalties<Real>& penalties, const ProductsView<Real>& products,
                  const Real* H, double* parts, double* sums) {
    measure_all<movement_sums>(shape, products.WtW, H, MovementMeasure<Real>{shape, penalties, products, H},
                               parts, sums);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void sum_terms(const Shape&, const ProductsView<Real>&, const Real*, double*, double*);         \
    template void sum_movement(const Shape&, const Penalties<Real>&, const ProductsView<Real>&, const Real*, \
                               double*, double*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
