#include <pnmf/assess/programs.hpp>

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {
namespace {

/// log(k!) for k = 0 … most.
std::vector<double> log_factorials(Index most) {
    std::vector<double> table(static_cast<std::size_t>(most) + 1, 0.0);
    for (std::size_t k = 1; k < table.size(); ++k) {
        table[k] = table[k - 1] + std::log(static_cast<double>(k));
    }
    return table;
}

double tail(Index found, Index all, Index marked, Index drawn, const std::vector<double>& log_factorial) {
    const auto choose = [&](Index n, Index k) {
        return log_factorial[static_cast<std::size_t>(n)] - log_factorial[static_cast<std::size_t>(k)] -
               log_factorial[static_cast<std::size_t>(n - k)];
    };
    const Index least = std::max<Index>(found, drawn - (all - marked)); // fewer are not possible
    const Index most = std::min(marked, drawn);
    if (found <= std::max<Index>(0, drawn - (all - marked))) {
        return 1.0;
    }
    double sum = 0.0;
    for (Index i = most; i >= least; --i) { // the small ones first
        sum += std::exp(choose(marked, i) + choose(all - marked, drawn - i) - choose(all, drawn));
    }
    return std::min(1.0, sum);
}

} // namespace

double hypergeometric_tail(Index found, Index all, Index marked, Index drawn) {
    require(found >= 0 && marked >= 0 && drawn >= 0 && marked <= all && drawn <= all,
            "of {} genes {} are marked and {} drawn: neither can be more than all", all, marked, drawn);
    return tail(found, all, marked, drawn, log_factorials(all));
}

std::vector<double> adjusted_p_values(const std::vector<double>& p_values) {
    std::vector<std::size_t> order(p_values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
    std::vector<double> adjusted(p_values.size());
    const auto count = static_cast<double>(p_values.size());
    double least = 1.0;
    for (std::size_t i = order.size(); i-- > 0;) {
        least = std::min(least, p_values[order[i]] * count / static_cast<double>(i + 1));
        adjusted[order[i]] = least;
    }
    return adjusted;
}

std::vector<Enrichment> enriched_sets(const DenseMatrix<float>& scores,
                                      const std::vector<std::vector<Index>>& sets,
                                      const EnrichmentOptions& options) {
    const Index genes = scores.rows();
    const std::vector<double> log_factorial = log_factorials(genes);
    std::vector<std::vector<Index>> best = top_genes(scores, options.best);
    std::vector<Enrichment> tested;
    for (Index k = 0; k < scores.cols(); ++k) {
        std::vector<Index>& drawn = best[static_cast<std::size_t>(k)];
        std::erase_if(drawn, [&](Index gene) { return scores(gene, k) <= 0.0F; });
        std::vector<Index> rank(static_cast<std::size_t>(genes), -1);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            rank[static_cast<std::size_t>(drawn[i])] = static_cast<Index>(i);
        }
        for (std::size_t s = 0; s < sets.size(); ++s) {
            if (std::ssize(sets[s]) < options.smallest_set) {
                continue;
            }
            Enrichment one{.program = k, .set = static_cast<Index>(s), .size = std::ssize(sets[s])};
            std::copy_if(sets[s].begin(), sets[s].end(), std::back_inserter(one.genes),
                         [&](Index gene) { return rank[static_cast<std::size_t>(gene)] >= 0; });
            std::sort(one.genes.begin(), one.genes.end(), [&](Index a, Index b) {
                return rank[static_cast<std::size_t>(a)] < rank[static_cast<std::size_t>(b)];
            });
            one.p_value = tail(std::ssize(one.genes), genes, one.size, std::ssize(drawn), log_factorial);
            tested.push_back(std::move(one));
        }
    }
    std::vector<double> p_values;
    std::transform(tested.begin(), tested.end(), std::back_inserter(p_values),
                   [](const Enrichment& one) { return one.p_value; });
    const std::vector<double> adjusted = adjusted_p_values(p_values);
    for (std::size_t i = 0; i < tested.size(); ++i) {
        tested[i].adjusted = adjusted[i];
    }
    std::erase_if(tested, [](const Enrichment& one) { return one.genes.empty(); });
    std::stable_sort(tested.begin(), tested.end(), [](const Enrichment& a, const Enrichment& b) {
        return a.program != b.program ? a.program < b.program : a.p_value < b.p_value;
    });
    return tested;
}

} // namespace pnmf
