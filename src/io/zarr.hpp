#pragma once

#include <filesystem>

/// Zarr stores: folders that hold what an HDF5 file holds, a folder for each group and array.
///
/// This is the one place that knows them. A store is written once into a temporary HDF5 file, group by group
/// and array by array with their attributes, and the readers of HDF5 files read that.
namespace pnmf::zarr {

/// Whether a folder is a Zarr store, of format 2 or 3.
bool is_store(const std::filesystem::path& path);

/// The file to read in place of `path`: the HDF5 file that was made of a Zarr store, else `path` itself.
///
/// The file lies in the folder for temporary files, until another store is read or the process ends. It is
/// made anew when something in the store has changed. InputError names the place in the store that is damaged
/// or of a kind that is not read; sizes are checked before memory is taken. SystemError when there is no
/// space.
std::filesystem::path hdf5_of(const std::filesystem::path& path);

} // namespace pnmf::zarr
