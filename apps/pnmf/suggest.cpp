#include "suggest.hpp"

#include "command_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pnmf::cli {
namespace {

std::string without_dashes(const std::string& word) {
    const std::size_t first = word.find_first_not_of('-');
    return first == std::string::npos ? std::string{} : word.substr(first);
}

/// The long names of the options of a verb.
std::vector<std::string> names_of_flags(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::Option* option : flags_of(app)) {
        const auto& of_one = option->get_lnames();
        names.insert(names.end(), of_one.begin(), of_one.end());
    }
    return names;
}

std::vector<std::string> names_of_verbs(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* verb : verbs_below(app)) {
        names.push_back(verb->get_name());
    }
    return names;
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1, 0));
    for (std::size_t i = 0; i <= a.size(); ++i) {
        for (std::size_t j = 0; j <= b.size(); ++j) {
            if (i == 0 || j == 0) {
                cost[i][j] = i + j;
                continue;
            }
            const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
            }
        }
    }
    return cost[a.size()][b.size()];
}

std::optional<std::string> nearest_word(const std::string& given, const std::vector<std::string>& words) {
    if (given.empty()) {
        return std::nullopt;
    }
    std::optional<std::string> nearest;
    std::size_t distance = std::max<std::size_t>(1, (given.size() + 1) / 3) + 1;
    for (const std::string& word : words) {
        const bool begun = given.size() >= 3 && word.starts_with(given);
        if (const std::size_t one = begun ? 0 : edit_distance(given, word); one < distance) {
            distance = one;
            nearest = word;
        }
    }
    return nearest;
}

std::string suggestion(const CLI::App& app) {
    const CLI::App* at = &app;
    for (;;) {
        for (const std::string& word : at->remaining()) {
            const std::string given = word.substr(0, word.find('='));
            const bool flag = given.starts_with('-');
            const auto near =
                nearest_word(without_dashes(given), flag ? names_of_flags(*at) : names_of_verbs(*at));
            if (near) {
                return fmt::format("{}: did you mean {}{}?", given, flag ? "--" : "", *near);
            }
        }
        if (at->get_subcommands().empty()) {
            return {};
        }
        at = at->get_subcommands().front();
    }
}

} // namespace pnmf::cli
