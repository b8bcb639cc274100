#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

/// Entries [i, i + lanes) of `outputs` columns.
template <int outputs, int lanes>
PNMF_INLINE void add_columns_at(const ColumnSums& in, Index first_output, Index i) {
    using Numbers = Lanes<double, lanes>;
    Numbers sum[outputs];
    for (int o = 0; o < outputs; ++o) {
        sum[o] = Numbers::load(in.out + (first_output + o) * in.out_stride + i);
    }
    for (Index l = 0; l < in.columns; ++l) {
        const Numbers column = Numbers::load(in.column + l * in.stride + i);
        for (int o = 0; o < outputs; ++o) {
            sum[o].add_product(in.factors[(first_output + o) * in.columns + l], column);
        }
    }
    for (int o = 0; o < outputs; ++o) {
        sum[o].store(in.out + (first_output + o) * in.out_stride + i);
    }
}

template <int outputs>
PNMF_INLINE void add_columns_to(const ColumnSums& in, Index first_output) {
    constexpr int lanes = outputs == 1 ? 32 : 16; // sums that do not wait for one another
    Index i = 0;
    for (; i + lanes <= in.count; i += lanes) {
        add_columns_at<outputs, lanes>(in, first_output, i);
    }
    for (; i < in.count; ++i) {
        add_columns_at<outputs, 1>(in, first_output, i);
    }
}

/// Four columns at a time, then one by one.
inline void add_columns(const ColumnSums& in) {
    Index output = 0;
    for (; output + 4 <= in.outputs; output += 4) {
        add_columns_to<4>(in, output);
    }
    for (; output < in.outputs; ++output) {
        add_columns_to<1>(in, output);
    }
}

/// What a component has of itself: pivot, right side and slope.
inline void begin_shifts(const ShiftLevel& in, const double* moved) {
    const double curvature = in.own + in.after;
    double* const __restrict pivot = in.inverse; // its inverse later
    double* const __restrict right = in.right;
    double* const __restrict slope = in.slope;
    double* const __restrict gradient = in.gradient;
    for (Index c = 0; c < in.count; ++c) {
        const auto size = static_cast<double>(in.size[c]);
        gradient[c] += size * moved[c];
        pivot[c] = curvature * size;
        right[c] = -gradient[c];
        slope[c] = in.last == nullptr ? 0.0 : -(size * (in.last_factor * in.last[c]));
    }
}

/// The inverse of each pivot, and what is handed on to the next coarser scale.
inline void end_elimination(const ShiftLevel& in, const HandedRows& handed) {
    double* const __restrict inverse = in.inverse;
    double* const __restrict pivot_out = handed.pivot;
    double* const __restrict right_out = handed.right;
    double* const __restrict slope_out = handed.slope;
    for (Index c = 0; c < in.count; ++c) {
        const double pivot = inverse[c];
        inverse[c] = pivot > 0.0 ? 1.0 / pivot : 0.0;
        const double coupling = in.after * static_cast<double>(in.size[c]);
        const double ratio = coupling * inverse[c];
        pivot_out[c] = coupling - coupling * ratio;
        right_out[c] = in.right[c] * ratio;
        slope_out[c] = in.slope[c] * ratio;
    }
}

/// The shifts, the row before shortened, and in `along` what the shifts change: linear and curvature.
inline void end_shifts(const ShiftLevel& in, double length, const double* above, double* along) {
    double* const __restrict gradient = in.gradient;
    double* const __restrict shift = in.shift;
    if (in.last != nullptr) {
        double* const __restrict last = in.last;
        for (Index c = 0; c < in.count; ++c) {
            last[c] *= length;
            gradient[c] += static_cast<double>(in.size[c]) * (in.last_factor * last[c]);
        }
    }
    for (Index c = 0; c < in.count; ++c) {
        const double coupling = in.after * static_cast<double>(in.size[c]);
        const double best = (in.right[c] + length * in.slope[c] + coupling * above[c]) * in.inverse[c];
        const double most_down = -in.least[c];
        shift[c] = best < most_down ? most_down : best;
    }
    constexpr int lanes = 8;
    double linear[lanes] = {};
    double curvature[lanes] = {};
    const auto add = [&](Index c, int lane) {
        const double a = shift[c];
        const auto size = static_cast<double>(in.size[c]);
        const double apart = a - above[c];
        linear[lane] += gradient[c] * a;
        curvature[lane] += size * (in.own * (a * a) + in.after * (apart * apart));
    };
    Index c = 0;
    for (; c + lanes <= in.count; c += lanes) {
        for (int lane = 0; lane < lanes; ++lane) {
            add(c + lane, lane);
        }
    }
    for (; c < in.count; ++c) {
        add(c, 0);
    }
    along[0] = ((linear[0] + linear[1]) + (linear[2] + linear[3])) +
               ((linear[4] + linear[5]) + (linear[6] + linear[7]));
    along[1] = ((curvature[0] + curvature[1]) + (curvature[2] + curvature[3])) +
               ((curvature[4] + curvature[5]) + (curvature[6] + curvature[7]));
}

} // namespace pnmf::PNMF_KERNEL_SET
