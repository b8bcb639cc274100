#include "say.hpp"

#include "json_text.hpp"

#include <pnmf/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <system_error>

namespace pnmf::cli {
namespace {

/// Bytes of the character of UTF-8 that begins at `at`; 0 when none does. Characters of the range from U+0080
/// to U+009F are a terminal's commands too.
std::size_t character_at(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    const std::uint8_t first = byte(at);
    if (first < 0x80) {
        return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7f ? 0 : 1;
    }
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || at + length > text.size()) {
        return 0;
    }
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(at + i) & 0xc0U) != 0x80U) {
            return 0;
        }
    }
    return first == 0xc2 && byte(at + 1) < 0xa0 ? 0 : length;
}

bool silent = false;
bool json_lines = false; ///< every line on stderr is a JSON object

/// The beginning of a line whose end has not been said yet, in JSON mode.
std::string& unfinished() {
    static std::string text;
    return text;
}

/// A line for people as an event: what it begins with says what it is.
nlohmann::ordered_json event_of(std::string_view line) {
    const char* kind = "message";
    for (const auto& [beginning, name] : {std::pair{"warning: ", "warning"}, std::pair{"pnmf: ", "error"}}) {
        if (line.starts_with(beginning)) {
            kind = name;
            line.remove_prefix(std::string_view(beginning).size());
        }
    }
    return {{"event", kind}, {"text", line}};
}

[[noreturn]] void refuse_output(int error) {
    std::clearerr(stdout);
    if (error == EPIPE) {
        throw PipeClosed();
    }
    throw SystemError(fmt::format("stdout cannot be written: {}", std::generic_category().message(error)));
}

} // namespace

std::string visible(std::string_view text, Escapes escapes) {
    std::string result;
    result.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t length = character_at(text, at);
        if (length > 0) {
            result += text.substr(at, length);
            at += length;
        } else if (escapes == Escapes::json && text[at] == '\xc2') { // U+0080 to U+009F, by its second byte
            result += fmt::format("\\u{:04x}", static_cast<std::uint8_t>(text[at + 1]));
            at += 2;
        } else {
            const auto byte = static_cast<std::uint8_t>(text[at]);
            result +=
                escapes == Escapes::json ? fmt::format("\\u{:04x}", byte) : fmt::format("\\x{:02x}", byte);
            ++at;
        }
    }
    return result;
}

void set_silent(bool is_silent) {
    silent = is_silent;
}

void say_text(std::string_view text) noexcept {
    if (silent) {
        return;
    }
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return;
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void say_json() {
    json_lines = true;
}

bool says_json() {
    return json_lines;
}

void say_event(const nlohmann::ordered_json& event) {
    const auto replace = nlohmann::ordered_json::error_handler_t::replace;
    say_text(visible(event.dump(-1, ' ', false, replace), Escapes::json) + "\n");
}

void say_words(const std::string& text) {
    if (!json_lines) {
        say_text(visible(text));
        return;
    }
    std::string& waiting = unfinished();
    waiting += text;
    for (std::size_t end = waiting.find('\n'); end != std::string::npos; end = waiting.find('\n')) {
        if (end > 0) {
            say_event(event_of(std::string_view(waiting).substr(0, end)));
        }
        waiting.erase(0, end + 1);
    }
}

void put_text(std::string_view text) {
    if (!silent && std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
        refuse_output(errno);
    }
}

void put_json(const nlohmann::ordered_json& json) {
    put_text(visible(json_text(json), Escapes::json) + "\n");
}

void flush_output() {
    std::cout.flush(); // the help is printed there
    if (!std::cout) {
        refuse_output(errno);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        refuse_output(errno);
    }
}

void open_standard_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) < 0) {
            // The lowest number that is free. One that cannot be written for stdout: results must not vanish.
            ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

} // namespace pnmf::cli
