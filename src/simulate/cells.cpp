#include <pnmf/simulate/simulate.hpp>

#include "simulate/cell_tree.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pnmf {
namespace {

constexpr Index block_of_cells = 64;

/// Streams of the seed, one for each thing drawn.
enum Stream : std::uint64_t { tree_stream, profile_stream, proportion_stream, cell_stream };

} // namespace

void check_cells_options(const CellsOptions& options) {
    const auto at_least = [](const char* name, auto value, auto least) {
        require(value >= least && std::isfinite(static_cast<double>(value)), "{} must be at least {}, got {}",
                name, least, value);
    };
    at_least("cells", options.cells, Index{1});
    at_least("genes", options.genes, Index{1});
    at_least("types", options.types, Index{1});
    at_least("imbalance", options.imbalance, 0.0);
    at_least("gene spread", options.gene_spread, 0.0);
    at_least("fold", options.fold, 0.0);
    at_least("depth spread", options.depth_spread, 0.0);
    at_least("dropout", options.dropout, 0.0);
    require(options.genes <= std::numeric_limits<std::int32_t>::max(),
            "genes must be at most 2147483647, got {}", options.genes);
    require(options.changed >= 0.0 && options.changed <= 1.0, "changed must be between 0 and 1, got {}",
            options.changed);
    require(std::isfinite(options.depth) && options.depth > 0.0, "depth must be positive, got {}",
            options.depth);
    require(std::isfinite(options.dispersion) && options.dispersion > 0.0,
            "dispersion must be positive, got {}", options.dispersion);
}

CellTree random_cell_tree(Index leaves, const CellsOptions& options) {
    Random random = Random(options.seed).fork(tree_stream);
    CellTree tree{.parent = {-1}, .leaf = {0}};
    while (std::ssize(tree.leaf) < leaves) {
        const auto split = static_cast<std::size_t>(random.below(std::ssize(tree.leaf)));
        const Index node = tree.leaf[split];
        const Index child = std::ssize(tree.parent);
        tree.parent.insert(tree.parent.end(), {node, node});
        tree.leaf[split] = child;
        tree.leaf.push_back(child + 1);
    }
    return tree;
}

namespace {

/// Draws items with given weights in O(1) (Walker 1977, Vose 1991).
class AliasTable {
  public:
    explicit AliasTable(const Vector& weights)
        : keep_(weights * (static_cast<double>(weights.size()) / weights.sum())),
          other_(static_cast<std::size_t>(weights.size())) {
        std::iota(other_.begin(), other_.end(), 0);
        std::vector<std::int32_t> small;
        std::vector<std::int32_t> large;
        for (Index i = 0; i < keep_.size(); ++i) {
            (keep_(i) < 1.0 ? small : large).push_back(static_cast<std::int32_t>(i));
        }
        while (!small.empty() && !large.empty()) {
            const std::int32_t poor = small.back();
            const std::int32_t rich = large.back();
            small.pop_back();
            other_[poor] = rich;
            keep_(rich) -= 1.0 - keep_(poor);
            if (keep_(rich) < 1.0) {
                large.pop_back();
                small.push_back(rich);
            }
        }
        for (const std::int32_t i : small) {
            keep_(i) = 1.0; // only rounding left them here
        }
    }

    std::int32_t draw(Random& random) const {
        const double place = random.uniform() * static_cast<double>(keep_.size());
        const auto slot = static_cast<std::int32_t>(place);
        return place - slot < keep_(slot) ? slot : other_[slot];
    }

  private:
    Vector keep_;
    std::vector<std::int32_t> other_;
};

/// A size k ≥ 1 with P(k) ∝ θᵏ/k, 0 < θ < 1 (Kemp 1981). `log_complement` is log(1 − θ).
double logarithmic(double theta, double log_complement, Random& random) {
    const double v = 1.0 - random.uniform();
    if (v >= theta) {
        return 1.0;
    }
    const double q = -std::expm1(log_complement * random.uniform());
    return q > 0.0 ? std::max(1.0, std::floor(1.0 + std::log(v) / std::log(q))) : 1.0;
}

/// One cell at a time, into a row of counts that is zero between cells.
class CellDrawer {
  public:
    CellDrawer(const CellModel& model, const std::vector<AliasTable>& genes, const AliasTable& types)
        : model_(model), genes_(genes), types_(types), count_(Vector::Zero(model.options.genes)) {}

    /// Appends the nonzero counts of the cell, ascending by gene; returns its type.
    Index draw(Index cell, std::vector<std::int32_t>& row, std::vector<double>& value) {
        const CellsOptions& options = model_.options;
        Random random = Random(options.seed).fork(cell_stream).fork(static_cast<std::uint64_t>(cell));
        const Index type = types_.draw(random);
        const double library = options.depth * std::exp(options.depth_spread * random.normal());
        draw_clusters(type, library, random);
        std::sort(touched_.begin(), touched_.end());
        for (const std::int32_t gene : touched_) {
            const double mean = library * model_.profile(gene, type);
            const bool lost =
                options.dropout > 0.0 && random.uniform() * (options.dropout + mean) < options.dropout;
            if (!lost) {
                row.push_back(gene);
                value.push_back(count_(gene));
            }
            count_(gene) = 0.0;
        }
        touched_.clear();
        return type;
    }

  private:
    /// Arrivals of a Poisson process of rate 1 on [0, library], each given to a gene and thinned.
    void draw_clusters(Index type, double library, Random& random) {
        const double dispersion = model_.options.dispersion;
        const auto wait = [&random] { return -std::log1p(-random.uniform()); };
        double time = wait();
        while (time < library) {
            time += wait();
            const std::int32_t gene = genes_[type].draw(random);
            const double ratio = dispersion * library * model_.profile(gene, type); // φμ
            const double log_ratio = std::log1p(ratio);
            if (random.uniform() * ratio >= log_ratio) {
                continue;
            }
            if (count_(gene) == 0.0) {
                touched_.push_back(gene);
            }
            count_(gene) += logarithmic(ratio / (1.0 + ratio), -log_ratio, random);
        }
    }

    const CellModel& model_;
    const std::vector<AliasTable>& genes_;
    const AliasTable& types_;
    Vector count_;
    std::vector<std::int32_t> touched_;
};

} // namespace

Matrix node_log_profiles(const CellTree& tree, const CellsOptions& options) {
    const Random root(options.seed);
    const Index nodes = std::ssize(tree.parent);
    Matrix log_profile(options.genes, nodes);
    for (Index node = 0; node < nodes; ++node) {
        Random random = root.fork(profile_stream).fork(static_cast<std::uint64_t>(node));
        const Index parent = tree.parent[node];
        for (Index gene = 0; gene < options.genes; ++gene) {
            if (parent < 0) {
                log_profile(gene, node) = options.gene_spread * random.normal();
            } else {
                const bool changes = random.uniform() < options.changed;
                log_profile(gene, node) =
                    log_profile(gene, parent) + (changes ? options.fold * random.normal() : 0.0);
            }
        }
    }
    return log_profile;
}

CellModel make_cell_model(const CellsOptions& options) {
    check_cells_options(options);
    CellModel model{.options = options,
                    .tree = random_cell_tree(options.types, options),
                    .profile = {},
                    .proportions = {}};
    const Matrix log_profile = node_log_profiles(model.tree, options);
    model.profile.resize(options.genes, options.types);
    model.proportions.resize(options.types);
    Random sizes = Random(options.seed).fork(proportion_stream);
    for (Index type = 0; type < options.types; ++type) {
        const auto& leaf = log_profile.col(model.tree.leaf[type]);
        model.profile.col(type) = (leaf.array() - leaf.maxCoeff()).exp().matrix();
        model.profile.col(type) /= model.profile.col(type).sum();
        model.proportions(type) = std::exp(options.imbalance * sizes.normal());
    }
    model.proportions /= model.proportions.sum();
    return model;
}

SimulatedCells simulate_cells(const CellModel& model, Index begin, Index end) {
    require(begin >= 0 && begin <= end && end <= model.options.cells,
            "cells {} to {} are asked for, but the model has {}", begin, end, model.options.cells);
    std::vector<AliasTable> genes;
    for (Index type = 0; type < model.options.types; ++type) {
        genes.emplace_back(model.profile.col(type));
    }
    const AliasTable types(model.proportions);

    struct Block {
        std::vector<std::int32_t> row;
        std::vector<double> value;
    };
    const Index cells = end - begin;
    SimulatedCells result;
    result.types.resize(static_cast<std::size_t>(cells));
    SparseMatrix<double>& counts = result.counts;
    counts.rows = model.options.genes;
    counts.cols = cells;
    counts.start.assign(static_cast<std::size_t>(cells) + 1, 0);
    std::vector<Block> blocks(static_cast<std::size_t>((cells + block_of_cells - 1) / block_of_cells));
    parallel_blocks(cells, block_of_cells, [&](Index first, Index last) {
        Block& block = blocks[first / block_of_cells];
        CellDrawer drawer(model, genes, types);
        for (Index j = first; j < last; ++j) {
            result.types[j] = drawer.draw(begin + j, block.row, block.value);
            counts.start[j + 1] = std::ssize(block.row); // counted from the block's begin
        }
    });
    for (Index j = 0; j < cells; ++j) {
        if (j % block_of_cells == 0) {
            const Block& block = blocks[j / block_of_cells];
            counts.row.insert(counts.row.end(), block.row.begin(), block.row.end());
            counts.value.insert(counts.value.end(), block.value.begin(), block.value.end());
        }
        counts.start[j + 1] += counts.start[j - j % block_of_cells];
    }
    return result;
}

std::string newick(const CellTree& tree) {
    const Index nodes = std::ssize(tree.parent);
    std::vector<std::string> text(tree.parent.size());
    for (std::size_t type = 0; type < tree.leaf.size(); ++type) {
        text[tree.leaf[type]] = fmt::format("type{}", type + 1);
    }
    for (Index node = nodes - 1; node > 0; --node) {
        std::string& parent = text[tree.parent[node]];
        parent = parent.empty() ? text[node] : fmt::format("({},{})", text[node], parent);
    }
    return text[0] + ";\n";
}

} // namespace pnmf
