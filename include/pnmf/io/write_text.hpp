#pragma once

#include <filesystem>
#include <string_view>

namespace pnmf {

/// Writes a file whole or not at all; gzip when its name ends in .gz.
void write_text(const std::filesystem::path& path, std::string_view text);

} // namespace pnmf
