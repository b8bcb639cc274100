#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace pnmf {

/// The input is wrong: a value, a file or an option. The message says what must hold, what was found, and
/// where.
class InputError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The machine refused: a full disk, a folder that cannot be written. The message names the file.
class SystemError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// Rejects the input. The one way the library says that what it was given is wrong.
///
///     fail("{}:{}: expected {} columns, got {}", file, line, expected, found);
template <class... Parts>
[[noreturn]] void fail(fmt::format_string<Parts...> format, Parts&&... parts) {
    throw InputError(fmt::format(format, std::forward<Parts>(parts)...));
}

/// `fail` unless the condition holds.
template <class... Parts>
void require(bool condition, fmt::format_string<Parts...> format, Parts&&... parts) {
    if (!condition) {
        fail(format, std::forward<Parts>(parts)...);
    }
}

} // namespace pnmf
