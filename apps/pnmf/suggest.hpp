#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a mistyped word was meant to be.
namespace pnmf::cli {

/// Letters to insert, delete, replace, or swap with their neighbour, each letter touched once, to make `b`
/// of `a` (Damerau and Levenshtein; optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The word that is nearest to the given one: one that begins with it, else one that differs in about a third
/// of its letters at most. Nothing where none is near.
std::optional<std::string> nearest_word(const std::string& given, const std::vector<std::string>& words);

/// "--rnk: did you mean --rank?" for the first word of the command line that the program does not know and
/// that has a near one; empty where there is none. `app` is the program, after parsing failed.
std::string suggestion(const CLI::App& app);

} // namespace pnmf::cli
