#include <pnmf/assess/group_tree.hpp>

#include "assess/embedding_parts.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pnmf {

GroupTree group_tree(Index scales, const std::function<Matrix(Index)>& embedding,
                     const std::vector<Index>& groups, const std::vector<double>& weight) {
    require(scales >= 1, "there must be at least 1 scale, got {}", scales);
    require(weight.empty() || std::ssize(weight) == scales,
            "there must be a weight for each of the {} scales, got {}", scales, weight.size());
    require(!groups.empty() && *std::min_element(groups.begin(), groups.end()) >= 0,
            "groups are numbered from 0");
    const Index count = *std::max_element(groups.begin(), groups.end()) + 1;
    require(count >= 2, "a tree needs at least 2 groups, got {}", count);
    Vector size = Vector::Zero(count);
    for (const Index group : groups) {
        size[group] += 1.0;
    }
    require(size.minCoeff() > 0.0, "each group must have a cell");
    const double all =
        weight.empty() ? static_cast<double>(scales) : std::accumulate(weight.begin(), weight.end(), 0.0);
    std::vector<Matrix> means;
    Index rows = 0;
    for (Index t = 0; t < scales; ++t) {
        const Matrix H = unit_cells(embedding(t));
        require(H.cols() == std::ssize(groups), "the embedding at scale {} has {} cells, groups are of {}",
                t + 1, H.cols(), groups.size());
        Matrix mean = Matrix::Zero(H.rows(), count);
        for (Index j = 0; j < H.cols(); ++j) {
            mean.col(groups[static_cast<std::size_t>(j)]) += H.col(j);
        }
        const double share = (weight.empty() ? 1.0 : weight[static_cast<std::size_t>(t)]) / all;
        means.emplace_back(std::sqrt(share) * (mean.array().rowwise() / size.transpose().array()).matrix());
        rows += H.rows();
    }
    GroupTree tree{.hierarchy = {}, .means = Matrix(rows, count)};
    Index row = 0;
    for (const Matrix& mean : means) {
        tree.means.middleRows(row, mean.rows()) = mean;
        row += mean.rows();
    }
    Matrix distances = Matrix::Zero(count, count);
    for (Index a = 0; a < count; ++a) {
        for (Index b = 0; b < a; ++b) {
            distances(a, b) = distances(b, a) = (tree.means.col(a) - tree.means.col(b)).norm();
        }
    }
    tree.hierarchy = agglomerate(std::move(distances), Linkage::average);
    return tree;
}

} // namespace pnmf
