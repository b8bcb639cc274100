#pragma once

#include <pnmf/io/h5ad.hpp>

#include <pybind11/pybind11.h>

namespace pnmf::python {

/// What a file would hold beside X and names, as AnnData holds it: a dictionary with the dictionaries obs,
/// obsm, varm and uns.
pybind11::dict anndata_parts(const AnnDataFile& file);

} // namespace pnmf::python
