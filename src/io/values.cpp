#include "cells/io/local_cells.hpp"
#include "cells/linalg/over_all_cells.hpp"
#include "io/local_values.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

namespace pnmf {
namespace {

constexpr std::size_t small_numbers = static_cast<std::size_t>(largest_logarithm) + 1;

/// What tells kinds of values apart. Zeros that are not stored count too.
struct ValueRange {
    double smallest = 0.0;
    double largest = 0.0;
    bool whole = true;
    std::array<Index, small_numbers> times{}; ///< how often each small whole number above 0 is there

    void add(Index, Index, double x) {
        smallest = std::min(smallest, x);
        largest = std::max(largest, x);
        whole = whole && x == std::floor(x);
        if (whole && x > 0.0 && x < static_cast<double>(small_numbers)) {
            ++times[static_cast<std::size_t>(x)];
        }
    }
};

/// Whole numbers, none large. Most counts above 0 are 1, and fewer the larger; of rounded logarithms another
/// number is the most frequent, and where 1 is rarer than 0 as well they are taken for such.
ValueFinding small_whole_numbers(const std::vector<Index>& times, Index all, double largest) {
    const auto most = std::max_element(times.begin() + 1, times.end());
    const std::string range = fmt::format("whole numbers up to {:.6g}", largest);
    if (most <= times.begin() + 1) {
        return {.kind = ValueKind::counts, .why = range, .whole = true};
    }
    const Index zeros = all - std::accumulate(times.begin(), times.end(), Index{0});
    const bool rounded = zeros > times[1];
    return {.kind = rounded ? ValueKind::logged : ValueKind::counts,
            .why =
                fmt::format("{}, most often {}{}", range, most - times.begin(),
                            rounded ? " as of rounded logarithms" : ": rounded logarithms would look alike"),
            .sure = false,
            .whole = true};
}

/// The first value that has no log(1 + x).
struct NoLogarithm {
    std::optional<double> first;

    void add(Index, Index, double x) {
        if (!(x > -1.0) && !first) {
            first = x;
        }
    }
};

/// The stored values of cell j of those that are here.
std::span<double> cell_values(Dataset& data, Index j) {
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        return {dense->col(j).data(), static_cast<std::size_t>(dense->rows())};
    }
    auto& sparse = std::get<SparseMatrix<double>>(data.X);
    return {sparse.value.data() + sparse.start[j], sparse.value.data() + sparse.start[j + 1]};
}

/// Those of its genes that the fit does not have.
std::span<float> other_values(Dataset& data, Index j) {
    if (!data.others) {
        return {};
    }
    auto& others = data.others->values;
    return {others.value.data() + others.start[j], others.value.data() + others.start[j + 1]};
}

/// Divides by the length; by the largest value first, so that squares can neither vanish nor overflow.
void to_unit_length(std::span<double> cell) {
    double largest = 0.0;
    for (const double x : cell) {
        largest = std::max(largest, std::abs(x));
    }
    if (largest == 0.0) {
        return;
    }
    double sum = 0.0;
    for (double& x : cell) {
        x /= largest;
        sum += x * x;
    }
    const double length = std::sqrt(sum);
    for (double& x : cell) {
        x /= length;
    }
}

} // namespace

ValueFinding recognise_values(const Dataset& data, const ValueHints& hints) {
    ValueRange all;
    for (const ValueRange& found : io::found_in_values<ValueRange>(data)) {
        all.smallest = std::min(all.smallest, found.smallest);
        all.largest = std::max(all.largest, found.largest);
        all.whole = all.whole && found.whole;
        std::transform(all.times.begin(), all.times.end(), found.times.begin(), all.times.begin(),
                       std::plus<>());
    }
    Processes& processes = io::processes_of(data);
    const double smallest = least_of(processes, all.smallest);
    const double largest = most_of(processes, all.largest);
    const bool whole = least_of(processes, all.whole ? 1.0 : 0.0) > 0.0;
    if (smallest < 0.0) {
        return {ValueKind::scaled, fmt::format("some values are below 0, the smallest is {:.4g}", smallest)};
    }
    if (whole && largest <= largest_logarithm) {
        std::vector<Index> times(all.times.begin(), all.times.end());
        io::add_counts(data, times);
        return small_whole_numbers(times, data.features() * data.cells(), largest);
    }
    if (whole) {
        return {.kind = ValueKind::counts,
                .why = fmt::format("whole numbers up to {:.6g}", largest),
                .whole = true};
    }
    if (hints.log_recorded) {
        return {ValueKind::logged, "the file records a logarithm"};
    }
    if (largest <= largest_logarithm) {
        return {ValueKind::logged, fmt::format("not whole, and none above {:.4g}", largest), false};
    }
    return {ValueKind::expression, fmt::format("not whole, up to {:.6g}", largest), false};
}

void scale_cells_to(Dataset& data, double target) {
    parallel_for(io::local_cells(data).count, [&](Index j) {
        const std::span<double> cell = cell_values(data, j);
        const double sum = std::accumulate(cell.begin(), cell.end(), 0.0);
        if (sum > 0.0) {
            for (double& x : cell) {
                x *= target / sum;
            }
            for (float& x : other_values(data, j)) {
                x = static_cast<float>(x * (target / sum));
            }
        }
    });
}

void take_logarithms(Dataset& data) {
    for (const NoLogarithm& found : io::found_in_values<NoLogarithm>(data)) {
        require(!found.first, "log(1 + x) needs values above -1, got {}", found.first.value_or(0.0));
    }
    parallel_for(io::local_cells(data).count, [&](Index j) {
        for (double& x : cell_values(data, j)) {
            x = std::log1p(x);
        }
        for (float& x : other_values(data, j)) {
            x = std::log1p(x);
        }
    });
}

void scale_cells_to_unit_length(Dataset& data) {
    parallel_for(io::local_cells(data).count, [&](Index j) {
        const std::span<double> cell = cell_values(data, j);
        const auto largest = std::max_element(cell.begin(), cell.end());
        const double before = largest == cell.end() ? 0.0 : *largest;
        to_unit_length(cell);
        for (float& x : other_values(data, j)) {
            x = before > 0.0 ? static_cast<float>(x * (*largest / before)) : x;
        }
    });
}

} // namespace pnmf
