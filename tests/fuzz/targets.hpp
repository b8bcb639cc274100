#pragma once

#include <pnmf/io/dataset.hpp>

#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

/// Readers that are given bytes nobody wrote on purpose.
namespace pnmf::fuzz {

struct Target {
    std::string_view name;
    /// Reads the bytes as the target's format. Returning and InputError are both right; whatever else happens
    /// is what we look for.
    void (*read)(std::string_view bytes);
};

std::span<const Target> targets();

/// Reads, and takes the errors that are right. True when the bytes were accepted.
bool accepts(const Target& target, std::string_view bytes);

/// What the reader of a target finds in a file; nothing when it refuses it or when the target reads no
/// values.
std::optional<Dataset> values_in(const Target& target, const std::filesystem::path& file);

} // namespace pnmf::fuzz
