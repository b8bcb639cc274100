#pragma once

#include <pnmf/io/h5ad.hpp>

#include <pybind11/pybind11.h>

namespace pnmf::python {

/// What a file would hold beside X and names, as AnnData holds it: a dictionary with the dictionaries obs,
/// obsm, varm and uns.
pybind11::dict anndata_parts(const AnnDataFile& file);

/// The other way: a result as AnnData holds it. `parts` has the dictionary "uns" of the result alone, and may
/// have "cells" and "features", lists of names, "embedding", the n × d array that AnnData keeps in obsm, and
/// "basis", the d × p array of the recommended scale for these features.
/// Arrays of three axes are not copied: `parts` must outlive the file. Entries of other kinds are left out.
AnnDataFile anndata_file(const pybind11::dict& parts);

} // namespace pnmf::python
