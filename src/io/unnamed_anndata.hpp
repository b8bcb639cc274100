#pragma once

#include "files/atomic_file.hpp"

#include <pnmf/io/h5ad.hpp>

#include <filesystem>

namespace pnmf::io {

/// Writes an AnnData file into `target`, checked and ready to take its name together with other files.
/// Messages call it `path`.
void write_anndata(AtomicFile& target, const std::filesystem::path& path, const AnnDataFile& file,
                   const AnnDataWriteOptions& options = {});

} // namespace pnmf::io
