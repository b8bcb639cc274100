#include "linalg/gather_columns.hpp"

#include "linalg/kernels/kernels.hpp"

namespace pnmf {
namespace {

constexpr Index near_bytes = Index{1} << 17U; ///< an M of this size stays close by itself

template <class Real>
void gather_one(const Real* M, Index d, Index columns, const GatherRun<Real>& run) {
    gather_runs<Real>(M, d, d, columns, std::span(&run, 1));
}

} // namespace

template <class Real>
void gather_runs(const Real* M, Index d, Index stride, Index columns, std::span<const GatherRun<Real>> runs,
                 Index first) {
    const bool far = stride * columns * static_cast<Index>(sizeof(Real)) > near_bytes;
    kernels().of<Real>().gather({M, d, stride, far, first}, runs.data(), std::ssize(runs));
}

template void gather_runs(const float*, Index, Index, Index, std::span<const GatherRun<float>>, Index);
template void gather_runs(const double*, Index, Index, Index, std::span<const GatherRun<double>>, Index);

void gather_columns(const float* M, Index d, Index columns, const std::int32_t* row, const float* value,
                    Index count, float* result) {
    gather_one<float>(M, d, columns, {row, value, count, result});
}

void gather_columns(const double* M, Index d, Index columns, const std::int32_t* row, const double* value,
                    Index count, double* result) {
    gather_one<double>(M, d, columns, {row, value, count, result});
}

} // namespace pnmf
