#pragma once

#include <fmt/format.h>
#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <utility>

/// The two ways out of the program. Results go to stdout by `put`, all else to stderr by `say`.
namespace pnmf::cli {

/// The same text with what a terminal would obey made visible: control characters other than the end of a
/// line and the tab, and bytes that are not UTF-8, as \x1b, in JSON as \u001b. Names in files are other
/// people's.
enum class Escapes { bytes, json };
std::string visible(std::string_view text, Escapes escapes = Escapes::bytes);

/// Whether this process says and puts nothing: of several that work together one speaks.
void set_silent(bool silent);

/// Writes to stderr, made visible. What cannot be written is lost: a log that is full or closed is no reason
/// to lose a result.
void say_text(std::string_view text) noexcept;

/// From now on every line on stderr is a JSON object with the key "event": what people would read as
/// "message", "warning" or "error" with its "text", and what `say_event` is given.
void say_json();
bool says_json();
/// One line. Only after `say_json`.
void say_event(const nlohmann::ordered_json& event);

/// Writes to stderr as people or, after `say_json`, programs read it; `text` ends with a line's end or is
/// followed by the rest of its line.
void say_words(const std::string& text);

template <class... Parts>
void say(fmt::format_string<Parts...> format, Parts&&... parts) {
    say_words(fmt::format(format, std::forward<Parts>(parts)...));
}

/// Writes to stdout, made visible. A result that cannot be written is a SystemError.
void put_text(std::string_view text);
/// The same for JSON, which has escapes of its own.
void put_json(const nlohmann::ordered_json& json);

template <class... Parts>
void put(fmt::format_string<Parts...> format, Parts&&... parts) {
    put_text(visible(fmt::format(format, std::forward<Parts>(parts)...)));
}

/// Everything that was put has left the program; SystemError when it could not.
void flush_output();

/// Nobody reads stdout any more.
struct PipeClosed {};

/// Gives the three standard streams files where the caller closed them, so that no file of ours gets their
/// numbers and then what is said to them.
void open_standard_streams();

} // namespace pnmf::cli
