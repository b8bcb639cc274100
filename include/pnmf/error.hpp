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

/// What the caller can change where input was refused. The library does not know how its caller names
/// things: the program has flags, Python has keyword arguments, and each adds its own words.
enum class Remedy {
    none,
    drop_empty_cells,    ///< leave out the cells that are zero everywhere
    choose_layer,        ///< say which matrix of the file holds what should be factorised
    choose_variable,     ///< say which variable of the file holds the data
    other_cell_axis,     ///< take the file's other axis as the cells
    same_precision,      ///< compute in the precision that the message names
    need_less_memory,    ///< fewer scales, a lower rank, fewer threads or single precision
    keep_bases,          ///< store the result with its bases
    overwrite,           ///< allow that the result is replaced
    resume_or_overwrite, ///< go on from the checkpoint, or allow that it is replaced
};

/// Wrong input about which something can be done.
class RemediableError : public InputError {
  public:
    RemediableError(const std::string& message, Remedy remedy) : InputError(message), remedy_(remedy) {}

    Remedy remedy() const { return remedy_; }

  private:
    Remedy remedy_;
};

/// `require` of error.hpp, with what the caller can do.
template <class... Parts>
void require(bool condition, Remedy remedy, fmt::format_string<Parts...> format, Parts&&... parts) {
    if (!condition) {
        throw RemediableError(fmt::format(format, std::forward<Parts>(parts)...), remedy);
    }
}

} // namespace pnmf
