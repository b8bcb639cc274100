#pragma once

#include "cells/cell_blocks.hpp"
#include "devices/cuda/data_products.hpp"
#include "devices/cuda/graph_products.hpp"

#include <pnmf/model/problem.hpp>

namespace pnmf::cuda {

/// X, the graphs and the scales of a problem, copied to the device.
template <class Real>
void take_data(const DataMatrix<Real>& X, DeviceData<Real>& data);
template <class Real>
void take_graph(const Problem<Real>& problem, DeviceGraph<Real>& graph);
/// The columns of some cells of a graph that is none of neighbours, for products with H of all cells.
template <class Real>
void take_graph_of_cells(const Problem<Real>& problem, const BlockSlab& slab, DeviceGraph<Real>& graph);
/// The problem's scales, which `take_graph` takes too.
template <class Real>
void take_scales(const Problem<Real>& problem, DeviceGraph<Real>& graph);
/// One of the problem's scales in place of all, for a graph that was taken.
template <class Real>
void take_scale(const Problem<Real>& problem, Index t, DeviceGraph<Real>& graph);

/// Bytes of X and of the graphs on the device.
double bytes_of_data(std::int64_t nonzeros, bool dense, Index features, Index cells, Index bytes_of_number);
double bytes_of_graph(std::int64_t entries, bool table, Index cells, Index bytes_of_number);

} // namespace pnmf::cuda
