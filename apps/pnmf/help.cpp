#include "help.hpp"

#include <pnmf/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

namespace pnmf::cli {
namespace {

constexpr std::size_t columns = 80;

/// Words that a reader of the help may not know, each in one sentence.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> glossary{{
    {"scale", "a distance; cells nearer than that are joined. Scale 1 is the finest"},
    {"embedding", "what describes the cells at one scale: the matrix H"},
    {"program", "a group of genes that go up and down together: a column of the matrix W"},
    {"rank", "the number of programs"},
    {"component", "a connected group of cells in the graph of one scale"},
    {"preset", "defaults for a kind of data"},
    {"sweep", "one pass of the solver over all scales"},
    {"KKT residual", "how far a result is from one that no small change improves; 0: it is there"},
    {"recommended scale", "the scale whose clusters are recommended; chosen without labels"},
    {"published protocol", "what the code of a method's authors does: a fixed way, without a KKT residual"},
}};

} // namespace

std::string in_lines(std::string_view text, std::size_t width) {
    std::string result;
    std::size_t used = 0;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        result += result.empty() ? "" : "\n";
        used = 0;
        std::istringstream words(line);
        for (std::string word; words >> word;) {
            const bool fits = used == 0 || used + 1 + word.size() <= width;
            result += used == 0 ? "" : fits ? " " : "\n";
            used = (fits && used > 0 ? used + 1 : 0) + word.size();
            result += word;
        }
    }
    return result;
}

std::string capitalised(std::string text) {
    if (text.find(':') > text.find(' ') && text.find(',') > text.find(' ')) {
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    }
    return text;
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
    return in_lines(option->get_description(), columns - column_width_);
}

std::string HelpFormatter::make_subcommand(const CLI::App* verb) const {
    std::ostringstream out;
    CLI::detail::format_help(out, verb->get_display_name(true),
                             in_lines(verb->get_description(), columns - column_width_), column_width_);
    return out.str();
}

std::string HelpFormatter::make_description(const CLI::App* app) const {
    return in_lines(CLI::Formatter::make_description(app), columns) + "\n";
}

std::string meaning_of(std::initializer_list<std::string_view> words) {
    std::ostringstream out;
    out << "Words:\n";
    const CLI::Formatter plain;
    for (const std::string_view word : words) {
        const auto* found = std::find_if(glossary.begin(), glossary.end(),
                                         [&](const auto& entry) { return entry.first == word; });
        require(found != glossary.end(), "no meaning of '{}'", word);
        CLI::detail::format_help(out, std::string(word),
                                 in_lines(found->second, columns - plain.get_column_width()),
                                 plain.get_column_width());
    }
    out << "  More words are in the glossary, docs/glossary.md.";
    return out.str();
}

void explain_words(CLI::App& program) {
    const auto explain = [&](const char* verb, std::initializer_list<std::string_view> words) {
        program.get_subcommand(verb)->footer(meaning_of(words));
    };
    explain("fit", {"scale", "embedding", "program", "preset", "component", "sweep", "KKT residual",
                    "published protocol"});
    explain("check", {"scale", "embedding"});
    explain("paths", {"scale"});
    explain("programs", {"program", "scale"});
    explain("rank", {"rank", "program", "preset"});
    explain("scales", {"scale", "component"});
    explain("score", {"scale", "embedding", "recommended scale"});
    explain("transform", {"scale", "embedding", "program", "recommended scale"});
    for (CLI::App* method : program.get_subcommand("baseline")->get_subcommands(nullptr)) {
        method->footer(meaning_of({"embedding", "KKT residual", "published protocol"}));
    }
}

} // namespace pnmf::cli
