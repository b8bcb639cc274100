#pragma once

#include <pnmf/types.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pnmf {

/// The parts of a text between separators, at least one.
inline std::vector<std::string> split_at(std::string_view text, char separator) {
    std::vector<std::string> parts{""};
    for (const char letter : text) {
        if (letter == separator) {
            parts.emplace_back();
        } else {
            parts.back() += letter;
        }
    }
    return parts;
}

/// The number that all of the text is; nothing where it is something else.
inline std::optional<Index> whole_number(std::string_view text) {
    Index number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

} // namespace pnmf
