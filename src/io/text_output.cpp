#include "io/text_output.hpp"

#include "io/gzip.hpp"

#include <pnmf/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace pnmf::io {

namespace {

constexpr std::size_t enough = std::size_t{1} << 20U;

std::string lower_name(const std::filesystem::path& path) {
    std::string name = path.filename().string();
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

} // namespace

TextOutput::TextOutput(const std::filesystem::path& path)
    : file_(path), compressed_(lower_name(path).ends_with(".gz")) {}

void TextOutput::pass_on() {
    if (text_.size() >= enough) {
        hand_over();
    }
}

void TextOutput::hand_over() {
    file_.write(compressed_ ? gzip_member(text_, 6) : text_);
    text_.clear();
}

void TextOutput::commit() {
    hand_over();
    file_.commit();
}

char delimiter_for(const std::filesystem::path& path) {
    std::string name = lower_name(path);
    if (name.ends_with(".gz")) {
        name.resize(name.size() - 3);
    }
    return name.ends_with(".csv") ? ',' : '\t';
}

void append_field(std::string& text, std::string_view field, char delimiter) {
    const bool plain = !field.empty() && field.find_first_of("\"\r\n\t,;") == std::string_view::npos &&
                       field.find(delimiter) == std::string_view::npos && field.front() != '#' &&
                       field.front() != ' ' && field.front() != '\xef';
    if (plain) {
        text += field;
        return;
    }
    text += '"';
    for (const char c : field) {
        text += c;
        if (c == '"') {
            text += '"';
        }
    }
    text += '"';
}

void append_number(std::string& text, double value) {
    fmt::format_to(std::back_inserter(text), "{}", value);
}

} // namespace pnmf::io
