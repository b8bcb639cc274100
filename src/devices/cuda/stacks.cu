#include "devices/cuda/reduce.cuh"
#include "devices/cuda/stacks.hpp"

#include <algorithm>

namespace pnmf::cuda {
namespace {

constexpr int threads = 256;

template <class Real, bool into_stack>
__global__ void move_scale(Shape shape, int t, Real* of_scale, Real* stack) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (at >= shape.cells * shape.rank) {
        return;
    }
    Real& there =
        stack[at / shape.rank * shape.stride() + static_cast<std::int64_t>(t) * shape.rank + at % shape.rank];
    if (into_stack) {
        there = of_scale[at];
    } else {
        of_scale[at] = there;
    }
}

template <class Real>
__global__ void extrapolate_columns(Shape shape, const Real* beta, const Real* now, Real* H) {
    const std::int64_t r = blockIdx.y * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (r >= shape.rows()) {
        return;
    }
    const Real step = beta[r / shape.rank];
    for (std::int64_t j = blockIdx.x; j < shape.cells; j += gridDim.x) {
        const std::int64_t at = j * shape.stride() + r;
        const Real next = now[at] + step * (now[at] - H[at]);
        H[at] = next > Real{0} ? next : Real{0};
    }
}

template <class Real, bool into_stack>
__global__ void move_columns(int rank, const std::int64_t* place, std::int64_t count, Real* row,
                             Real* stack) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
    if (at >= count * rank) {
        return;
    }
    Real& there = stack[place[at / rank] + at % rank];
    if (into_stack) {
        there = row[at];
    } else {
        row[at] = there;
    }
}

} // namespace

template <class Real>
void put_scale(const Shape& shape, int t, const Real* of_scale, Real* stack) {
    move_scale<Real, true><<<static_cast<unsigned>(blocks_of(shape.cells * shape.rank, threads)), threads>>>(
        shape, t, const_cast<Real*>(of_scale), stack);
    check_launch("stacking a scale");
}

template <class Real>
void get_scale(const Shape& shape, int t, const Real* stack, Real* of_scale) {
    move_scale<Real, false><<<static_cast<unsigned>(blocks_of(shape.cells * shape.rank, threads)), threads>>>(
        shape, t, of_scale, const_cast<Real*>(stack));
    check_launch("taking a scale out");
}

template <class Real>
void extrapolate_stack(const Shape& shape, const Real* beta, const Real* now, Real* H) {
    const dim3 grid(static_cast<unsigned>(std::min<std::int64_t>(shape.cells, 1 << 16)),
                    static_cast<unsigned>(blocks_of(shape.rows(), threads)));
    extrapolate_columns<<<grid, threads>>>(shape, beta, now, H);
    check_launch("extrapolating H");
}

template <class Real>
void take_columns(int rank, const std::int64_t* place, std::int64_t count, const Real* stack, Real* row) {
    if (count > 0) {
        move_columns<Real, false><<<static_cast<unsigned>(blocks_of(count * rank, threads)), threads>>>(
            rank, place, count, row, const_cast<Real*>(stack));
        check_launch("taking columns out");
    }
}

template <class Real>
void put_columns(int rank, const std::int64_t* place, std::int64_t count, const Real* row, Real* stack) {
    if (count > 0) {
        move_columns<Real, true><<<static_cast<unsigned>(blocks_of(count * rank, threads)), threads>>>(
            rank, place, count, const_cast<Real*>(row), stack);
        check_launch("putting columns in");
    }
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void put_scale(const Shape&, int, const Real*, Real*);                                          \
    template void get_scale(const Shape&, int, const Real*, Real*);                                          \
    template void extrapolate_stack(const Shape&, const Real*, const Real*, Real*);                          \
    template void take_columns(int, const std::int64_t*, std::int64_t, const Real*, Real*);                  \
    template void put_columns(int, const std::int64_t*, std::int64_t, const Real*, Real*);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf::cuda
