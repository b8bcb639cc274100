#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

/// Numbers of the cells [begin, begin + count).
template <class Real>
void half_gradient(const HalfGradient<Real>& in, Index begin, Index count, Real* gradient) {
    const Index first = begin * in.rank;
    const Index numbers = count * in.rank;
    Real* const __restrict g = gradient;
    const Real* const h = in.H + first;
    const Real* const pull = in.WtX + first;
    for (Index i = 0; i < numbers; ++i) {
        g[i] += in.anchor * h[i] - pull[i];
    }
    if (in.HA != nullptr) {
        for (Index j = 0; j < count; ++j) {
            const Real degree = in.degree[begin + j];
            const Real* const HA = in.HA + first + j * in.rank;
            for (Index k = 0; k < in.rank; ++k) {
                g[j * in.rank + k] += in.graph * (h[j * in.rank + k] * degree - HA[k]);
            }
        }
    }
    if (in.before != nullptr) {
        const Real* const before = in.before + first;
        for (Index i = 0; i < numbers; ++i) {
            g[i] += in.to_before * (h[i] - before[i]);
        }
    }
    if (in.after != nullptr) {
        const Real* const after = in.after + first;
        for (Index i = 0; i < numbers; ++i) {
            g[i] += in.to_after * (h[i] - after[i]);
        }
    }
}

/// How far projected coordinate steps would move the cells: `moved` and `size` have a sum for each row.
template <class Real>
void step_lengths(const HalfGradient<Real>& in, Index begin, Index count, const Real* gradient,
                  const StepLengths& out) {
    double* const __restrict moved = out.moved;
    double* const __restrict size = out.size;
    for (Index j = 0; j < count; ++j) {
        const Real* const h = in.H + (begin + j) * in.rank;
        const Real* const g = gradient + j * in.rank;
        const double shared = out.graph * static_cast<double>(in.degree[begin + j]) + out.rest;
        for (Index k = 0; k < in.rank; ++k) {
            const double q = out.curvature[k] + shared;
            const auto now = static_cast<double>(h[k]);
            const double next = now - static_cast<double>(g[k]) / q;
            const double step = now - (next > 0.0 ? next : 0.0);
            moved[k] += q > 0.0 ? q * (step * step) : 0.0;
            size[k] += q > 0.0 ? q * (now * now) : 0.0;
        }
    }
}

/// The sums of the objective that are over entries of H, one for each row: of WᵀX ⊙ H, HA ⊙ H, H ⊙ H, the
/// same times the degree, and of the squared distances to the next finer scale.
template <class Real>
void term_rows(const HalfGradient<Real>& in, Index begin, Index count, double* sums) {
    double* const __restrict with_data = sums;
    double* const __restrict with_graph = sums + in.rank;
    double* const __restrict squares = sums + 2 * in.rank;
    double* const __restrict weighted = sums + 3 * in.rank;
    double* const __restrict steps = sums + 4 * in.rank;
    for (Index j = begin; j < begin + count; ++j) {
        const Real* const h = in.H + j * in.rank;
        const Real* const WtX = in.WtX + j * in.rank;
        const Real* const HA = in.HA + j * in.rank;
        const auto degree = static_cast<double>(in.degree[j]);
        for (Index k = 0; k < in.rank; ++k) {
            const auto now = static_cast<double>(h[k]);
            with_data[k] += static_cast<double>(WtX[k]) * now;
            with_graph[k] += static_cast<double>(HA[k]) * now;
            squares[k] += now * now;
            weighted[k] += degree * (now * now);
        }
        if (in.before != nullptr) {
            const Real* const before = in.before + j * in.rank;
            for (Index k = 0; k < in.rank; ++k) {
                const auto step = static_cast<double>(h[k] - before[k]);
                steps[k] += step * step;
            }
        }
    }
}

template <class Real>
void add_to_components(const ComponentAdder<Real>& in) {
    for (Index begin = 0; begin < in.cells; begin += component_cells) {
        const Index end = begin + component_cells < in.cells ? begin + component_cells : in.cells;
        for (Index k = 0; k < in.rank; ++k) {
            double* const sums = in.sums + k * in.stride;
            double* const least = in.least + k * in.stride;
            for (Index j = begin; j < end; ++j) {
                const std::int32_t c = in.place[j];
                double* const sum = c >= 0 ? sums + c : in.wide + (-1 - c) * in.rank + k;
                double* const smallest = c >= 0 ? least + c : in.wide_least + (-1 - c) * in.rank + k;
                const auto h = static_cast<double>(in.H[j * in.rank + k]);
                *sum += static_cast<double>(in.gradient[j * in.rank + k]);
                *smallest = h < *smallest ? h : *smallest;
            }
        }
    }
}

template <class Real>
void move_with_components(const ComponentMover<Real>& in, Real* buffer) {
    Real* const __restrict moves = buffer;
    for (Index begin = 0; begin < in.cells; begin += component_cells) {
        const Index count = begin + component_cells < in.cells ? component_cells : in.cells - begin;
        for (Index k = 0; k < in.rank; ++k) {
            const double* const shift = in.shift + k * in.stride;
            for (Index j = 0; j < count; ++j) {
                moves[j * in.rank + k] = static_cast<Real>(shift[in.component[begin + j]]);
            }
        }
        Real* const __restrict H = in.H + begin * in.rank;
        for (Index i = 0; i < count * in.rank; ++i) {
            const Real moved = H[i] + moves[i];
            H[i] = moved > Real{0} ? moved : Real{0};
        }
        for (Index j = 0; j < count; ++j) {
            Real* const __restrict HA = in.HA + (begin + j) * in.rank;
            const Real degree = in.degree[begin + j];
            for (Index k = 0; k < in.rank; ++k) {
                HA[k] += moves[j * in.rank + k] * degree;
            }
        }
    }
}

} // namespace pnmf::PNMF_KERNEL_SET
