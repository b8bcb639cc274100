#include "persistence/pair_bounds.hpp"

#include "linalg/aligned_buffer.hpp"
#include "linalg/kernels/kernels.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace pnmf {
namespace {

constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2.0;
constexpr double smallest_normal = std::numeric_limits<double>::min();
/// A square root and a square, each rounded, and what is added up with them.
constexpr double root_margin = 16.0 * unit_roundoff;

/// Features whose coordinates of a strip stay in the nearest cache: 32 kB.
constexpr Index features_at_once = 128;

/// Columns of sparse X, laid out anew: the entries of the first features of all columns, then those of the
/// next features, and so on. So they are read in the order in which they lie.
struct ColumnsByParts {
    std::vector<std::int64_t> begin; ///< of column b in a part: begin[part·columns + b]
    std::vector<std::int32_t> row;   ///< counted from the first feature of the part; past the last there may
    std::vector<double> value;       ///< be others of an earlier panel
};

void by_parts(const SparseView<double>& X, std::span<const Index> B, Index parts, ColumnsByParts& result) {
    thread_local std::vector<std::int64_t> next;
    next.clear();
    std::int64_t entries = 0;
    for (const Index cell : B) {
        next.push_back(X.start[cell]);
        entries += X.start[cell + 1] - X.start[cell];
    }
    result.begin.clear();
    result.begin.reserve(static_cast<std::size_t>(parts) * B.size() + 1);
    result.row.resize(std::max(result.row.size(), static_cast<std::size_t>(entries)));
    result.value.resize(std::max(result.value.size(), static_cast<std::size_t>(entries)));
    std::int64_t to = 0;
    for (Index part = 0; part < parts; ++part) {
        const auto first = static_cast<std::int32_t>(part * features_at_once);
        for (std::size_t b = 0; b < B.size(); ++b) {
            result.begin.push_back(to);
            const std::int64_t end = X.start[B[b] + 1];
            std::int64_t e = next[b];
            for (; e < end && X.row[e] - first < features_at_once; ++e, ++to) {
                result.row[to] = X.row[e] - first;
                result.value[to] = X.value[e];
            }
            next[b] = e;
        }
    }
    result.begin.push_back(to);
}

/// ⟨a, b⟩ for the cells A × B of sparse X. A strip of A is written out, some features at a time, the columns
/// of B stay sparse: all of them go through these features before any goes on to the next ones. Cost: a
/// multiplication and an addition for each entry of B and each cell of A.
void sparse_products(const SparseView<double>& X, std::span<const Index> A, std::span<const Index> B,
                     Matrix& out) {
    // The cells' coordinates lie side by side, feature by feature.
    // Threads keep their memory from panel to panel: asking for it all the time they would wait for each
    // other.
    thread_local const AlignedBuffer<double> strip(features_at_once * strip_cells);
    std::fill_n(strip.data(), features_at_once * strip_cells, 0.0);
    thread_local Matrix sums;
    sums.resize(strip_cells, std::ssize(B));
    const Index parts = (X.rows + features_at_once - 1) / features_at_once;
    thread_local ColumnsByParts columns;
    by_parts(X, B, parts, columns);
    std::array<std::int64_t, strip_cells> next{}; // entry of each cell of the strip
    const auto rows = static_cast<Index>(A.size());
    for (Index first = 0; first < rows; first += strip_cells) {
        const Index width = std::min<Index>(strip_cells, rows - first);
        for (Index a = 0; a < width; ++a) {
            next[a] = X.start[A[first + a]];
        }
        sums.setZero();
        for (Index part = 0; part < parts; ++part) {
            const Index from = part * features_at_once;
            for (Index a = 0; a < width; ++a) {
                const std::int64_t end = X.start[A[first + a] + 1];
                for (; next[a] < end && X.row[next[a]] - from < features_at_once; ++next[a]) {
                    strip.data()[(X.row[next[a]] - from) * strip_cells + a] = X.value[next[a]];
                }
            }
            const std::int64_t* const begin = columns.begin.data() + part * std::ssize(B);
            for (Index b = 0; b < std::ssize(B); ++b) {
                kernels().strip_products(strip.data(), columns.row.data() + begin[b],
                                         columns.value.data() + begin[b], begin[b + 1] - begin[b],
                                         sums.col(b).data());
            }
            std::fill_n(strip.data(), features_at_once * strip_cells, 0.0);
        }
        out.middleRows(first, width) = sums.topRows(width);
    }
}

/// The most terms a sum of differences or products has.
Index longest_sum(const SparseView<double>& X) {
    Index longest = 0;
    for (Index j = 0; j < X.cols; ++j) {
        longest = std::max<Index>(longest, X.start[j + 1] - X.start[j]);
    }
    return 2 * longest;
}

} // namespace

PairBounds::PairBounds(const Points& points) : points_(points) {
    const Index n = points.count();
    lower_ = Vector::Zero(n);
    width_ = Vector::Zero(n);
    if (points.kind_ == Points::Kind::table) {
        return; // the keys are known
    }
    Vector squared_norms(n);
    if (points.is_sparse_) {
        const SparseView<double> X = points.columns();
        parallel_blocks(n, panel_cells, [&](Index begin, Index end) {
            for (Index j = begin; j < end; ++j) {
                squared_norms[j] =
                    Eigen::Map<const Vector>(X.value.data() + X.start[j], X.start[j + 1] - X.start[j])
                        .squaredNorm();
            }
        });
    } else {
        centre_ = points.dense().rowwise().mean();
        parallel_blocks(n, panel_cells, [&](Index begin, Index end) {
            for (Index j = begin; j < end; ++j) {
                squared_norms[j] = (points.dense().col(j) - centre_).squaredNorm();
            }
        });
    }
    const Index terms = points.is_sparse_ ? longest_sum(points.columns()) : points.dense().rows();
    const double c = static_cast<double>(2 * terms + 32) * 1.05 * unit_roundoff;
    const double underflow = static_cast<double>(4 * terms + 16) * smallest_normal;
    const Vector error = (2.0 * c * squared_norms).array() + underflow;
    lower_ = squared_norms - error;
    width_ = 2.0 * error;
}

void PairBounds::gather(std::span<const Index> cells, Panel& panel) const {
    const auto size = static_cast<Index>(cells.size());
    panel.cells.assign(cells.begin(), cells.end());
    panel.lower.resize(size);
    panel.width.resize(size);
    const bool coordinates = points_.kind_ != Points::Kind::table && !points_.is_sparse_;
    panel.values.resize(coordinates ? points_.dense().rows() : 0, coordinates ? size : 0);
    for (Index a = 0; a < size; ++a) {
        panel.lower[a] = lower_[cells[a]];
        panel.width[a] = width_[cells[a]];
        if (coordinates) {
            panel.values.col(a) = points_.dense().col(cells[a]) - centre_;
        }
    }
}

void PairBounds::products(const Panel& A, const Panel& B, Matrix& out) const {
    if (points_.is_sparse_) {
        sparse_products(points_.columns(), A.cells, B.cells, out);
    } else {
        multiply_transposed(A.values, B.values, out);
    }
}

void PairBounds::lower_bounds(const Panel& A, const Panel& B, Matrix& out) const {
    const auto rows = static_cast<Index>(A.cells.size());
    const auto cols = static_cast<Index>(B.cells.size());
    out.resize(rows, cols);
    if (points_.kind_ == Points::Kind::table) {
        for (Index b = 0; b < cols; ++b) {
            for (Index a = 0; a < rows; ++a) {
                out(a, b) = points_.dense()(A.cells[a], B.cells[b]);
            }
        }
        return;
    }
    products(A, B, out);
    for (Index b = 0; b < cols; ++b) {
        out.col(b) = (A.lower.array() + B.lower[b]) - 2.0 * out.col(b).array();
    }
}

double PairBounds::key_above(double d) const {
    switch (points_.kind_) {
    case Points::Kind::table:
        return d;
    case Points::Kind::cosine:
        return 2.0 * d;
    case Points::Kind::euclidean:
        break;
    }
    return d * d * (1.0 + root_margin) + smallest_normal;
}

double PairBounds::key_below(double d) const {
    switch (points_.kind_) {
    case Points::Kind::table:
        return d;
    case Points::Kind::cosine:
        return 2.0 * d;
    case Points::Kind::euclidean:
        break;
    }
    return d * d * (1.0 - root_margin) - smallest_normal;
}

double PairBounds::widen(double key) const {
    return points_.kind_ == Points::Kind::euclidean ? key * (1.0 + root_margin) + smallest_normal : key;
}

} // namespace pnmf
