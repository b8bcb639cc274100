#pragma once

#include <filesystem>

namespace pnmf::cli {

/// Finds out, without making anything, whether the folder is there to be written or can be made. InputError
/// when something else has its name, SystemError when the machine would refuse.
void check_output_folder(const std::filesystem::path& folder);

/// Makes the folder, unless it is there, writes and removes a file in it, and checks that the disk has
/// `bytes` left. SystemError when any of it fails.
void make_output_folder(const std::filesystem::path& folder, double bytes);

} // namespace pnmf::cli
