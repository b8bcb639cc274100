#include <pnmf/io/preparation.hpp>

#include "io/formats.hpp"
#include "io/held_values.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>
#include <pnmf/remedy.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <unordered_set>

namespace pnmf {
namespace {

/// The genes, or the cells, that hold a value other than zero.
std::vector<bool> filled(const Dataset& data, bool of_cells) {
    std::vector<bool> result(static_cast<std::size_t>(of_cells ? data.cells() : data.features()), false);
    io::for_each_value(data, [&](Index j, Index i, double x) {
        if (x != 0.0) {
            result[static_cast<std::size_t>(of_cells ? j : i)] = true;
        }
    });
    return result;
}

std::vector<std::string> names_without(const std::vector<std::string>& names, const std::vector<bool>& keep) {
    std::vector<std::string> result;
    for (std::size_t i = 0; i < keep.size(); ++i) {
        if (!keep[i]) {
            result.push_back(names[i]);
        }
    }
    return result;
}

void learn_genes(Dataset& data, PreparationStep& step, const PrepareOptions&) {
    const std::vector<bool> keep = filled(data, false);
    step.names = names_without(data.feature_names, keep);
    step.count = static_cast<double>(step.names.size());
    // Where nothing is left, the cells are empty too, and that is what the next step says.
    if (step.names.empty() || step.names.size() == keep.size()) {
        return;
    }
    io::keep_features(data, keep);
    data.notices.push_back(fmt::format("{} {} zero in every cell and left out: {}", step.names.size(),
                                       step.names.size() == 1 ? "gene is" : "genes are",
                                       io::abbreviate(step.names)));
}

/// Genes that the fit did not look at hold nothing.
void apply_genes(Dataset& data, const PreparationStep& step, const ApplyOptions&) {
    const std::unordered_set<std::string_view> left_out(step.names.begin(), step.names.end());
    std::vector<bool> zero(static_cast<std::size_t>(data.features()), false);
    for (std::size_t i = 0; i < zero.size(); ++i) {
        zero[i] = left_out.contains(data.feature_names[i]);
    }
    if (std::none_of(zero.begin(), zero.end(), [](bool one) { return one; })) {
        return;
    }
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        for (Index i = 0; i < dense->rows(); ++i) {
            if (zero[static_cast<std::size_t>(i)]) {
                dense->row(i).setZero();
            }
        }
    } else {
        auto& sparse = std::get<SparseMatrix<double>>(data.X);
        for (std::size_t e = 0; e < sparse.value.size(); ++e) {
            sparse.value[e] = zero[static_cast<std::size_t>(sparse.row[e])] ? 0.0 : sparse.value[e];
        }
    }
}

/// Returns how many were left out.
Index drop_empty_cells(Dataset& data, bool allowed) {
    const std::vector<bool> keep = filled(data, true);
    const std::vector<std::string> empty = names_without(data.cell_names, keep);
    if (empty.empty()) {
        return 0;
    }
    require(empty.size() < keep.size(), "X is zero everywhere, in all {} cells", empty.size());
    const char* verb = empty.size() == 1 ? "cell is" : "cells are";
    require(allowed, Remedy::drop_empty_cells, "{} {} zero in every gene: {}; leave them out", empty.size(),
            verb, io::abbreviate(empty));
    io::keep_cells(data, keep);
    data.notices.push_back(
        fmt::format("{} {} zero in every gene and left out: {}", empty.size(), verb, io::abbreviate(empty)));
    return std::ssize(empty);
}

void learn_empty_cells(Dataset& data, PreparationStep& step, const PrepareOptions& options) {
    step.count = static_cast<double>(drop_empty_cells(data, options.drop_empty_cells));
}
void apply_empty_cells(Dataset& data, const PreparationStep&, const ApplyOptions& options) {
    drop_empty_cells(data, options.drop_empty_cells);
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

/// Changes the values of each cell by itself; for sparse data those that are held.
template <void (*change)(std::span<double>)>
void change_cells(Dataset& data) {
    if (auto* dense = std::get_if<Matrix>(&data.X)) {
        parallel_for(dense->cols(), [&](Index j) {
            change({dense->col(j).data(), static_cast<std::size_t>(dense->rows())});
        });
    } else {
        auto& sparse = std::get<SparseMatrix<double>>(data.X);
        parallel_for(sparse.cols, [&](Index j) {
            change({sparse.value.data() + sparse.start[j], sparse.value.data() + sparse.start[j + 1]});
        });
    }
}

void learn_log_unit(Dataset& data, PreparationStep&, const PrepareOptions&) {
    change_cells<log_unit>(data);
}
void apply_log_unit(Dataset& data, const PreparationStep&, const ApplyOptions&) {
    change_cells<log_unit>(data);
}

/// A step: what it does to the data of a fit, where it may learn something and keeps it, and to other cells.
struct StepFunctions {
    const char* name;
    void (*learn)(Dataset&, PreparationStep&, const PrepareOptions&);
    void (*apply)(Dataset&, const PreparationStep&, const ApplyOptions&);
};

constexpr std::array known_steps{StepFunctions{step::genes, learn_genes, apply_genes},
                                 StepFunctions{step::empty_cells, learn_empty_cells, apply_empty_cells},
                                 StepFunctions{step::log_unit, learn_log_unit, apply_log_unit}};

const StepFunctions* find_step(const std::string& name) {
    const auto* const found = std::find_if(known_steps.begin(), known_steps.end(),
                                           [&](const auto& one) { return one.name == name; });
    return found == known_steps.end() ? nullptr : found;
}

const StepFunctions& functions_of(const PreparationStep& step) {
    const StepFunctions* const found = find_step(step.name);
    require(found != nullptr, "'{}' is no step of the preparation", step.name);
    return *found;
}

} // namespace

bool is_preparation_step(const std::string& name) {
    return find_step(name) != nullptr;
}

std::vector<PreparationStep> steps_for(const PrepareOptions& options) {
    std::vector<PreparationStep> steps{{.name = step::genes}, {.name = step::empty_cells}};
    if (options.transform == Transform::log_unit) {
        steps.push_back({.name = step::log_unit});
    }
    return steps;
}

Transform transform_of(const InputRecord& record) {
    return record.step(step::log_unit) != nullptr ? Transform::log_unit : Transform::none;
}

void set_transform(InputRecord& record, Transform transform) {
    std::erase_if(record.steps, [](const PreparationStep& one) { return one.name == step::log_unit; });
    if (transform == Transform::log_unit) {
        record.steps.push_back({.name = step::log_unit});
    }
}

Transform transform_from(const std::string& name) {
    const std::optional<Transform> known = value_named<Transform>(name);
    require(known.has_value(), "transform must be {}, got {}", joined_names<Transform>(" or "), name);
    return *known;
}

void prepare(Dataset& data, const PrepareOptions& options) {
    io::tell_features_apart(data);
    check_dataset(data);
    for (PreparationStep& step : steps_for(options)) {
        functions_of(step).learn(data, step, options);
        data.input.steps.push_back(std::move(step));
    }
}

FeatureMatch apply_steps(Dataset& data, const std::vector<PreparationStep>& steps,
                         const ApplyOptions& options) {
    io::tell_features_apart(data);
    check_dataset(data);
    const auto is_choice = [](const PreparationStep& one) { return one.name == step::genes; };
    FeatureMatch match;
    bool matched = options.features.empty();
    const auto match_once = [&] {
        if (!matched) {
            match = match_features(data, options.features);
            matched = true;
        }
    };
    // A step before the choice of genes sees all genes of the file, as it did in the fit.
    if (std::none_of(steps.begin(), steps.end(), is_choice)) {
        match_once();
    }
    for (const PreparationStep& step : steps) {
        if (is_choice(step)) {
            match_once();
        }
        functions_of(step).apply(data, step, options);
    }
    data.input.steps.insert(data.input.steps.end(), steps.begin(), steps.end());
    return match;
}

} // namespace pnmf
