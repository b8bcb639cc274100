#pragma once

#include "support/paths.hpp"

#include <pnmf/types.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <vector>

namespace pnmf::test {

/// What scikit-learn says, from make_scores_fixture.py.
inline const nlohmann::json& scores_fixture() {
    static const nlohmann::json fixture =
        nlohmann::json::parse(std::ifstream(source_dir() / "tests" / "metrics" / "scores_fixture.json"));
    return fixture;
}

/// The fixture's points, d × n: cells are columns.
inline Matrix fixture_points() {
    const auto rows = scores_fixture()["points"].get<std::vector<std::vector<double>>>();
    Matrix X(static_cast<Index>(rows.front().size()), static_cast<Index>(rows.size()));
    for (std::size_t j = 0; j < rows.size(); ++j) {
        X.col(static_cast<Index>(j)) = Eigen::Map<const Vector>(rows[j].data(), X.rows());
    }
    return X;
}

} // namespace pnmf::test
