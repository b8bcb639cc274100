#include "io/formats.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/match_features.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/remedy.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_set>

namespace pnmf {

namespace {

/// Calls `visit(cell, feature, value)` for each value held, cell by cell.
template <class Visit>
void for_each_value(const Dataset& data, const Visit& visit) {
    if (const auto* dense = std::get_if<Matrix>(&data.X)) {
        for (Index j = 0; j < dense->cols(); ++j) {
            for (Index i = 0; i < dense->rows(); ++i) {
                visit(j, i, (*dense)(i, j));
            }
        }
        return;
    }
    const auto& sparse = std::get<SparseMatrix<double>>(data.X);
    for (Index j = 0; j < sparse.cols; ++j) {
        for (auto e = sparse.start[j]; e < sparse.start[j + 1]; ++e) {
            visit(j, Index{sparse.row[e]}, sparse.value[e]);
        }
    }
}

void check_unique(const std::vector<std::string>& names, Index count, const char* thing) {
    require(static_cast<Index>(names.size()) == count, "X has {} {}s, but {} names of them are given", count,
            thing, names.size());
    std::unordered_set<std::string_view> seen;
    std::unordered_set<std::string_view> reported;
    std::vector<std::string> repeated;
    for (const std::string& name : names) {
        if (!seen.insert(name).second && reported.insert(name).second) {
            repeated.push_back(name);
        }
    }
    require(repeated.empty(), "names of {}s must differ, {} occur{} more than once: {}", thing,
            repeated.size(), repeated.size() == 1 ? "s" : "", io::abbreviate(repeated));
}

/// How many values are of one bad kind, and where the first is.
struct Fault {
    Index count = 0;
    Index cell = 0;
    Index feature = 0;
    double value = 0.0;

    void add(Index j, Index i, double x) {
        if (count++ == 0) {
            cell = j;
            feature = i;
            value = x;
        }
    }
};

void report(const Dataset& data, const Fault& fault, const char* what) {
    require(fault.count == 0,
            "values must be finite and at least 0, {} {} {}; the first is {} at cell {}, gene {}",
            fault.count, fault.count == 1 ? "is" : "are", what, fault.value, data.cell_names[fault.cell],
            data.feature_names[fault.feature]);
}

void drop_empty_cells(Dataset& data, bool allowed) {
    std::vector<bool> filled(static_cast<std::size_t>(data.cells()), false);
    for_each_value(data, [&](Index j, Index, double x) {
        if (x != 0.0) {
            filled[j] = true;
        }
    });
    std::vector<std::string> empty;
    for (std::size_t j = 0; j < filled.size(); ++j) {
        if (!filled[j]) {
            empty.push_back(data.cell_names[j]);
        }
    }
    if (empty.empty()) {
        return;
    }
    require(empty.size() < filled.size(), "X is zero everywhere, in all {} cells", empty.size());
    const char* verb = empty.size() == 1 ? "cell is" : "cells are";
    require(allowed, Remedy::drop_empty_cells, "{} {} zero in every gene: {}; leave them out", empty.size(),
            verb, io::abbreviate(empty));
    io::keep_cells(data, filled);
    data.notices.push_back(
        fmt::format("{} {} zero in every gene and left out: {}", empty.size(), verb, io::abbreviate(empty)));
}

void drop_empty_features(Dataset& data) {
    std::vector<bool> filled(static_cast<std::size_t>(data.features()), false);
    for_each_value(data, [&](Index, Index i, double x) {
        if (x != 0.0) {
            filled[i] = true;
        }
    });
    std::vector<std::string> empty;
    for (std::size_t i = 0; i < filled.size(); ++i) {
        if (!filled[i]) {
            empty.push_back(data.feature_names[i]);
        }
    }
    if (empty.empty()) {
        return;
    }
    io::keep_features(data, filled);
    data.notices.push_back(fmt::format("{} {} zero in every cell and left out: {}", empty.size(),
                                       empty.size() == 1 ? "gene is" : "genes are", io::abbreviate(empty)));
}

/// x ← log10(1 + x), then x ← x / ‖x‖₂, for the values of one cell. Zeros stay, so only those held matter.
void log_unit(std::span<double> cell) {
    double largest = 0.0;
    for (double& x : cell) {
        // The base of the logarithm cancels in the norm; log1p keeps what 1 + x would round away.
        x = std::log1p(x);
        largest = std::max(largest, x);
    }
    if (largest == 0.0) {
        return;
    }
    // Scaled by the largest, squares can neither vanish nor overflow.
    double sum = 0.0;
    for (double& x : cell) {
        x /= largest;
        sum += x * x;
    }
    const double norm = std::sqrt(sum);
    for (double& x : cell) {
        x /= norm;
    }
}

void transform_values(Dataset& data, Transform transform) {
    if (transform == Transform::none) {
        return;
    }
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        parallel_for(dense->cols(), [&](Index j) {
            log_unit({dense->col(j).data(), static_cast<std::size_t>(dense->rows())});
        });
    } else {
        auto& sparse = std::get<SparseMatrix<double>>(data.X);
        parallel_for(sparse.cols, [&](Index j) {
            log_unit({sparse.value.data() + sparse.start[j], sparse.value.data() + sparse.start[j + 1]});
        });
    }
}

} // namespace

void check_dataset(const Dataset& data) {
    check_unique(data.cell_names, data.cells(), "cell");
    check_unique(data.feature_names, data.features(), "gene");
    Fault nan;
    Fault infinite;
    Fault negative;
    for_each_value(data, [&](Index j, Index i, double x) {
        if (std::isnan(x)) {
            nan.add(j, i, x);
        } else if (std::isinf(x)) {
            infinite.add(j, i, x);
        } else if (x < 0.0) {
            negative.add(j, i, x);
        }
    });
    report(data, nan, "NaN");
    report(data, infinite, "infinite");
    report(data, negative, "negative");
}

void prepare(Dataset& data, const PrepareOptions& options) {
    io::tell_features_apart(data);
    check_dataset(data);
    drop_empty_cells(data, options.drop_empty_cells);
    drop_empty_features(data);
    transform_values(data, options.transform);
}

void prepare_matched(Dataset& data, const PrepareOptions& options) {
    io::tell_features_apart(data);
    check_dataset(data);
    drop_empty_cells(data, options.drop_empty_cells);
    transform_values(data, options.transform);
}

} // namespace pnmf
