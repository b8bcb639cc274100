#pragma once

#include <pnmf/types.hpp>

#include <limits>
#include <vector>

namespace pnmf {

/// Cells of length 1: what a cell is made of, without how much of it there is.
inline Matrix unit_cells(const Matrix& H) {
    return H.array().rowwise() / H.colwise().norm().cwiseMax(std::numeric_limits<double>::min()).array();
}

/// The values at some positions.
template <class Value>
std::vector<Value> at(const std::vector<Value>& values, const std::vector<Index>& positions) {
    std::vector<Value> result;
    result.reserve(positions.size());
    for (const Index position : positions) {
        result.push_back(values[position]);
    }
    return result;
}

} // namespace pnmf
