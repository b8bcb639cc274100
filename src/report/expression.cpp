#include "report/expression.hpp"

#include "files/checksum.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace pnmf::report {
namespace {

/// Calls `visit(gene, cell, value)` for every value above zero, cells of a gene in order. Genes are the
/// features of X, then the others.
template <class Visit>
void visit_values(const Dataset& data, const Visit& visit) {
    const auto visit_sparse = [&](const auto& X, Index before) {
        for (Index j = 0; j < X.cols; ++j) {
            for (auto entry = X.start[j]; entry < X.start[j + 1]; ++entry) {
                if (X.value[entry] > 0) {
                    visit(before + X.row[entry], j, static_cast<double>(X.value[entry]));
                }
            }
        }
    };
    if (const auto* dense = std::get_if<Matrix>(&data.X)) {
        for (Index j = 0; j < dense->cols(); ++j) {
            for (Index i = 0; i < dense->rows(); ++i) {
                if ((*dense)(i, j) > 0.0) {
                    visit(i, j, (*dense)(i, j));
                }
            }
        }
    } else {
        visit_sparse(std::get<SparseMatrix<double>>(data.X), 0);
    }
    if (data.others) {
        visit_sparse(data.others->values, data.features());
    }
}

Index other_genes(const Dataset& data) {
    return data.others ? std::ssize(data.others->names) : 0;
}

struct GeneFacts {
    std::vector<Index> expressing; ///< cells above zero
    Vector largest;
    Vector variance;
};

GeneFacts facts_of(const Dataset& data) {
    const Index p = data.features() + other_genes(data);
    GeneFacts facts{std::vector<Index>(static_cast<std::size_t>(p), 0), Vector::Zero(p), Vector::Zero(p)};
    Vector sum = Vector::Zero(p);
    visit_values(data, [&](Index i, Index, double value) {
        ++facts.expressing[static_cast<std::size_t>(i)];
        facts.largest[i] = std::max(facts.largest[i], value);
        sum[i] += value;
        facts.variance[i] += value * value;
    });
    facts.variance -= sum.cwiseAbs2() / static_cast<double>(std::max<Index>(1, data.cells()));
    return facts;
}

/// Those listed, then the other features, then the other genes; of both the largest variance first.
std::vector<Index> in_order(std::vector<Index> listed, Index features, const Vector& variance) {
    std::vector<bool> there(static_cast<std::size_t>(variance.size()), false);
    for (const Index i : listed) {
        there[static_cast<std::size_t>(i)] = true;
    }
    const auto first = std::ssize(listed);
    for (Index i = 0; i < variance.size(); ++i) {
        if (!there[static_cast<std::size_t>(i)]) {
            listed.push_back(i);
        }
    }
    std::stable_sort(listed.begin() + first, listed.end(), [&](Index a, Index b) {
        return std::pair(a >= features, -variance[a]) < std::pair(b >= features, -variance[b]);
    });
    return listed;
}

/// The entries of some genes, one gene after the other; cells in order, values as shares of the largest.
struct Entries {
    std::vector<Index> begin{0};
    std::vector<std::int32_t> cell;
    std::vector<std::uint8_t> shares;
};

Entries entries_of(const Dataset& data, const GeneFacts& facts, std::span<const Index> genes) {
    Entries of;
    std::vector<Index> next(facts.expressing.size(), -1); // by feature
    for (const Index gene : genes) {
        next[static_cast<std::size_t>(gene)] = of.begin.back();
        of.begin.push_back(of.begin.back() + facts.expressing[static_cast<std::size_t>(gene)]);
    }
    of.cell.resize(static_cast<std::size_t>(of.begin.back()));
    of.shares.resize(of.cell.size());
    visit_values(data, [&](Index i, Index j, double value) {
        Index& at = next[static_cast<std::size_t>(i)];
        if (at >= 0) {
            of.cell[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(j);
            of.shares[static_cast<std::size_t>(at)] =
                static_cast<std::uint8_t>(std::max(1L, std::lround(255.0 * value / facts.largest[i])));
            ++at;
        }
    });
    return of;
}

/// The steps from cell to cell of gene g of them.
template <class Bytes>
void append_steps(Bytes& steps, const Entries& of, std::size_t g) {
    Index before = -1;
    for (Index at = of.begin[g]; at < of.begin[g + 1]; ++at) {
        Index step = of.cell[static_cast<std::size_t>(at)] - before;
        for (; step > 255; step -= 255) {
            steps.push_back(0);
        }
        steps.push_back(static_cast<typename Bytes::value_type>(step));
        before = of.cell[static_cast<std::size_t>(at)];
    }
}

struct GeneArrays {
    std::vector<std::int32_t> expressing;
    std::vector<float> largest;
};

GeneArrays arrays_of(const GeneFacts& facts, std::span<const Index> genes) {
    GeneArrays arrays;
    for (const Index gene : genes) {
        arrays.expressing.push_back(
            static_cast<std::int32_t>(facts.expressing[static_cast<std::size_t>(gene)]));
        arrays.largest.push_back(static_cast<float>(facts.largest[gene]));
    }
    return arrays;
}

/// How many of the genes fit into the page: at least one.
std::size_t genes_that_fit(const Dataset& data, const GeneFacts& facts, std::span<const Index> genes,
                           Index budget) {
    std::size_t kept = 0;
    for (Index entries = 0; kept < genes.size(); ++kept) {
        entries += facts.expressing[static_cast<std::size_t>(genes[kept])];
        if (kept > 0 && 2 * entries + (static_cast<Index>(kept) + 1) * (data.cells() / 255) > budget) {
            break;
        }
    }
    return kept;
}

/// Each gene for itself, steps and then shares, as a zlib stream, so that the page can read it alone. As many
/// genes at a time as fit into `budget`.
void add_beside(Payload& payload, const Dataset& data, const GeneFacts& facts, std::span<const Index> genes,
                Index budget, std::string& file) {
    std::string streams;
    std::vector<std::int32_t> bytes;
    for (std::size_t first = 0; first < genes.size();) {
        const auto some = genes.subspan(first, genes_that_fit(data, facts, genes.subspan(first), budget));
        const Entries of = entries_of(data, facts, some);
        std::vector<std::string> packed(some.size());
        parallel_for(std::ssize(packed), [&](Index i) {
            const auto g = static_cast<std::size_t>(i);
            std::string plain;
            append_steps(plain, of, g);
            plain.append(of.shares.begin() + of.begin[g], of.shares.begin() + of.begin[g + 1]);
            packed[g] = deflated(plain);
        });
        for (const std::string& stream : packed) {
            streams += stream;
            bytes.push_back(static_cast<std::int32_t>(stream.size()));
        }
        first += some.size();
    }
    const std::string head =
        fmt::format("pnmf genes 1 {:08x}\n", add_to_checksum(0, streams.data(), streams.size()));
    payload.meta["beside"] = {{"head", head}, {"offset", file.size()}};
    file += head;
    file += streams;
    const GeneArrays arrays = arrays_of(facts, genes);
    payload.add("genes", "beside_bytes", bytes);
    payload.add("genes", "beside_cells", arrays.expressing);
    payload.add("genes", "beside_largest", arrays.largest);
}

} // namespace

std::vector<std::string> add_expression(Payload& payload, const Dataset& data, std::vector<Index> listed,
                                        Index budget, std::string* beside) {
    require(!data.others || data.others->values.cols == data.cells(), "the other genes are of other cells");
    const GeneFacts facts = facts_of(data);
    const std::vector<Index> genes = in_order(std::move(listed), data.features(), facts.variance);
    const std::size_t kept = genes_that_fit(data, facts, genes, budget);
    const std::span<const Index> in_page(genes.data(), kept);
    const Entries of = entries_of(data, facts, in_page);
    std::vector<std::uint8_t> steps;
    for (std::size_t g = 0; g < kept; ++g) {
        append_steps(steps, of, g);
    }
    const GeneArrays arrays = arrays_of(facts, in_page);
    payload.add("genes", "expression", of.shares);
    payload.add("genes", "expression_steps", steps);
    payload.add("genes", "expression_cells", arrays.expressing);
    payload.add("genes", "expression_largest", arrays.largest);
    payload.meta["expressed_genes"] = kept;
    if (beside != nullptr && kept < genes.size()) {
        add_beside(payload, data, facts, std::span(genes).subspan(kept), budget, *beside);
    }
    std::vector<std::string> names;
    for (std::size_t g = 0; g < genes.size(); ++g) {
        if (genes[g] < data.features()) {
            names.push_back(data.feature_names[static_cast<std::size_t>(genes[g])]);
        } else if (g < kept || beside != nullptr) {
            names.push_back(data.others->names[static_cast<std::size_t>(genes[g] - data.features())]);
        }
    }
    return names;
}

} // namespace pnmf::report
