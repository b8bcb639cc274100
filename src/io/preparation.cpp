#include <pnmf/io/preparation.hpp>

#include "cells/io/local_cells.hpp"
#include "io/formats.hpp"
#include "io/local_values.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/linalg/pca.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

namespace pnmf {
namespace {

/// What a step may need to learn.
struct LearnOptions : PrepareOptions {
    ProductsChoice choose;
    std::vector<Index> overdispersed{}; ///< genes to keep whatever their logarithms say
};

constexpr double cell_sum = 1e4; ///< what counts of a cell are scaled to

/// Values other than zero of each gene.
struct GenesSeen {
    std::vector<Index> times;

    void add(Index, Index i, double x) { times[i] += x != 0.0; }
};

/// Values other than zero of each gene, or of each cell.
std::vector<Index> times_seen(const Dataset& data, bool of_cells) {
    std::vector<Index> seen(static_cast<std::size_t>(of_cells ? data.cells() : data.features()), 0);
    if (of_cells) {
        io::for_each_value(data, [&](Index j, Index, double x) { seen[j] += x != 0.0; });
        io::share_cells(data, seen);
    } else {
        for (const GenesSeen& found : io::found_in_values<GenesSeen>(data, {seen})) {
            std::transform(seen.begin(), seen.end(), found.times.begin(), seen.begin(), std::plus<>());
        }
        io::add_counts(data, seen);
    }
    return seen;
}

/// The genes, or the cells, that hold so many values other than zero, or more.
std::vector<bool> filled(const Dataset& data, bool of_cells, Index least = 1) {
    const std::vector<Index> seen = times_seen(data, of_cells);
    std::vector<bool> result(seen.size());
    std::transform(seen.begin(), seen.end(), result.begin(), [&](Index times) { return times >= least; });
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

void learn_genes(Dataset& data, PreparationStep& step, const LearnOptions&) {
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
    require(allowed, Remedy::drop_empty_cells,
            "{} {} zero in every gene: {}; leave them out, or, if these are genes, take the other axis as "
            "the cells",
            empty.size(), verb, io::abbreviate(empty));
    io::keep_cells(data, keep);
    data.notices.push_back(
        fmt::format("{} {} zero in every gene and left out: {}", empty.size(), verb, io::abbreviate(empty)));
    return std::ssize(empty);
}

void learn_empty_cells(Dataset& data, PreparationStep& step, const LearnOptions& options) {
    step.count = static_cast<double>(drop_empty_cells(data, options.drop_empty_cells));
}
void apply_empty_cells(Dataset& data, const PreparationStep&, const ApplyOptions& options) {
    drop_empty_cells(data, options.drop_empty_cells);
}

void learn_rare_genes(Dataset& data, PreparationStep& step, const LearnOptions& options) {
    const std::vector<bool> keep = filled(data, false, options.cells_min);
    step.names = names_without(data.feature_names, keep);
    step.count = static_cast<double>(options.cells_min);
    require(step.names.size() < keep.size(), "no gene is seen in {} cells or more: ask for fewer",
            options.cells_min);
    io::keep_features(data, keep);
    data.notices.push_back(fmt::format("{} genes are seen in fewer than {} cells and left out",
                                       step.names.size(), options.cells_min));
}

void learn_poor_cells(Dataset& data, PreparationStep& step, const LearnOptions& options) {
    const std::vector<bool> keep = filled(data, true, options.genes_min);
    const Index left_out = std::count(keep.begin(), keep.end(), false);
    step.count = static_cast<double>(options.genes_min);
    require(left_out < std::ssize(keep), "no cell has {} genes or more: ask for fewer", options.genes_min);
    io::keep_cells(data, keep);
    data.notices.push_back(
        fmt::format("{} cells have fewer than {} genes and are left out", left_out, options.genes_min));
}
/// New cells are the user's choice: none is left out for its few genes.
void apply_nothing(Dataset&, const PreparationStep&, const ApplyOptions&) {}

/// Done by whoever chose the cells, or looked for the loop: `keep_cluster`, `leave_out_loop`.
void learn_nothing(Dataset&, PreparationStep&, const LearnOptions&) {}

void learn_counts_per(Dataset& data, PreparationStep& step, const LearnOptions&) {
    step.count = cell_sum;
    scale_cells_to(data, step.count);
}
void apply_counts_per(Dataset& data, const PreparationStep& step, const ApplyOptions&) {
    scale_cells_to(data, step.count);
}

/// A step that learns nothing and does the same to all data.
template <void (*change)(Dataset&)>
void learn_same(Dataset& data, PreparationStep&, const LearnOptions&) {
    change(data);
}
template <void (*change)(Dataset&)>
void apply_same(Dataset& data, const PreparationStep&, const ApplyOptions&) {
    change(data);
}

/// The genes that are true in a column of the table of features.
std::vector<bool> marked_genes(const Dataset& data, const std::string& name) {
    const TableColumn* const column = io::find_column(data.feature_table, name);
    require(column != nullptr, "the table of genes has no column '{}'", name);
    std::vector<bool> keep;
    if (const auto* numbers = std::get_if<std::vector<double>>(&column->values)) {
        for (const double x : *numbers) {
            keep.push_back(x != 0.0 && !std::isnan(x));
        }
    } else {
        for (const std::string& text : std::get<std::vector<std::string>>(column->values)) {
            keep.push_back(text == "True" || text == "true" || text == "TRUE" || text == "1");
        }
    }
    require(std::find(keep.begin(), keep.end(), true) != keep.end(),
            "the column '{}' of the table of genes is true for none of them", name);
    return keep;
}

void learn_chosen_genes(Dataset& data, PreparationStep& step, const LearnOptions& options) {
    std::vector<bool> keep(static_cast<std::size_t>(data.features()), false);
    if (options.genes.most_variable) {
        const std::vector<Index> chosen =
            variable_features(data, *options.genes.most_variable, options.overdispersed);
        require(!chosen.empty(), "no gene varies over the cells: all cells are the same");
        for (const Index i : chosen) {
            keep[static_cast<std::size_t>(i)] = true;
        }
    } else {
        keep = marked_genes(data, options.genes.column);
    }
    step.count = static_cast<double>(std::count(keep.begin(), keep.end(), true));
    io::set_others_aside(data, keep);
    io::keep_features(data, keep);
}

DataMatrix<double> values_of(const Dataset& data) {
    return std::visit(
        [&](const auto& values) {
            return data.local ? DataMatrix<double>(view_of(values), *data.local)
                              : DataMatrix<double>(view_of(values));
        },
        data.X);
}

/// The coordinates are those of the values as they are at this step.
void learn_components(Dataset& data, PreparationStep& step, const LearnOptions& options) {
    const DataMatrix<double> X = values_of(data);
    const auto products = options.choose ? options.choose(X, *options.components) : nullptr;
    if (products != nullptr) {
        data.notices.push_back(
            fmt::format("principal components: products with the values on the {}", products->where()));
    }
    ComponentSpace found = component_space(X, *options.components, products.get());
    if (data.space) { // places in a tissue: distances come from there
        data.expression = std::move(found.coordinates);
        step.count = static_cast<double>(found.components.count());
        return;
    }
    Space space{.name = {}, .coordinates = std::move(found.coordinates)};
    space.components = std::move(found.components);
    space.name = fmt::format("pca:{}", space.components->count());
    step.count = static_cast<double>(space.components->count());
    data.space = std::move(space);
}
void apply_components(Dataset& data, const PreparationStep&, const ApplyOptions& options) {
    if (options.space == nullptr || !options.space->components) { // that of a tissue is read, not made
        return;
    }
    const DataMatrix<double> X = values_of(data);
    require(X.features() == options.space->components->mean.size(),
            "the space of the fit has {} genes, the data {}", options.space->components->mean.size(),
            X.features());
    data.space = Space{.name = options.space->name,
                       .coordinates = options.space->components->coordinates(X),
                       .components = options.space->components};
}

/// Nobody knows where on the loop new cells are.
void apply_without_loop(Dataset&, const PreparationStep&, const ApplyOptions& options) {
    require(
        options.space == nullptr,
        "the fit left a loop out of the space of its cells, and new cells have no phase on it: embed them "
        "without the graph");
}

/// The base of the logarithm cancels in the length.
void log_unit(Dataset& data) {
    take_logarithms(data);
    scale_cells_to_unit_length(data);
}

/// A step: what it does to the data of a fit, where it may learn something and keeps it, and to other cells.
struct StepFunctions {
    const char* name;
    void (*learn)(Dataset&, PreparationStep&, const LearnOptions&);
    void (*apply)(Dataset&, const PreparationStep&, const ApplyOptions&);
};

constexpr std::array known_steps{
    StepFunctions{step::rare_genes, learn_rare_genes, apply_genes},
    StepFunctions{step::poor_cells, learn_poor_cells, apply_nothing},
    StepFunctions{step::within, learn_nothing, apply_nothing},
    StepFunctions{step::genes, learn_genes, apply_genes},
    StepFunctions{step::empty_cells, learn_empty_cells, apply_empty_cells},
    StepFunctions{step::counts_per, learn_counts_per, apply_counts_per},
    StepFunctions{step::logarithm, learn_same<take_logarithms>, apply_same<take_logarithms>},
    StepFunctions{step::chosen_genes, learn_chosen_genes, apply_nothing},
    StepFunctions{step::components, learn_components, apply_components},
    StepFunctions{step::without_loop, learn_nothing, apply_without_loop},
    StepFunctions{step::unit, learn_same<scale_cells_to_unit_length>, apply_same<scale_cells_to_unit_length>},
    StepFunctions{step::log_unit, learn_same<log_unit>, apply_same<log_unit>}};

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
    std::vector<PreparationStep> steps;
    const auto add = [&](bool wanted, const char* name) {
        if (wanted) {
            steps.push_back({.name = name});
        }
    };
    const bool chooses = options.genes.most_variable || !options.genes.column.empty();
    add(options.cells_min > 0, step::rare_genes);
    add(options.genes_min > 0, step::poor_cells);
    add(true, step::genes);
    add(true, step::empty_cells);
    add(options.normalize == Normalize::counts, step::counts_per);
    add(options.normalize != Normalize::none, step::logarithm);
    add(chooses, step::chosen_genes);
    add(chooses, step::empty_cells); // a cell may hold nothing in the genes that are left
    add(options.components.has_value(), step::components);
    add(options.unit_cells, step::unit);
    add(options.transform == Transform::log_unit, step::log_unit);
    return steps;
}

std::string words_of(const std::vector<PreparationStep>& steps) {
    std::string words;
    const auto add = [&](const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
    for (const PreparationStep& one : steps) {
        if (one.name == step::counts_per) {
            add(fmt::format("counts per {:.0f}", one.count));
        } else if (one.name == step::logarithm) {
            add("log(1 + x)");
        } else if (one.name == step::chosen_genes) {
            add(fmt::format("{:.0f} genes", one.count));
        } else if (one.name == step::unit) {
            add("cells of length 1");
        } else if (one.name == step::log_unit) {
            add("log10(1 + x), cells of length 1");
        }
    }
    return words.empty() ? "none" : words;
}

Transform transform_of(const InputRecord& record) {
    return record.step(step::log_unit) != nullptr ? Transform::log_unit : Transform::none;
}

void set_transform(InputRecord& record, Transform transform) {
    // Beside a normalisation of its own, another logarithm would be the second one.
    for (const char* name : {step::counts_per, step::logarithm, step::unit}) {
        require(record.step(name) == nullptr,
                "the fit prepared its cells in this way: {}; a transform cannot take its place",
                words_of(record.steps));
    }
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
    prepare(data, options, {});
}

void prepare(Dataset& data, const PrepareOptions& options, const ProductsChoice& choose) {
    io::tell_features_apart(data);
    check_dataset(data);
    LearnOptions all{options, choose};
    const Index overdispersed = options.genes.most_variable.value_or(0) / overdispersed_part;
    for (PreparationStep& step : steps_for(options)) {
        const bool first_change =
            step.name == (options.normalize == Normalize::counts ? step::counts_per : step::logarithm);
        if (first_change && overdispersed > 0) {
            all.overdispersed = overdispersed_features(data, overdispersed);
        }
        functions_of(step).learn(data, step, all);
        data.input.steps.push_back(std::move(step));
    }
    io::move_to_shares(data);
}

FeatureMatch apply_steps(Dataset& data, const std::vector<PreparationStep>& steps,
                         const ApplyOptions& options) {
    io::tell_features_apart(data);
    check_dataset(data);
    // The last step that chooses genes: those before it see all genes of the file, as they did in the fit.
    const PreparationStep* choice = nullptr;
    for (const PreparationStep& one : steps) {
        if (one.name == step::genes || one.name == step::chosen_genes) {
            choice = &one;
        }
    }
    FeatureMatch match;
    bool matched = options.features.empty();
    const auto match_once = [&] {
        if (!matched) {
            match = match_features(data, options.features);
            matched = true;
        }
    };
    if (choice == nullptr) {
        match_once();
    }
    for (const PreparationStep& step : steps) {
        if (&step == choice) {
            if (step.name == step::chosen_genes && !matched) {
                io::set_others_aside(data, options.features, options.most_others);
            }
            match_once();
        }
        functions_of(step).apply(data, step, options);
    }
    data.input.steps.insert(data.input.steps.end(), steps.begin(), steps.end());
    return match;
}

} // namespace pnmf
