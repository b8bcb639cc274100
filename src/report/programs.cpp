#include "report/programs.hpp"

#include <pnmf/linalg/random.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace pnmf::report {
namespace {

constexpr Index listed = 12;

/// Features with the largest scores, largest first; equal scores by position.
std::vector<Index> largest_of(const Vector& score, Index count) {
    std::vector<Index> order(static_cast<std::size_t>(score.size()));
    std::iota(order.begin(), order.end(), Index{0});
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](Index a, Index b) { return score[a] != score[b] ? score[a] > score[b] : a < b; });
    order.resize(static_cast<std::size_t>(count));
    return order;
}

struct TopLists {
    std::vector<std::vector<Index>> by_score; ///< for each component; empty where there are no scores
    std::vector<std::vector<Index>> by_weight;
    std::vector<std::vector<Index>> by_lead;
};

TopLists top_lists(const Matrix& W, Index top) {
    TopLists lists;
    // The largest and the second largest weight of each gene give its lead in every component.
    Vector first = Vector::Zero(W.rows());
    Vector second = Vector::Zero(W.rows());
    for (Index k = 0; k < W.cols(); ++k) {
        for (Index g = 0; g < W.rows(); ++g) {
            const double weight = W(g, k);
            second[g] = std::max(second[g], std::min(first[g], weight));
            first[g] = std::max(first[g], weight);
        }
    }
    for (Index k = 0; k < W.cols(); ++k) {
        lists.by_weight.push_back(largest_of(W.col(k), top));
        Vector lead = W.col(k);
        for (Index g = 0; g < W.rows(); ++g) {
            lead[g] -= W(g, k) == first[g] ? second[g] : first[g];
        }
        lists.by_lead.push_back(largest_of(lead, top));
    }
    return lists;
}

/// The features of all lists, those of scale `first` before the others.
std::vector<Index> genes_of(const std::map<Index, TopLists>& lists, const std::vector<Index>& scales,
                            Index first) {
    std::vector<Index> order{first};
    std::copy_if(scales.begin(), scales.end(), std::back_inserter(order),
                 [&](Index t) { return t != first; });
    std::vector<Index> genes;
    std::set<Index> seen;
    for (const Index t : order) {
        for (Index place = 0; place < std::ssize(lists.at(t).by_weight.front()); ++place) {
            for (const auto* kind : {&lists.at(t).by_score, &lists.at(t).by_weight, &lists.at(t).by_lead}) {
                for (const auto& list : *kind) {
                    if (seen.insert(list[static_cast<std::size_t>(place)]).second) {
                        genes.push_back(list[static_cast<std::size_t>(place)]);
                    }
                }
            }
        }
    }
    return genes;
}

void append_lists(std::vector<std::int32_t>& to, const std::vector<std::vector<Index>>& lists,
                  const std::map<Index, std::int32_t>& place) {
    for (const auto& list : lists) {
        for (const Index gene : list) {
            to.push_back(place.at(gene));
        }
    }
}

} // namespace

std::vector<Index> evenly(const std::vector<Index>& values, Index count, Index kept) {
    const Index size = std::ssize(values);
    if (count >= size) {
        return values;
    }
    std::vector<Index> chosen;
    for (const Index position : evenly_spaced(count, size, Rounding::down)) {
        chosen.push_back(values[static_cast<std::size_t>(position)]);
    }
    if (std::find(chosen.begin(), chosen.end(), kept) == chosen.end() &&
        std::find(values.begin(), values.end(), kept) != values.end()) {
        const Index ends = count > 2 ? 1 : 0; // the first and the last stay
        const auto nearest =
            std::min_element(chosen.begin() + ends, chosen.end() - ends,
                             [&](Index a, Index b) { return std::abs(a - kept) < std::abs(b - kept); });
        *nearest = kept;
    }
    return chosen;
}

Programs gene_programs(const std::function<Matrix(Index)>& basis, const std::function<Matrix(Index)>& scores,
                       const std::vector<Index>& scales, Index first, Index budget) {
    std::map<Index, TopLists> lists;
    Index rank = 0;
    Programs programs;
    programs.scales = scales;
    for (const Index t : scales) {
        const Matrix W = basis(t);
        rank = W.cols();
        programs.top = std::min<Index>(listed, W.rows());
        lists[t] = top_lists(W, programs.top);
        if (scores) {
            const Matrix of_scale = scores(t);
            for (Index k = 0; k < rank; ++k) {
                lists[t].by_score.push_back(largest_of(of_scale.col(k), programs.top));
            }
        }
    }
    programs.genes = genes_of(lists, programs.scales, first);
    while (std::ssize(programs.scales) * rank * std::ssize(programs.genes) > budget &&
           programs.scales.size() > 1) {
        programs.scales = evenly(programs.scales, std::ssize(programs.scales) / 2, first);
        programs.genes = genes_of(lists, programs.scales, first);
    }
    std::map<Index, std::int32_t> place;
    for (const Index gene : programs.genes) {
        place[gene] = static_cast<std::int32_t>(place.size());
    }
    for (const Index t : programs.scales) {
        append_lists(programs.by_score, lists.at(t).by_score, place);
        append_lists(programs.by_weight, lists.at(t).by_weight, place);
        append_lists(programs.by_lead, lists.at(t).by_lead, place);
        const Matrix W = basis(t);
        for (Index k = 0; k < rank; ++k) {
            const double largest = W.col(k).maxCoeff();
            programs.largest.push_back(static_cast<float>(largest));
            for (const Index gene : programs.genes) {
                const double share = largest > 0.0 ? W(gene, k) / largest : 0.0;
                programs.weight.push_back(static_cast<std::uint8_t>(std::lround(255.0 * share)));
            }
        }
    }
    return programs;
}

} // namespace pnmf::report
