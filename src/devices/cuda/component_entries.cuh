#pragma once

#include "devices/cuda/embedding_pass.hpp"
#include "devices/cuda/shape.hpp"

#include <cmath>

/// What cells add to the sums over their components.
namespace pnmf::cuda {

/// What one warp knows of a run of cells: row k of the sums over the component it is in.
template <class Real>
struct Run {
    double gradient = 0.0;
    Real least = static_cast<Real>(INFINITY);

    __device__ void add(double g, Real h) {
        gradient += g;
        least = min(least, h);
    }
    __device__ void put(double* gradients, Real* leasts, std::int64_t at) {
        gradients[at] = gradient;
        leasts[at] = least;
        gradient = 0.0;
        least = static_cast<Real>(INFINITY);
    }
};

/// What row k of a cell at scale t adds to its component: the half gradient without the graph term, which
/// sums to zero over a component, and without WᵀW·h, which takes longer.
template <class Real>
struct Entry {
    Real here = 0;
    Real rest = 0;
};

/// Fetches entries of one scale.
template <class Real>
struct Entries {
    const Shape& shape;
    const Penalties<Real>& penalties;
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
        Entry<Real> entry{H[at], 0};
        entry.rest = penalties.anchor[t] * entry.here - products.WtX[at];
        if (t > 0) {
            entry.rest += penalties.before[t] * (entry.here - H[at - shape.rank]);
        }
        if (t + 1 < shape.scales) {
            entry.rest += penalties.before[t + 1] * (entry.here - H[at + shape.rank]);
        }
        return entry;
    }
};

} // namespace pnmf::cuda
