#include "devices/cuda/chain_step.hpp"
#include "devices/cuda/column_product.cuh"
#include "devices/cuda/reduce.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / lanes_of_warp;

template <class Real>
__global__ void step_basis_entries(std::int64_t features, int rank, Real nu, const Real* XHt, const Real* HHt,
                                   const Real* W, Real* next) {
    const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    const int k = blockIdx.y;
    if (i >= features) {
        return;
    }
    Real term = 0;
    for (int l = 0; l < rank; ++l) {
        term += W[l * features + i] * HHt[k * rank + l];
    }
    const std::int64_t at = k * features + i;
    next[at] = W[at] * (XHt[at] / (term + nu));
}

/// A warp has a cell at a time; its column is brought together before it changes.
template <class Real, bool small>
__global__ void __launch_bounds__(threads)
    step_cells(Shape shape, Real lambda, Real nu, ProductsView<Real> products, Real* H) {
    extern __shared__ __align__(16) char memory[];
    const int warp = threadIdx.x / lanes_of_warp;
    const int lane = threadIdx.x % lanes_of_warp;
    using Column = GramTimesColumn<Real, small>;
    Column column(products.WtW, shape.rank, lane,
                  reinterpret_cast<Real*>(memory) + warp * Column::buffer(shape.rank));
    for (std::int64_t j = blockIdx.x * static_cast<std::int64_t>(warps) + warp; j < shape.cells;
         j += static_cast<std::int64_t>(gridDim.x) * warps) {
        Real* const h = H + j * shape.stride();
        column.bring(h);
        const Real pull = lambda * products.degree[j];
        for (int k = lane; k < shape.rank; k += lanes_of_warp) {
            const std::int64_t at = j * shape.stride() + k;
            const Real here = column.at(k);
            const Real above = products.WtX[at] + lambda * products.HA[at];
            h[k] = here * (above / (column.times(k) + pull * here + nu));
        }
    }
}

/// A block has a column of W.
template <class Real>
__global__ void __launch_bounds__(threads) make_basis_unit(std::int64_t features, Real* W, Real* norms) {
    Real* const w = W + blockIdx.x * features;
    double square = 0.0;
    for (std::int64_t i = threadIdx.x; i < features; i += threads) {
        square += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    }
    square = sum_over_block<threads>(square);
    const Real norm = square > 0.0 ? static_cast<Real>(sqrt(square)) : Real{1};
    for (std::int64_t i = threadIdx.x; i < features; i += threads) {
        w[i] /= norm;
    }
    if (threadIdx.x == 0) {
        norms[blockIdx.x] = norm;
    }
}

template <class Real>
__global__ void scale_gram(int rank, const Real* norms, Real* WtW) {
    const int at = blockIdx.x * threads + threadIdx.x;
    if (at < rank * rank) {
        WtW[at] /= norms[at / rank] * norms[at % rank];
    }
}

template <class Real>
__global__ void scale_rows(Shape shape, const Real* norms, Real* H, Real* WtX, Real* HA) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (at >= shape.stacked()) {
        return;
    }
    const std::int64_t k = at % shape.stride();
    if (k < shape.rank) {
        H[at] *= norms[k];
        HA[at] *= norms[k];
        WtX[at] /= norms[k];
    }
}

template <bool small, class Real>
void launch(const Shape& shape, Real lambda, Real nu, const ProductsView<Real>& products, Real* H) {
    const int buffer =
        warps * GramTimesColumn<Real, small>::buffer(shape.rank) * static_cast<int>(sizeof(Real));
    allow_memory_of_block(step_cells<Real, small>, buffer);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(blocks_of(shape.cells, warps), 1 << 13));
    step_cells<Real, small>
        <<<blocks, threads, static_cast<std::size_t>(buffer)>>>(shape, lambda, nu, products, H);
    check_launch("a multiplicative step on H");
}

} // namespace

template <class Real>
void plain_basis_step(const Shape& shape, Real nu, const Real* XHt, const Real* HHt, const Real* W,
                      Real* next) {
    const dim3 grid(static_cast<unsigned>(blocks_of(shape.features, threads)),
                    static_cast<unsigned>(shape.rank));
    step_basis_entries<<<grid, threads>>>(shape.features, shape.rank, nu, XHt, HHt, W, next);
    check_launch("a multiplicative step on W");
}

template <class Real>
void plain_embedding_step(const Shape& shape, Real lambda, Real nu, const ProductsView<Real>& products,
                          Real* H) {
    if (shape.rank <= lanes_of_warp) {
        launch<true>(shape, lambda, nu, products, H);
    } else {
        launch<false>(shape, lambda, nu, products, H);
    }
}

template <class Real>
void make_columns_unit(const Shape& shape, Real* norms, Real* W, Real* H, Real* WtX, Real* WtW, Real* HA) {
    make_basis_unit<<<static_cast<unsigned>(shape.rank), threads>>>(shape.features, W, norms);
    check_launch("columns of unit length");
    scale_gram<<<static_cast<unsigned>(blocks_of(shape.grams(), threads)), threads>>>(shape.rank, norms, WtW);
    check_launch("scaling products of W");
    scale_rows<<<static_cast<unsigned>(blocks_of(shape.stacked(), threads)), threads>>>(shape, norms, H, WtX,
                                                                                        HA);
    check_launch("scaling rows of H");
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void plain_basis_step(const Shape&, Real, const Real*, const Real*, const Real*, Real*);        \
    template void plain_embedding_step(const Shape&, Real, Real, const ProductsView<Real>&, Real*);          \
    template void make_columns_unit(const Shape&, Real*, Real*, Real*, Real*, Real*, Real*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
