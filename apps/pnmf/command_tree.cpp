#include "command_tree.hpp"

#include <fmt/format.h>

#include <sstream>

namespace pnmf::cli {
namespace {

void add_commands(std::vector<Command>& commands, const Command& command) {
    commands.push_back(command);
    for (const CLI::App* verb : verbs_below(*command.app)) {
        Command below{.words = command.words, .app = verb};
        below.words.push_back(verb->get_name());
        add_commands(commands, below);
    }
}

/// A word to type, not the name of something: small letters, digits and dashes.
bool is_word(const std::string& text) {
    constexpr const char* letters = "abcdefghijklmnopqrstuvwxyz";
    return !text.empty() && std::string(letters).find(text.front()) != std::string::npos &&
           text.find_first_not_of(std::string(letters) + "0123456789-") == std::string::npos;
}

} // namespace

std::vector<Command> commands_of(const CLI::App& program) {
    std::vector<Command> commands;
    add_commands(commands, {.words = {program.get_name()}, .app = &program});
    return commands;
}

std::string joined(const Command& command, const std::string& between) {
    return fmt::format("{}", fmt::join(command.words, between));
}

std::vector<const CLI::App*> verbs_below(const CLI::App& app) {
    std::vector<const CLI::App*> verbs = app.get_subcommands(nullptr);
    std::erase_if(verbs, [](const CLI::App* verb) { return verb->get_group().empty(); });
    return verbs;
}

std::vector<const CLI::Option*> flags_of(const CLI::App& app) {
    return app.get_options(
        [](const CLI::Option* option) { return !option->get_group().empty() && option->nonpositional(); });
}

std::vector<const CLI::Option*> places_of(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

std::vector<std::string> typed_names(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) {
        names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        names.push_back("--" + name);
    }
    return names;
}

bool takes_value(const CLI::Option& option) {
    return option.get_type_size() != 0;
}

std::vector<std::string> words_for(const CLI::Option& option) {
    std::vector<std::string> words;
    std::istringstream type(option.get_type_name());
    for (std::string word; std::getline(type, word, '|');) {
        if (is_word(word)) {
            words.push_back(word);
        }
    }
    return words;
}

} // namespace pnmf::cli
