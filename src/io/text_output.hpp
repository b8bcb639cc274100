#pragma once

#include "files/atomic_file.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace pnmf::io {

/// Text on its way to an `AtomicFile`, compressed, as gzip members one after the other, when the name ends in
/// .gz.
class TextOutput {
  public:
    explicit TextOutput(const std::filesystem::path& path);

    /// The text not yet handed on; append to it, then call `pass_on` now and then.
    std::string& text() { return text_; }
    /// Hands the text on when enough of it has gathered.
    void pass_on();
    void commit();

  private:
    void hand_over();

    AtomicFile file_;
    std::string text_;
    bool compressed_ = false;
};

/// ',' for .csv and .csv.gz, tab for others.
char delimiter_for(const std::filesystem::path& path);

/// Appends a field, in quotes when it could be taken for something else without.
void append_field(std::string& text, std::string_view field, char delimiter);

/// Appends the shortest text that reads back as the same number.
void append_number(std::string& text, double value);

} // namespace pnmf::io
