#pragma once

#include <CLI/CLI.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace pnmf::cli {

/// Help in lines of at most 80 columns; a name that is longer stays whole.
class HelpFormatter : public CLI::Formatter {
  public:
    std::string make_option_desc(const CLI::Option* option) const override;
    std::string make_subcommand(const CLI::App* verb) const override;
    std::string make_description(const CLI::App* app) const override;
};

/// The text in lines of at most `width` letters, broken between words. Breaks that it has stay.
std::string in_lines(std::string_view text, std::size_t width);

/// With a capital letter, as all texts of the help begin; names before a colon, such as those of algorithms,
/// stay as they are.
std::string capitalised(std::string text);

/// "Words:" and what each of these words means, for the end of a verb's help. docs/glossary.md has more
/// words.
std::string meaning_of(std::initializer_list<std::string_view> words);

/// Gives each verb the words that its help uses.
void explain_words(CLI::App& program);

} // namespace pnmf::cli
