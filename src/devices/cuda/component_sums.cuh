#pragma once

#include "devices/cuda/component_shifts.hpp"

namespace pnmf::cuda {

/// The merge tree on the device (`MergeOrder`).
struct Forest {
    const std::int32_t* cell;
    const std::int32_t* component;
    const std::int64_t* level;
    const std::int32_t* first_cell;
    const std::int32_t* first_child;
    const std::int32_t* parent;
    std::int64_t components; ///< of all scales

    /// Where row k of component c of scale t stands: the components of a row lie side by side, since threads
    /// that work together have the same row of neighbouring components.
    __device__ std::int64_t at(int t, std::int64_t c, int k) const { return k * components + level[t] + c; }
    __device__ std::int64_t count(int t) const { return level[t + 1] - level[t]; }
    __device__ double size(int t, std::int64_t c) const {
        const std::int32_t* const first = first_cell + level[t] + t + c;
        return static_cast<double>(first[1] - first[0]);
    }
};

/// Half gradient and least entry of H, summed over the components of every scale.
template <class Real>
struct ComponentSums {
    double* gradient;
    Real* least;
    double* part_gradient;
    Real* part_least;
};

constexpr std::int64_t places_of_block = 512;

template <class Real>
void sum_components(const Shape& shape, const Forest& forest, const Penalties<Real>& penalties,
                    const ProductsView<Real>& products, const Real* H, const ComponentSums<Real>& sums);

} // namespace pnmf::cuda
