#pragma once

#include <pnmf/model/problem.hpp>
#include <pnmf/types.hpp>

#include <filesystem>
#include <vector>

namespace pnmf {

/// The factors at `wanted` positions from those at `known` ones, linear in between, columns of W unit. Both
/// ascend; the first and the last wanted position lie within the known ones. With a folder, bases rest in a
/// file there.
template <class Real>
Factors<Real> interpolate(const Factors<Real>& factors, const std::vector<Index>& known,
                          const std::vector<Index>& wanted, Index features,
                          const std::filesystem::path& bases_in = {});

} // namespace pnmf
