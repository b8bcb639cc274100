#include "linalg/aligned_buffer.hpp"
#include "linalg/kernels/kernels.hpp"

#include <pnmf/linalg/gemm.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// How fast each kernel is on each instruction set of this processor, on one thread, beside what the machine
/// can do: the rate of a large matrix product and of copying. The answers are compared with the baseline's,
/// bit for bit, before anything is timed.

namespace pnmf {
namespace {

/// Of this thread's processor time: others may be at work on the machine.
double processor_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds of one run: the best of several, each long enough to be timed.
double fastest(const std::function<void()>& work) {
    double best = 1e300;
    work();
    for (int round = 0; round < 7; ++round) {
        Index runs = 0;
        const double began = processor_seconds();
        double seconds = 0.0;
        do {
            work();
            ++runs;
            seconds = processor_seconds() - began;
        } while (seconds < 0.02);
        best = std::min(best, seconds / static_cast<double>(runs));
    }
    return best;
}

Random source(7);

template <class Real>
DenseMatrix<Real> uniform(Index rows, Index cols) {
    return DenseMatrix<Real>::NullaryExpr(rows, cols, [] { return static_cast<Real>(source.uniform()); });
}

template <class Real>
double product_rate() {
    const Index n = 768;
    const DenseMatrix<Real> A = uniform<Real>(n, n);
    DenseMatrix<Real> C(n, n);
    return 2.0 * static_cast<double>(n * n * n) / fastest([&] { multiply(A, A, C); }) / 1e9;
}

/// Bytes read and written.
double copy_rate() {
    const std::vector<char> from(std::size_t{1} << 28U, 1);
    std::vector<char> to(from.size());
    return 2.0 * static_cast<double>(from.size()) /
           fastest([&] { std::memcpy(to.data(), from.data(), from.size()); }) / 1e9;
}

/// A kernel on some input: what it leaves behind, and how many operations and bytes it is.
struct Case {
    std::string name;
    bool in_float;
    double operations;
    double bytes; ///< of what it must read and write once, or 0 where all stays in a cache
    std::function<void(const Kernels&)> run;
    std::function<std::vector<double>()> answer;
};

template <class Real>
std::vector<double> numbers_of(const DenseMatrix<Real>& matrix) {
    const Matrix as_double = matrix.template cast<double>();
    return {as_double.data(), as_double.data() + as_double.size()};
}

/// Sums of columns of a d × `columns` matrix, `entries` of them for each of `results`.
template <class Real>
Case gather_case(const std::string& name, Index d, Index columns, Index entries, Index results, bool lined) {
    struct Data {
        DenseMatrix<Real> M, result;
        std::unique_ptr<LinedColumns<Real>> columns;
        std::vector<std::int32_t> row;
        DenseMatrix<Real> value;
    };
    const auto data = std::make_shared<Data>();
    data->M = uniform<Real>(d, columns);
    data->columns = std::make_unique<LinedColumns<Real>>(d, columns);
    for (Index j = 0; j < columns; ++j) {
        std::copy_n(data->M.col(j).data(), d, data->columns->column(j));
    }
    data->value = uniform<Real>(entries, results);
    data->result.resize(d, results);
    for (Index r = 0; r < results; ++r) {
        std::vector<std::int32_t> rows;
        for (Index e = 0; e < entries; ++e) {
            rows.push_back(static_cast<std::int32_t>(source.uniform() * static_cast<double>(columns)));
        }
        std::sort(rows.begin(), rows.end());
        data->row.insert(data->row.end(), rows.begin(), rows.end());
    }
    const bool far = d * columns * static_cast<Index>(sizeof(Real)) > (Index{1} << 17U);
    return {name,
            sizeof(Real) == 4,
            2.0 * static_cast<double>(d * entries * results),
            static_cast<double>(entries * results * (d + 1) * static_cast<Index>(sizeof(Real)) +
                                4 * entries * results),
            [=](const Kernels& set) {
                data->result.setZero();
                std::vector<GatherRun<Real>> runs;
                for (Index r = 0; r < results; ++r) {
                    runs.push_back({data->row.data() + r * entries, data->value.col(r).data(), entries,
                                    data->result.col(r).data()});
                }
                set.of<Real>().gather({lined ? data->columns->data() : data->M.data(), d,
                                       lined ? data->columns->stride() : d, far},
                                      runs.data(), results);
            },
            [=] { return numbers_of(data->result); }};
}

template <class Real>
Case chain_case(Index scales, Index rank, Index cells) {
    struct Data {
        std::vector<DenseMatrix<Real>> WtX, WtW, HA, degree, start, H;
        std::vector<const Real*> of_WtX, of_WtW, of_HA, of_degree;
        std::vector<Real*> of_H;
        DenseMatrix<Real> graph, anchor, coupling;
        std::unique_ptr<AlignedBuffer<Real>> buffer;
    };
    const auto data = std::make_shared<Data>();
    for (Index t = 0; t < scales; ++t) {
        const DenseMatrix<Real> W = uniform<Real>(40, rank).colwise().normalized();
        data->WtW.push_back(W.transpose() * W);
        data->WtX.push_back(uniform<Real>(rank, cells));
        data->HA.push_back(uniform<Real>(rank, cells));
        data->degree.push_back(uniform<Real>(cells, 1));
        data->start.push_back((uniform<Real>(rank, cells).array() - Real(0.4)).max(Real{0}).matrix());
    }
    data->H = data->start;
    for (Index t = 0; t < scales; ++t) {
        data->of_WtX.push_back(data->WtX[t].data());
        data->of_WtW.push_back(data->WtW[t].data());
        data->of_HA.push_back(data->HA[t].data());
        data->of_degree.push_back(data->degree[t].data());
        data->of_H.push_back(data->H[t].data());
    }
    data->graph = DenseMatrix<Real>::Ones(scales, 1);
    data->anchor = DenseMatrix<Real>::Constant(scales, 1, Real(0.1));
    data->coupling = DenseMatrix<Real>::Constant(scales + 1, 1, Real(0.5));
    data->coupling(0, 0) = data->coupling(scales, 0) = Real{0};
    data->buffer = std::make_unique<AlignedBuffer<Real>>(chain_buffer<Real>(scales, rank));
    return {"chain pass, 32 scales, rank 30", sizeof(Real) == 4,
            // The gradient; the solution of the chain is about ten more for each number.
            static_cast<double>(cells * scales * rank) * (2.0 * static_cast<double>(rank) + 10.0), 0.0,
            [=](const Kernels& set) {
                for (Index t = 0; t < scales; ++t) {
                    std::copy_n(data->start[t].data(), data->start[t].size(), data->of_H[t]);
                }
                const ChainArguments<Real> arguments{scales,
                                                     rank,
                                                     data->of_WtX.data(),
                                                     data->of_WtW.data(),
                                                     data->of_HA.data(),
                                                     data->of_degree.data(),
                                                     data->of_H.data(),
                                                     data->graph.data(),
                                                     data->anchor.data(),
                                                     data->coupling.data()};
                for (Index j = 0; j < cells; j += chain_lanes<Real>) {
                    set.of<Real>().chain(arguments, j, std::min(cells, j + chain_lanes<Real>),
                                         data->buffer->data());
                }
            },
            [=] { return numbers_of(data->H.back()); }};
}

/// 256 columns against a strip, some features after the others (persistence/pair_bounds.cpp).
Case strip_case(Index features, Index entries, Index columns) {
    struct Data {
        std::unique_ptr<AlignedBuffer<double>> strip;
        Matrix value, sums;
        std::vector<std::int32_t> row;
    };
    const auto data = std::make_shared<Data>();
    data->strip = std::make_unique<AlignedBuffer<double>>(strip_cells * features);
    const Matrix filled = uniform<double>(strip_cells, features);
    std::copy_n(filled.data(), filled.size(), data->strip->data());
    data->value = uniform<double>(entries, columns);
    data->sums.resize(strip_cells, columns);
    for (Index e = 0; e < entries * columns; ++e) {
        const double place =
            (static_cast<double>(e % entries) + source.uniform()) / static_cast<double>(entries);
        data->row.push_back(static_cast<std::int32_t>(place * static_cast<double>(features)));
    }
    return {"distances of sparse cells",
            false,
            2.0 * static_cast<double>(strip_cells * entries * columns),
            0.0,
            [=](const Kernels& set) {
                constexpr Index features_at_once = 128;
                data->sums.setZero();
                const Index at_once = entries * features_at_once / features;
                for (Index first = 0; first < entries; first += at_once) {
                    for (Index b = 0; b < columns; ++b) {
                        set.strip_products(data->strip->data(), data->row.data() + b * entries + first,
                                           data->value.col(b).data() + first,
                                           std::min(at_once, entries - first), data->sums.col(b).data());
                    }
                }
            },
            [=] { return numbers_of(data->sums); }};
}

Case distance_case(Index d, Index cells) {
    struct Data {
        Matrix X, points, out;
    };
    const auto data = std::make_shared<Data>();
    data->X = uniform<double>(d, cells);
    data->points = uniform<double>(4, d);
    data->out.resize(4, cells);
    return {"k-means, distances to 4 cells",
            false,
            3.0 * static_cast<double>(4 * d * cells),
            static_cast<double>((d + 4) * cells * 8),
            [=](const Kernels& set) {
                set.squared_distances(data->X.data(), d, cells, data->points.data(), data->out.data());
            },
            [=] { return numbers_of(data->out); }};
}

Case centre_case(Index d, Index cells, Index count) {
    struct Data {
        Matrix X, centres, labels;
        Vector half;
        std::vector<double> buffer;
        std::vector<Index> found;
    };
    const auto data = std::make_shared<Data>();
    const Index stride = (count + 7) / 8 * 8;
    data->X = uniform<double>(d, cells);
    data->centres = uniform<double>(stride, d);
    data->half = Vector::Constant(stride, 5.0);
    data->buffer.resize(static_cast<std::size_t>(centre_buffer_cells * stride));
    data->found.resize(static_cast<std::size_t>(cells));
    return {"k-means, nearest of 12 centres",
            false,
            2.0 * static_cast<double>(count * d * cells),
            static_cast<double>((d + 1) * cells * 8),
            [=](const Kernels& set) {
                set.nearest_centres(data->X.data(), d, cells,
                                    {data->centres.data(), data->half.data(), count, stride},
                                    data->buffer.data(), data->found.data());
            },
            [=] { return std::vector<double>(data->found.begin(), data->found.end()); }};
}

/// One scale with 20,000 cells: what the sums over cells of a sweep read.
struct ScaleData {
    static constexpr Index rank = 30;
    static constexpr Index cells = 20000;
    static constexpr Index components = 10000;
    DenseMatrix<float> H = uniform<float>(rank, cells);
    DenseMatrix<float> WtX = uniform<float>(rank, cells);
    DenseMatrix<float> HA = uniform<float>(rank, cells);
    DenseMatrix<float> before = uniform<float>(rank, cells);
    DenseMatrix<float> after = uniform<float>(rank, cells);
    DenseMatrix<float> degree = uniform<float>(cells, 1);
    DenseMatrix<float> product = uniform<float>(rank, cells); ///< WᵀW·H
    DenseMatrix<float> gradient, moved, HA_moved;
    std::vector<std::int32_t> component;
    Matrix shift = uniform<double>(components, rank);
    Matrix sums, least, rows;
    std::vector<float> buffer = std::vector<float>(static_cast<std::size_t>(component_buffer(rank)));

    ScaleData() {
        for (Index j = 0; j < cells; ++j) { // two cells each, side by side
            component.push_back(static_cast<std::int32_t>(j / 2));
        }
    }
    HalfGradient<float> terms() const {
        return {rank,         H.data(), WtX.data(), HA.data(), degree.data(), before.data(),
                after.data(), 0.3F,     0.2F,       0.7F,      0.4F};
    }
};

constexpr double entries_of_scale = static_cast<double>(ScaleData::rank * ScaleData::cells);

Case terms_case() {
    const auto data = std::make_shared<ScaleData>();
    return {"terms of the objective",
            true,
            10.0 * entries_of_scale,
            16.0 * entries_of_scale,
            [=](const Kernels& set) {
                data->rows.setZero(ScaleData::rank, 5);
                set.of_float.term_rows(data->terms(), 0, ScaleData::cells, data->rows.data());
            },
            [=] { return numbers_of(data->rows); }};
}

/// From WᵀW·H on, which is copied first: the gradient and how far steps along it go.
Case steps_case() {
    const auto data = std::make_shared<ScaleData>();
    return {"gradient and steps of the certificate",
            true,
            25.0 * entries_of_scale,
            36.0 * entries_of_scale,
            [=](const Kernels& set) {
                data->rows.setZero(ScaleData::rank, 2);
                data->gradient = data->product;
                const Vector curvature = Vector::Constant(ScaleData::rank, 0.5);
                set.of_float.half_gradient(data->terms(), 0, ScaleData::cells, data->gradient.data());
                set.of_float.step_lengths(
                    data->terms(), 0, ScaleData::cells, data->gradient.data(),
                    {curvature.data(), 0.3, 0.4, data->rows.col(0).data(), data->rows.col(1).data()});
            },
            [=] { return numbers_of(data->rows); }};
}

/// Sums are set to zero first.
Case component_sums_case() {
    const auto data = std::make_shared<ScaleData>();
    return {"sums over components",
            true,
            2.0 * entries_of_scale,
            8.0 * entries_of_scale + 24.0 * entries_of_scale,
            [=](const Kernels& set) {
                data->sums.setZero(ScaleData::components, ScaleData::rank);
                data->least.setOnes(ScaleData::components, ScaleData::rank);
                set.of_float.add_to_components({ScaleData::cells, ScaleData::rank, data->component.data(),
                                                data->WtX.data(), data->H.data(), data->sums.data(),
                                                data->least.data(), ScaleData::components, nullptr, nullptr});
            },
            [=] { return numbers_of(data->sums); }};
}

/// H and HA are copied first.
Case component_moves_case() {
    const auto data = std::make_shared<ScaleData>();
    return {"cells moved with their components",
            true,
            4.0 * entries_of_scale,
            36.0 * entries_of_scale,
            [=](const Kernels& set) {
                data->moved = data->H;
                data->HA_moved = data->HA;
                set.of_float.move_with_components(
                    {ScaleData::cells, ScaleData::rank, data->component.data(), data->shift.data(),
                     ScaleData::components, data->degree.data(), data->moved.data(), data->HA_moved.data()},
                    data->buffer.data());
            },
            [=] { return numbers_of(data->moved); }};
}

/// One row of H, the 1,000 components of a block: elimination and substitution, in the nearest caches.
Case row_case() {
    struct Data {
        Matrix numbers = uniform<double>(1000, 12);
        Matrix buffer;
        std::vector<std::int32_t> size = std::vector<std::int32_t>(1000, 2);
        std::vector<double> along = std::vector<double>(2);
    };
    const auto data = std::make_shared<Data>();
    return {"shifts of 1,000 components, one row",
            false,
            32.0 * 1000.0,
            0.0,
            [=](const Kernels& set) {
                data->buffer = data->numbers;
                const auto column = [&](Index i) { return data->buffer.col(i).data(); };
                const ShiftLevel level{1000,      data->size.data(), 0.7,       0.3,
                                       -0.4,      column(0),         column(1), column(2),
                                       column(3), column(4),         column(5), column(6)};
                set.begin_shifts(level, column(7));
                set.end_elimination(level, {column(8), column(9), column(10)});
                set.end_shifts(level, 0.8, column(11), data->along.data());
            },
            [=] { return data->along; }};
}

void measure() {
    const double in_float = product_rate<float>();
    const double in_double = product_rate<double>();
    const double copy = copy_rate();
    fmt::print("One thread: matrix product {:.0f} GF/s in float, {:.0f} in double; copying {:.1f} GB/s, read "
               "and written. {}\n\n"
               "| kernel | numbers | instructions | GF/s | of the product | GB/s | of copying |\n"
               "| --- | --- | --- | --- | --- | --- | --- |\n",
               in_float, in_double, copy, blas_description());
    std::vector<Case> cases;
    cases.push_back(gather_case<float>("sparse product WᵀX, 2,000 genes", 30, 2000, 200, 2000, true));
    cases.push_back(gather_case<double>("sparse product WᵀX, 2,000 genes", 30, 2000, 200, 2000, true));
    cases.push_back(gather_case<float>("sparse product XHᵀ, 1,024 cells", 30, 1024, 100, 2000, true));
    cases.push_back(gather_case<float>("graph product, 20,000 cells", 30, 20000, 20, 20000, false));
    cases.push_back(gather_case<double>("graph product, 20,000 cells", 30, 20000, 20, 20000, false));
    cases.push_back(chain_case<float>(32, 30, 512));
    cases.push_back(chain_case<double>(32, 30, 512));
    cases.push_back(strip_case(2000, 400, 256));
    cases.push_back(distance_case(30, 20000));
    cases.push_back(centre_case(30, 20000, 12));
    cases.push_back(terms_case());
    cases.push_back(steps_case());
    cases.push_back(component_sums_case());
    cases.push_back(component_moves_case());
    cases.push_back(row_case());
    for (const Case& one : cases) {
        std::vector<double> expected;
        for (const Kernels* set : kernels_of_processor()) {
            one.run(*set);
            if (expected.empty()) {
                expected = one.answer();
            } else if (expected != one.answer()) {
                fmt::print("{}: {} does not have the bits of the baseline\n", one.name, set->name);
                std::exit(1);
            }
            const double seconds = fastest([&] { one.run(*set); });
            const double rate = one.operations / seconds / 1e9;
            const double bytes = one.bytes / seconds / 1e9;
            fmt::print("| {} | {} | {} | {:.1f} | {:.0f} % | {} | {} |\n", one.name,
                       one.in_float ? "float" : "double", set->name, rate,
                       100.0 * rate / (one.in_float ? in_float : in_double),
                       one.bytes > 0.0 ? fmt::format("{:.1f}", bytes) : "",
                       one.bytes > 0.0 ? fmt::format("{:.0f} %", 100.0 * bytes / copy) : "");
        }
    }
}

} // namespace
} // namespace pnmf

int main() {
    pnmf::set_thread_count(1);
    pnmf::measure();
}
