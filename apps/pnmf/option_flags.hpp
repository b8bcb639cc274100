#pragma once

#include <pnmf/names.hpp>
#include <pnmf/parallel.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

/// Flags made from a list of options (`visit_options`, `visit_baseline_options`).
namespace pnmf::cli {

template <class Value>
struct Unwrapped {
    using Type = Value;
};
template <class Value>
struct Unwrapped<std::optional<Value>> {
    using Type = Value;
};

/// A number, at least 0. CLI11 itself takes "-1" for an unsigned number, and anything for NaN.
inline std::string problem_of_number(const std::string& text) {
    double number = -1.0;
    return CLI::detail::lexical_cast(text, number) && std::isfinite(number) && number >= 0.0
               ? std::string()
               : "must be a number, at least 0, got " + text;
}
inline CLI::Validator not_negative() {
    return {problem_of_number, ""};
}

/// A whole number, at least `least`.
inline CLI::Validator whole_number_from(std::int64_t least) {
    return {[least](const std::string& text) {
                std::int64_t number = 0;
                return CLI::detail::lexical_cast(text, number) && number >= least
                           ? std::string()
                           : "must be a whole number, at least " + std::to_string(least) + ", got " + text;
            },
            ""};
}

template <class Enum>
CLI::Option* add_choice(CLI::App& verb, const std::string& flag, const std::function<void(Enum)>& set,
                        const std::string& help) {
    std::map<std::string, Enum> choices;
    for (const auto& [name, value] : EnumNames<Enum>::values) {
        choices[std::string(name)] = value;
    }
    return verb
        .add_option_function<std::string>(
            flag, [set, choices](const std::string& name) { set(choices.at(name)); }, help)
        ->check(CLI::IsMember(choices).description(""))
        ->type_name(joined_names<Enum>("|"));
}

/// The flag --name for one option; `field` must outlive the verb's callback. Its value now is the default.
template <class Field>
void add_flag_for(CLI::App& verb, const char* name, Field& field, const char* help) {
    using Value = typename Unwrapped<Field>::Type;
    const std::string flag = std::string("--") + name;
    if constexpr (std::is_enum_v<Value>) {
        auto* option = add_choice<Value>(
            verb, flag, [&field](Value value) { field = value; }, help);
        if constexpr (std::is_same_v<Field, Value>) {
            option->default_str(std::string(name_of(field)));
        }
    } else if constexpr (std::is_same_v<Value, std::vector<double>>) {
        verb.add_option(flag, field, help)
            ->delimiter(',')
            ->allow_extra_args(false)
            ->type_name("W1,W2,...")
            ->capture_default_str();
    } else if constexpr (std::is_same_v<Field, Value>) {
        CLI::Option* option = verb.add_option(flag, field, help)->capture_default_str();
        if constexpr (std::is_unsigned_v<Value> && !std::is_same_v<Value, bool>) {
            option->check(not_negative());
        }
    } else if constexpr (std::is_same_v<Value, bool>) { // --name or --name=false
        verb.add_flag_function(
            flag, [&field](std::int64_t count) { field = count > 0; }, help);
    } else {
        verb.add_option_function<Value>(
            flag, [&field](const Value& value) { field = value; }, help);
    }
}

/// --threads, which takes effect where it is read.
inline void add_threads_flag(CLI::App& verb) {
    verb.add_option_function<int>(
            "--threads", [](int count) { set_thread_count(count); },
            "Threads to use; results do not depend on it [OMP_NUM_THREADS, or all processors]")
        ->check(whole_number_from(1));
}

inline void add_json_flag(CLI::App& verb, bool& json) {
    verb.add_flag("--json", json, "Print the results as JSON, for other programs");
}

} // namespace pnmf::cli
