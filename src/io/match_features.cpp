#include <pnmf/io/preparation.hpp>

#include "io/formats.hpp"

#include <pnmf/error.hpp>

#include <string_view>
#include <unordered_map>

namespace pnmf {
namespace {

/// Row i of the result is row `from[i]` of the matrix, or zero where that is −1.
Matrix take_rows(const Matrix& matrix, const std::vector<Index>& from) {
    Matrix taken = Matrix::Zero(std::ssize(from), matrix.cols());
    for (Index i = 0; i < taken.rows(); ++i) {
        if (from[i] >= 0) {
            taken.row(i) = matrix.row(from[i]);
        }
    }
    return taken;
}

SparseMatrix<double> take_rows(const SparseMatrix<double>& matrix, const std::vector<Index>& from) {
    std::vector<std::int32_t> place(static_cast<std::size_t>(matrix.rows), -1);
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i] >= 0) {
            place[from[i]] = static_cast<std::int32_t>(i);
        }
    }
    Triplets<double> kept;
    for (Index j = 0; j < matrix.cols; ++j) {
        for (auto e = matrix.start[j]; e < matrix.start[j + 1]; ++e) {
            if (const std::int32_t row = place[matrix.row[e]]; row >= 0) {
                kept.row.push_back(row);
                kept.col.push_back(static_cast<std::int32_t>(j));
                kept.value.push_back(matrix.value[e]);
            }
        }
    }
    return to_columns(std::ssize(from), matrix.cols, kept);
}

} // namespace

FeatureMatch match_features(Dataset& data, const std::vector<std::string>& wanted) {
    std::unordered_map<std::string_view, Index> place;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        place.emplace(wanted[i], static_cast<Index>(i));
    }
    FeatureMatch match;
    std::vector<Index> from(wanted.size(), -1);
    for (std::size_t i = 0; i < data.feature_names.size(); ++i) {
        const auto found = place.find(data.feature_names[i]);
        if (found == place.end()) {
            match.extra.push_back(data.feature_names[i]);
            continue;
        }
        require(from[found->second] < 0, "names of genes must differ, {} occurs more than once",
                data.feature_names[i]);
        from[found->second] = static_cast<Index>(i);
        ++match.common;
    }
    require(match.common > 0,
            "no gene is in common: the data have {} genes ({}), {} were looked for by name ({})",
            data.feature_names.size(), io::abbreviate(data.feature_names, 3), wanted.size(),
            io::abbreviate(wanted, 3));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (from[i] < 0) {
            match.missing.push_back(wanted[i]);
        }
    }
    std::visit([&](auto& X) { X = take_rows(X, from); }, data.X);
    data.feature_names = wanted;
    data.feature_table.clear();
    return match;
}

} // namespace pnmf
