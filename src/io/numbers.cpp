#include "io/numbers.hpp"

#include <fast_float/fast_float.h>

namespace pnmf::io {

std::string_view trim(std::string_view text) {
    constexpr std::string_view space = " \t\r";
    const std::size_t first = text.find_first_not_of(space);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

bool parse_number(std::string_view text, double& value) {
    text = trim(text);
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') {
        text.remove_prefix(1);
    }
    const char* const end = text.data() + text.size();
    const auto [stop, error] = fast_float::from_chars(text.data(), end, value);
    return !text.empty() && error == std::errc() && stop == end;
}

std::string_view word_at(std::string_view text, std::size_t longest) {
    text = text.substr(0, text.find_first_of(" \t\r\n"));
    return text.substr(0, longest);
}

bool NumberCursor::general(double& value) {
    const char* begin = at_;
    if (*begin == '+' && begin[1] != '-') {
        ++begin;
    }
    const auto [stop, error] = fast_float::from_chars(begin, end_, value);
    if (error != std::errc()) {
        return false;
    }
    at_ = stop;
    return at_space();
}

} // namespace pnmf::io
