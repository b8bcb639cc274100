#include <pnmf/assess/paths.hpp>

#include "assess/embedding_parts.hpp"

#include <pnmf/error.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

namespace pnmf {
namespace {

constexpr double late_share = 0.1; ///< of an end cluster, where walks end

/// ω as shares of all scales.
std::vector<double> shares_of(const PathScales& scales) {
    require(!scales.epsilon.empty(), "paths need at least 1 scale");
    require(scales.weight.empty() || scales.weight.size() == scales.epsilon.size(),
            "there must be a weight for each of the {} scales, got {}", scales.epsilon.size(),
            scales.weight.size());
    std::vector<double> shares = scales.weight;
    if (shares.empty()) {
        shares.assign(scales.epsilon.size(), 1.0);
    }
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    require(sum > 0.0, "the weights of the scales must be above 0");
    for (double& share : shares) {
        share /= sum;
    }
    return shares;
}

void check_root(Index root, Index cells) {
    require(root >= 0 && root < cells, "the root must be one of the {} cells, got {}", cells, root);
}

/// Leaves out edges that no scale has.
PathGraph without_empty(const PathGraph& all) {
    PathGraph graph;
    for (Index j = 0; j < all.cells(); ++j) {
        for (auto e = all.lists.start[j]; e < all.lists.start[j + 1]; ++e) {
            if (all.weight[e] > 0.0) {
                graph.lists.cell.push_back(all.lists.cell[e]);
                graph.lists.length.push_back(all.lists.length[e]);
                graph.weight.push_back(all.weight[e]);
                graph.length.push_back(all.length[e]);
            }
        }
        graph.lists.start.push_back(std::ssize(graph.lists.cell));
    }
    return graph;
}

/// The end of each cell, −1 for cells that are passed through.
std::vector<Index> end_of_cells(const std::vector<std::vector<Index>>& ends, Index cells) {
    require(!ends.empty(), "there must be at least 1 end");
    std::vector<Index> end(static_cast<std::size_t>(cells), -1);
    for (std::size_t k = 0; k < ends.size(); ++k) {
        require(!ends[k].empty(), "end {} has no cells", k + 1);
        for (const Index cell : ends[k]) {
            require(cell >= 0 && cell < cells, "an end holds cells from 0 to {}, got {}", cells - 1, cell);
            require(end[static_cast<std::size_t>(cell)] < 0 ||
                        end[static_cast<std::size_t>(cell)] == static_cast<Index>(k),
                    "cell {} is in two ends", cell);
            end[static_cast<std::size_t>(cell)] = static_cast<Index>(k);
        }
    }
    return end;
}

/// Probabilities of the steps of the walk, of each entry of the lists.
std::vector<double> step_probabilities(const PathGraph& graph, const Vector& times, double direction) {
    std::vector<double> steps(graph.weight.size());
    parallel_blocks(graph.cells(), 1024, [&](Index begin, Index end) {
        for (Index i = begin; i < end; ++i) {
            double sum = 0.0;
            for (auto e = graph.lists.start[i]; e < graph.lists.start[i + 1]; ++e) {
                const double back = times[i] - times[graph.lists.cell[e]];
                const double factor = back > 0.0 ? 2.0 / (1.0 + std::exp(direction * back)) : 1.0;
                steps[e] = graph.weight[e] * factor;
                sum += steps[e];
            }
            for (auto e = graph.lists.start[i]; e < graph.lists.start[i + 1]; ++e) {
                steps[e] /= sum;
            }
        }
    });
    return steps;
}

/// Σ ā between clusters, divided by their sizes.
Matrix links_between(const PathGraph& graph, const std::vector<Index>& clusters, Index count) {
    Matrix links = Matrix::Zero(count, count);
    Vector size = Vector::Zero(count);
    for (Index i = 0; i < graph.cells(); ++i) {
        const Index a = clusters[static_cast<std::size_t>(i)];
        size[a] += 1.0;
        for (auto e = graph.lists.start[i]; e < graph.lists.start[i + 1]; ++e) {
            const Index b = clusters[static_cast<std::size_t>(graph.lists.cell[e])];
            if (a != b) {
                links(a, b) += graph.weight[e];
            }
        }
    }
    for (Index a = 0; a < count; ++a) {
        for (Index b = 0; b < count; ++b) {
            links(a, b) /= std::max(1.0, size[a]) * std::max(1.0, size[b]);
        }
    }
    return 0.5 * (links + links.transpose());
}

/// How many edges of the maximum spanning tree each cluster has (Prim); clusters without links stay alone.
std::vector<Index> degrees_in_tree(const Matrix& links, Index start) {
    const Index count = links.rows();
    std::vector<Index> degree(static_cast<std::size_t>(count), 0);
    std::vector<bool> inside(static_cast<std::size_t>(count), false);
    inside[static_cast<std::size_t>(start)] = true;
    for (Index step = 1; step < count; ++step) {
        std::pair<Index, Index> best{-1, -1};
        for (Index a = 0; a < count; ++a) {
            for (Index b = 0; b < count; ++b) {
                if (inside[static_cast<std::size_t>(a)] && !inside[static_cast<std::size_t>(b)] &&
                    links(a, b) > 0.0 && (best.first < 0 || links(a, b) > links(best.first, best.second))) {
                    best = {a, b};
                }
            }
        }
        if (best.first < 0) {
            break;
        }
        inside[static_cast<std::size_t>(best.second)] = true;
        ++degree[static_cast<std::size_t>(best.first)];
        ++degree[static_cast<std::size_t>(best.second)];
    }
    return degree;
}

} // namespace

PathGraph path_graph(const NeighborLists& edges, const PathScales& scales,
                     const std::function<Matrix(Index)>& embedding) {
    const std::vector<double> shares = shares_of(scales);
    PathGraph graph{.lists = edges,
                    .weight = std::vector<double>(edges.cell.size(), 0.0),
                    .length = std::vector<double>(edges.cell.size(), 0.0)};
    for (std::size_t t = 0; t < shares.size(); ++t) {
        const EdgeWeight weight(scales.epsilon[t], scales.alpha);
        const Matrix H = unit_cells(embedding(static_cast<Index>(t)));
        require(H.cols() == edges.cells(), "the embedding at scale {} has {} cells, the graph {}", t + 1,
                H.cols(), edges.cells());
        parallel_blocks(edges.cells(), 256, [&](Index begin, Index end) {
            for (Index j = begin; j < end; ++j) {
                for (auto e = edges.start[j]; e < edges.start[j + 1]; ++e) {
                    graph.weight[e] += shares[t] * weight(edges.length[e]);
                    graph.length[e] += shares[t] * (H.col(j) - H.col(edges.cell[e])).squaredNorm();
                }
            }
        });
    }
    for (double& length : graph.length) {
        length = std::sqrt(length);
    }
    return without_empty(graph);
}

Vector path_times(const PathGraph& graph, Index root) {
    const Index n = graph.cells();
    check_root(root, n);
    constexpr double unreached = std::numeric_limits<double>::infinity();
    Vector time = Vector::Constant(n, unreached);
    using Visit = std::pair<double, Index>; // equal times by the smaller cell
    std::priority_queue<Visit, std::vector<Visit>, std::greater<>> next;
    time[root] = 0.0;
    next.emplace(0.0, root);
    while (!next.empty()) {
        const auto [at, i] = next.top();
        next.pop();
        if (at > time[i]) {
            continue;
        }
        for (auto e = graph.lists.start[i]; e < graph.lists.start[i + 1]; ++e) {
            const Index j = graph.lists.cell[e];
            if (const double there = at + graph.length[e]; there < time[j]) {
                time[j] = there;
                next.emplace(there, j);
            }
        }
    }
    const Index lost = (time.array() == unreached).count();
    require(lost == 0, "{} of {} cells cannot be reached from the root: the graph falls apart", lost, n);
    const double last = time.maxCoeff();
    return last > 0.0 ? Vector(time / last) : time;
}

Fates fates(const PathGraph& graph, const Vector& times, const std::vector<std::vector<Index>>& ends,
            const FateOptions& options) {
    const Index n = graph.cells();
    require(times.size() == n, "there must be a time for each of the {} cells, got {}", n, times.size());
    require(std::isfinite(options.direction) && options.direction >= 0.0,
            "the direction must be a number from 0 on, got {}", options.direction);
    require(options.tolerance > 0.0 && options.max_sweeps >= 1,
            "the tolerance must be above 0 and the limit of sweeps at least 1, got {} and {}",
            options.tolerance, options.max_sweeps);
    const std::vector<Index> end = end_of_cells(ends, n);
    const std::vector<double> steps = step_probabilities(graph, times, options.direction);
    const Index count = std::ssize(ends);
    Fates found;
    found.probability.setConstant(count, n, 1.0 / static_cast<double>(count));
    std::vector<Index> order;
    for (Index i = 0; i < n; ++i) {
        const Index own = end[static_cast<std::size_t>(i)];
        if (own < 0) {
            order.push_back(i);
        } else {
            found.probability.col(i).setZero();
            found.probability(own, i) = 1.0;
        }
    }
    // What is known at the ends goes against time in one sweep.
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return times[a] > times[b]; });
    Vector next(count);
    for (found.converged = order.empty(); !found.converged && found.sweeps < options.max_sweeps;
         ++found.sweeps) {
        found.residual = 0.0;
        for (const Index i : order) {
            next.setZero();
            for (auto e = graph.lists.start[i]; e < graph.lists.start[i + 1]; ++e) {
                next += steps[e] * found.probability.col(graph.lists.cell[e]);
            }
            found.residual =
                std::max(found.residual, (next - found.probability.col(i)).cwiseAbs().maxCoeff());
            found.probability.col(i) = next;
        }
        found.converged = found.residual <= options.tolerance;
    }
    return found;
}

std::vector<Index> end_clusters(const PathGraph& graph, const std::vector<Index>& clusters, Index root) {
    check_root(root, graph.cells());
    require(std::ssize(clusters) == graph.cells(), "there must be a cluster for each of the {} cells, got {}",
            graph.cells(), clusters.size());
    const Index count = *std::max_element(clusters.begin(), clusters.end()) + 1;
    const Index own = clusters[static_cast<std::size_t>(root)];
    std::vector<bool> present(static_cast<std::size_t>(count), false);
    for (const Index cluster : clusters) {
        present[static_cast<std::size_t>(cluster)] = true;
    }
    const std::vector<Index> degree = degrees_in_tree(links_between(graph, clusters, count), own);
    std::vector<Index> ends;
    for (Index c = 0; c < count; ++c) {
        if (c != own && present[static_cast<std::size_t>(c)] && degree[static_cast<std::size_t>(c)] <= 1) {
            ends.push_back(c);
        }
    }
    return ends.empty() ? std::vector<Index>{own} : ends;
}

std::vector<Index> late_cells(const Vector& times, const std::vector<Index>& clusters, Index cluster) {
    std::vector<Index> cells;
    for (Index i = 0; i < times.size(); ++i) {
        if (clusters[static_cast<std::size_t>(i)] == cluster) {
            cells.push_back(i);
        }
    }
    require(!cells.empty(), "cluster {} has no cells", cluster + 1);
    std::stable_sort(cells.begin(), cells.end(), [&](Index a, Index b) { return times[a] > times[b]; });
    cells.resize(static_cast<std::size_t>(
        std::max<double>(1.0, std::floor(late_share * static_cast<double>(cells.size())))));
    std::sort(cells.begin(), cells.end());
    return cells;
}

Index central_cell(const std::vector<Index>& group, const PathScales& scales,
                   const std::function<Matrix(Index)>& embedding) {
    require(!group.empty(), "a group without cells has no centre");
    const std::vector<double> shares = shares_of(scales);
    Vector square = Vector::Zero(std::ssize(group));
    for (std::size_t t = 0; t < shares.size(); ++t) {
        const Matrix H = unit_cells(embedding(static_cast<Index>(t))(Eigen::all, group));
        square += shares[t] * (H.colwise() - H.rowwise().mean()).colwise().squaredNorm().transpose();
    }
    Index place = 0;
    square.minCoeff(&place);
    return group[static_cast<std::size_t>(place)];
}

} // namespace pnmf
