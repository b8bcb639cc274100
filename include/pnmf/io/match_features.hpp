#pragma once

#include <pnmf/io/dataset.hpp>

#include <string>
#include <vector>

namespace pnmf {

/// How the features of a data set compare with those that are wanted.
struct FeatureMatch {
    std::vector<std::string> missing; ///< wanted and not there, in the wanted order
    std::vector<std::string> extra;   ///< there and not wanted, in the data's order
    Index common = 0;
};

/// Makes the features of the data the wanted ones, in the wanted order, matched by name: missing ones become
/// zero in every cell, extra ones are left out, and the table about features goes. Keeps sparsity. InputError
/// when none is in common, or when a wanted name occurs more than once in the data.
FeatureMatch match_features(Dataset& data, const std::vector<std::string>& wanted);

} // namespace pnmf
