#include "command_tree.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <memory>

namespace pnmf::cli {
namespace {

/// Verbs and flags that may follow a command.
std::vector<std::string> next_words(const CLI::App& app) {
    std::vector<std::string> words;
    for (const CLI::App* verb : verbs_below(app)) {
        words.push_back(verb->get_name());
    }
    for (const CLI::Option* option : flags_of(app)) {
        for (const std::string& name : typed_names(*option)) {
            words.push_back(name);
        }
    }
    return words;
}

/// The cases for the values of flags: words where the type names some, files and folders elsewhere.
std::string bash_values(const Command& command) {
    std::string text;
    for (const CLI::Option* option : flags_of(*command.app)) {
        if (!takes_value(*option)) {
            continue;
        }
        const std::vector<std::string> words = words_for(*option);
        for (const std::string& name : typed_names(*option)) {
            text += fmt::format("        '{} {}') values='{}'; files={} ;;\n", joined(command), name,
                                fmt::join(words, " "), words.empty() ? 1 : 0);
        }
    }
    return text;
}

std::string bash_completion(const CLI::App& program) {
    std::string verbs;
    std::string values;
    std::string next;
    for (const Command& command : commands_of(program)) {
        const std::string words = joined(command);
        if (command.words.size() > 1) {
            verbs += fmt::format("{}'{}'", verbs.empty() ? "" : "|", words);
        }
        values += bash_values(command);
        // Where a verb must follow, a file cannot.
        next +=
            fmt::format("        '{}') values='{}'; files={} ;;\n", words,
                        fmt::join(next_words(*command.app), " "), verbs_below(*command.app).empty() ? 1 : 0);
    }
    return fmt::format(R"(# Completion of pnmf for bash; `pnmf completion bash` prints it.
_pnmf() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} command=pnmf values='' files=1 i
    local before=${{COMP_WORDS[COMP_CWORD - 1]}}
    for ((i = 1; i < COMP_CWORD; ++i)); do
        case "$command ${{COMP_WORDS[i]}}" in
        {}) command="$command ${{COMP_WORDS[i]}}" ;;
        esac
    done
    COMPREPLY=()
    case "$command $before" in
{}    *)
        case "$command" in
{}        esac
        ;;
    esac
    [ -z "$values" ] || mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
    if [ "$files" = 1 ] && [[ $current != -* ]]; then
        mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$current")
    fi
}}
complete -o filenames -F _pnmf pnmf
)",
                       verbs, values, next);
}

/// A text inside '…' and a description of _arguments: brackets and colons have a meaning there.
std::string zsh_text(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '\'') {
            result += "'\\''";
        } else if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') {
            result += std::string("\\") + letter;
        } else {
            result += letter;
        }
    }
    return result;
}

std::string zsh_action(const CLI::Option& option) {
    const std::vector<std::string> words = words_for(option);
    return words.empty() ? std::string("_files") : fmt::format("({})", fmt::join(words, " "));
}

std::string zsh_arguments(const CLI::App& app) {
    std::string text;
    for (const CLI::Option* option : flags_of(app)) {
        const std::string help = zsh_text(option->get_description());
        for (const std::string& name : typed_names(*option)) {
            text += fmt::format("        '{}[{}]{}' \\\n", name, help,
                                takes_value(*option) ? ":value:" + zsh_action(*option) : std::string{});
        }
    }
    return text;
}

/// A function for each command; one with verbs below it calls theirs.
std::string zsh_function(const Command& command) {
    const std::string name = "_" + joined(command, "_");
    const auto verbs = verbs_below(*command.app);
    if (verbs.empty()) {
        return fmt::format("{}() {{\n    _arguments \\\n{}        '*:file:_files'\n}}\n\n", name,
                           zsh_arguments(*command.app));
    }
    std::string described;
    for (const CLI::App* verb : verbs) {
        described += fmt::format("        '{}:{}'\n", verb->get_name(), zsh_text(verb->get_description()));
    }
    return fmt::format(R"({0}() {{
    local line state
    local -a verbs=(
{1}    )
    _arguments -C \
{2}        '1:verb:->verb' '*::argument:->argument'
    case $state in
    verb) _describe verb verbs ;;
    argument) (( $+functions[{0}_$line[1]] )) && {0}_$line[1] ;;
    esac
}}

)",
                       name, described, zsh_arguments(*command.app));
}

std::string zsh_completion(const CLI::App& program) {
    std::string text = "#compdef pnmf\n# Completion of pnmf for zsh; `pnmf completion zsh` prints it.\n\n";
    for (const Command& command : commands_of(program)) {
        text += zsh_function(command);
    }
    // Loaded by its name the file is the body of the function; read by `source` it registers it.
    return text +
           "if [ \"$funcstack[1]\" = _pnmf ]; then\n    _pnmf \"$@\"\nelse\n    compdef _pnmf pnmf\nfi\n";
}

} // namespace

void add_completion(CLI::App& app) {
    CLI::App* verb = app.add_subcommand("completion", "Print the completion script for a shell");
    verb->group(""); // for packages, not for everyday use
    auto shell = std::make_shared<std::string>();
    verb->add_option("SHELL", *shell, "The shell")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}).description(""))
        ->type_name("bash|zsh");
    verb->callback(
        [&app, shell] { fmt::print("{}", *shell == "bash" ? bash_completion(app) : zsh_completion(app)); });
}

} // namespace pnmf::cli
