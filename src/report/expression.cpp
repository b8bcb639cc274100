#include "report/expression.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
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

void append_step(std::vector<std::uint8_t>& steps, Index step) {
    for (; step > 255; step -= 255) {
        steps.push_back(0);
    }
    steps.push_back(static_cast<std::uint8_t>(step));
}

} // namespace

std::vector<std::string> add_expression(Payload& payload, const Dataset& data, std::vector<Index> listed,
                                        Index budget) {
    require(!data.others || data.others->values.cols == data.cells(), "the other genes are of other cells");
    const GeneFacts facts = facts_of(data);
    const std::vector<Index> genes = in_order(std::move(listed), data.features(), facts.variance);
    // The entries of each gene that fits, one gene after the other.
    std::vector<Index> begin{0};
    std::vector<Index> next(genes.size(), -1); // by feature
    for (const Index gene : genes) {
        const Index count = facts.expressing[static_cast<std::size_t>(gene)];
        const Index kept = std::ssize(begin) - 1;
        if (kept > 0 && 2 * (begin.back() + count) + (kept + 1) * (data.cells() / 255) > budget) {
            break;
        }
        next[static_cast<std::size_t>(gene)] = begin.back();
        begin.push_back(begin.back() + count);
    }
    std::vector<std::int32_t> cell(static_cast<std::size_t>(begin.back()));
    std::vector<std::uint8_t> shares(cell.size());
    visit_values(data, [&](Index i, Index j, double value) {
        Index& at = next[static_cast<std::size_t>(i)];
        if (at >= 0) {
            cell[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(j);
            shares[static_cast<std::size_t>(at)] =
                static_cast<std::uint8_t>(std::max(1L, std::lround(255.0 * value / facts.largest[i])));
            ++at;
        }
    });
    std::vector<std::uint8_t> steps;
    std::vector<std::int32_t> expressing;
    std::vector<float> largest;
    for (std::size_t g = 0; g + 1 < begin.size(); ++g) {
        Index before = -1;
        for (Index at = begin[g]; at < begin[g + 1]; ++at) {
            append_step(steps, cell[static_cast<std::size_t>(at)] - before);
            before = cell[static_cast<std::size_t>(at)];
        }
        expressing.push_back(static_cast<std::int32_t>(begin[g + 1] - begin[g]));
        largest.push_back(static_cast<float>(facts.largest[genes[g]]));
    }
    payload.add("genes", "expression", shares);
    payload.add("genes", "expression_steps", steps);
    payload.add("genes", "expression_cells", expressing);
    payload.add("genes", "expression_largest", largest);
    payload.meta["expressed_genes"] = expressing.size();
    std::vector<std::string> names;
    for (std::size_t g = 0; g < genes.size(); ++g) {
        if (genes[g] < data.features()) {
            names.push_back(data.feature_names[static_cast<std::size_t>(genes[g])]);
        } else if (g < expressing.size()) {
            names.push_back(data.others->names[static_cast<std::size_t>(genes[g] - data.features())]);
        }
    }
    return names;
}

} // namespace pnmf::report
