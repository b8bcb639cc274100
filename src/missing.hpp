#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace pnmf {

/// Whether a text is what files and programs write where a value is missing: nothing, "NA", "NaN", "None", in
/// any case, with spaces around it or not.
inline bool is_missing(std::string_view text) {
    constexpr std::string_view space = " \t\r";
    const std::size_t first = std::min(text.find_first_not_of(space), text.size());
    text = text.substr(first, text.find_last_not_of(space) - first + 1);
    static constexpr std::array<std::string_view, 7> words{"", "nan", "na", "n/a", "<na>", "none", "null"};
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                          [](unsigned char a, char b) { return std::tolower(a) == b; });
    });
}

} // namespace pnmf
