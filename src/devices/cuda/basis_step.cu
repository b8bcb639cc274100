#include "devices/cuda/basis_step.hpp"
#include "devices/cuda/gemm.hpp"
#include "devices/cuda/reduce.cuh"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr std::int64_t cells_of_part = 1024; // a batch of them fills the device
constexpr int threads = 512;

/// gram[t·size + e] = Σ_b parts[(t·blocks + b)·size + e], in double, in the order of the blocks.
template <class Real>
__global__ void add_grams(const Real* parts, std::int64_t blocks, std::int64_t size, std::int64_t count,
                          Real* gram) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at >= count) {
        return;
    }
    const Real* const part = parts + at / size * blocks * size + at % size;
    double sum = 0.0;
    for (std::int64_t b = 0; b < blocks; ++b) {
        sum += static_cast<double>(part[b * size]);
    }
    gram[at] = static_cast<Real>(sum);
}

template <class Real>
__global__ void weigh_grams(std::int64_t size, std::int64_t count, const Real* weight, Real* gram) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at < count) {
        gram[at] *= weight[at / size];
    }
}

/// (W·HHᵀ)_ik: a row of W with a column of HHᵀ.
template <class Real>
__device__ Real row_product(const Real* W, std::int64_t features, std::int64_t i, const Real* column,
                            int rank) {
    Real sum = 0;
#pragma unroll 8
    for (int l = 0; l < rank; ++l) {
        sum += W[l * features + i] * column[l];
    }
    return sum;
}

/// One block works on one scale. A thread always has the same rows of W, so only norms pass between threads.
template <class Real>
class ScaleBasis {
  public:
    __device__ ScaleBasis(std::int64_t features, int rank, const Real* XHt, const Real* HHt, Real* W,
                          Real* buffer)
        : features_(features), rank_(rank), XHt_(XHt), HHt_(HHt), W_(W), buffer_(buffer) {}

    /// Σ q r² and Σ q x² of `Movement`, unit columns.
    __device__ void movement(double* moved) {
        double far = 0.0;
        double size = 0.0;
        for (int k = 0; k < rank_; ++k) {
            const auto q = static_cast<double>(HHt_[k * rank_ + k]);
            if (!(q > 0.0)) {
                continue; // the row of H is zero: the column of W does not matter
            }
            const Real* const w = W_ + k * features_;
            double along = 0.0;
            for (std::int64_t i = threadIdx.x; i < features_; i += threads) {
                const Real gradient =
                    row_product(W_, features_, i, HHt_ + k * rank_, rank_) - XHt_[k * features_ + i];
                buffer_[i] = gradient;
                along += static_cast<double>(w[i]) * static_cast<double>(gradient);
            }
            along = sum_over_block<threads>(along);
            for (std::int64_t i = threadIdx.x; i < features_; i += threads) {
                const auto x = static_cast<double>(w[i]);
                const double step = x - fmax(0.0, x - (static_cast<double>(buffer_[i]) - along * x) / q);
                far += q * step * step;
                size += q * x * x;
            }
        }
        far = sum_over_block<threads>(far);
        size = sum_over_block<threads>(size);
        if (threadIdx.x == 0) {
            moved[0] = far;
            moved[1] = size;
        }
    }

    /// w_k ← v₊ / ‖v₊‖, v = (XHᵀ)_k − W(HHᵀ)_k + w_k(HHᵀ)_kk; where v₊ = 0 the column stays.
    __device__ void step_column(int k) {
        const Real* const column = HHt_ + k * rank_;
        Real* const w = W_ + k * features_;
        double square = 0.0;
        for (std::int64_t i = threadIdx.x; i < features_; i += threads) {
            const Real v =
                XHt_[k * features_ + i] + column[k] * w[i] - row_product(W_, features_, i, column, rank_);
            buffer_[i] = v > Real{0} ? v : Real{0};
            square += static_cast<double>(buffer_[i]) * static_cast<double>(buffer_[i]);
        }
        square = sum_over_block<threads>(square);
        if (square > 0.0) {
            const double norm = sqrt(square);
            for (std::int64_t i = threadIdx.x; i < features_; i += threads) {
                w[i] = static_cast<Real>(static_cast<double>(buffer_[i]) / norm);
            }
        }
    }

  private:
    std::int64_t features_;
    int rank_;
    const Real* XHt_;
    const Real* HHt_;
    Real* W_;
    Real* buffer_;
};

template <class Real>
__global__ void __launch_bounds__(threads)
    step_scales(std::int64_t features, int rank, int passes, const Real* XHt, const Real* HHt, Real* W,
                Real* buffer, double* moved) {
    const std::int64_t t = blockIdx.x;
    const std::int64_t basis = t * rank * features;
    ScaleBasis<Real> scale(features, rank, XHt + basis, HHt + t * rank * rank, W + basis,
                           buffer + t * features);
    scale.movement(moved + 2 * t);
    for (int pass = 0; pass < passes; ++pass) {
        for (int k = 0; k < rank; ++k) {
            scale.step_column(k);
        }
    }
}

template <class Real>
__global__ void __launch_bounds__(threads)
    extrapolate_columns(std::int64_t features, int rank, const Real* beta, const Real* now, Real* W) {
    const std::int64_t column = blockIdx.x;
    const Real step = beta[column / rank];
    const Real* const here = now + column * features;
    Real* const w = W + column * features;
    double square = 0.0;
    for (std::int64_t i = threadIdx.x; i < features; i += threads) {
        const Real next = here[i] + step * (here[i] - w[i]);
        w[i] = next > Real{0} ? next : Real{0};
        square += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    }
    square = sum_over_block<threads>(square);
    const double norm = sqrt(square);
    for (std::int64_t i = threadIdx.x; i < features; i += threads) {
        w[i] = square > 0.0 ? static_cast<Real>(static_cast<double>(w[i]) / norm) : here[i];
    }
}

} // namespace

std::int64_t gram_parts(const Shape& shape) {
    return blocks_of(shape.cells, cells_of_part) * shape.grams();
}

template <class Real>
void gram_of_rows(const Products& products, const Shape& shape, const Real* H, Real* parts, Real* HHt) {
    const std::int64_t blocks = blocks_of(shape.cells, cells_of_part);
    const std::int64_t whole = shape.cells / cells_of_part;
    const std::int64_t rest = shape.cells - whole * cells_of_part;
    const std::int64_t size = static_cast<std::int64_t>(shape.rank) * shape.rank;
    for (std::int64_t t = 0; t < shape.scales; ++t) {
        const Real* const of_scale = H + t * shape.rank;
        Real* const out = parts + t * blocks * size;
        if (whole > 0) {
            grams(products, true, shape.rank, cells_of_part, of_scale, shape.stride(),
                  cells_of_part * shape.stride(), out, whole);
        }
        if (rest > 0) {
            grams(products, true, shape.rank, rest, of_scale + whole * cells_of_part * shape.stride(),
                  shape.stride(), 0, out + whole * size, 1);
        }
    }
    add_grams<<<static_cast<unsigned>(blocks_of(shape.grams(), 256)), 256>>>(parts, blocks, size,
                                                                             shape.grams(), HHt);
    check_launch("adding products of blocks");
}

template <class Real>
void gram_of_columns(const Products& products, const Shape& shape, const Real* W, const Real* weight,
                     Real* WtW) {
    grams(products, false, shape.rank, shape.features, W, shape.features, shape.rank * shape.features, WtW,
          shape.scales);
    weigh_grams<<<static_cast<unsigned>(blocks_of(shape.grams(), 256)), 256>>>(
        static_cast<std::int64_t>(shape.rank) * shape.rank, shape.grams(), weight, WtW);
    check_launch("weighing");
}

template <class Real>
void step_basis(const Shape& shape, int passes, const Real* XHt, const Real* HHt, Real* W, Real* buffer,
                double* moved) {
    step_scales<<<static_cast<unsigned>(shape.scales), threads>>>(shape.features, shape.rank, passes, XHt,
                                                                  HHt, W, buffer, moved);
    check_launch("steps on W");
}

template <class Real>
void extrapolate_basis(const Shape& shape, const Real* beta, const Real* now, Real* W) {
    extrapolate_columns<<<static_cast<unsigned>(shape.rows()), threads>>>(shape.features, shape.rank, beta,
                                                                          now, W);
    check_launch("extrapolating W");
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void gram_of_rows(const Products&, const Shape&, const Real*, Real*, Real*);                    \
    template void gram_of_columns(const Products&, const Shape&, const Real*, const Real*, Real*);           \
    template void step_basis(const Shape&, int, const Real*, const Real*, Real*, Real*, double*);            \
    template void extrapolate_basis(const Shape&, const Real*, const Real*, Real*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
