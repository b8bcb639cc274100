#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pnmf {

/// Writes a file whole or not at all; gzip when its name ends in .gz.
void write_text(const std::filesystem::path& path, std::string_view text);

struct TextFile {
    std::filesystem::path path;
    std::string text;
};

/// The same for files that belong together: all of them take their names, or none does.
void write_texts(const std::vector<TextFile>& files);

} // namespace pnmf
