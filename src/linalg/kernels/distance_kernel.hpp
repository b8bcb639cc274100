#pragma once

#include "linalg/kernels/kernels.hpp"
#include "linalg/kernels/lanes.hpp"

namespace pnmf::PNMF_KERNEL_SET {

/// ‖x − p‖² of some cells for four points, coordinate after coordinate.
template <int cells>
PNMF_INLINE void squares_of_differences(const double* X, Index d, const double* points, double* out) {
    using Four = Lanes<double, 4>;
    Four sum[cells];
    for (int a = 0; a < cells; ++a) {
        sum[a] = Four::all(0.0);
    }
    for (Index f = 0; f < d; ++f) {
        const Four point = Four::load(points + 4 * f);
        for (int a = 0; a < cells; ++a) {
            const Four difference = X[a * d + f] - point;
            sum[a] = sum[a] + difference * difference;
        }
    }
    for (int a = 0; a < cells; ++a) {
        sum[a].store(out + 4 * a);
    }
}

static void squared_distances(const double* X, Index d, Index cells, const double* points, double* out) {
    constexpr Index together = 6; // whose sums do not wait for one another
    Index j = 0;
    for (; j + together <= cells; j += together) {
        squares_of_differences<together>(X + j * d, d, points, out + 4 * j);
    }
    for (; j < cells; ++j) {
        squares_of_differences<1>(X + j * d, d, points, out + 4 * j);
    }
}

/// Scores of `cells` cells for `8·parts` centres: half ‖c‖² − c·x, feature after feature.
template <int parts, int cells>
PNMF_INLINE void score_centres(const double* X, Index d, const double* centres, Index stride,
                               const double* half_squares, double* const* scores) {
    using Eight = Lanes<double, 8>;
    Eight sum[cells][parts];
    for (int a = 0; a < cells; ++a) {
        for (int p = 0; p < parts; ++p) {
            sum[a][p] = Eight::all(0.0);
        }
    }
    for (Index f = 0; f < d; ++f) {
        for (int p = 0; p < parts; ++p) {
            const Eight centre = Eight::load(centres + f * stride + 8 * p);
            for (int a = 0; a < cells; ++a) {
                sum[a][p].add_product(X[a * d + f], centre);
            }
        }
    }
    for (int a = 0; a < cells; ++a) {
        for (int p = 0; p < parts; ++p) {
            (Eight::load(half_squares + 8 * p) - sum[a][p]).store(scores[a] + 8 * p);
        }
    }
}

/// Some cells against all centres, those that are left of them one part at a time.
template <int cells>
PNMF_INLINE void nearest_of(const double* X, Index d, const CentreTable& table, double* buffer,
                            std::int64_t* labels) {
    double* scores[cells];
    for (int a = 0; a < cells; ++a) {
        scores[a] = buffer + a * table.stride;
    }
    for (Index c = 0; c < table.stride;) {
        double* at[cells];
        for (int a = 0; a < cells; ++a) {
            at[a] = scores[a] + c;
        }
        if (c + 16 <= table.stride) {
            score_centres<2, cells>(X, d, table.centres + c, table.stride, table.half_squares + c, at);
            c += 16;
        } else {
            score_centres<1, cells>(X, d, table.centres + c, table.stride, table.half_squares + c, at);
            c += 8;
        }
    }
    for (int a = 0; a < cells; ++a) {
        Index best = 0;
        double least = scores[a][0];
        for (Index c = 1; c < table.count; ++c) {
            if (scores[a][c] < least) {
                least = scores[a][c];
                best = c;
            }
        }
        labels[a] = best;
    }
}

static void nearest_centres(const double* X, Index d, Index cells, const CentreTable& table, double* buffer,
                            std::int64_t* labels) {
    constexpr Index together = centre_buffer_cells;
    Index j = 0;
    for (; j + together <= cells; j += together) {
        nearest_of<together>(X + j * d, d, table, buffer, labels + j);
    }
    for (; j < cells; ++j) {
        nearest_of<1>(X + j * d, d, table, buffer, labels + j);
    }
}

} // namespace pnmf::PNMF_KERNEL_SET
