#include "fit_options.hpp"

#include <pnmf/solvers/option_list.hpp>

#include <map>
#include <string>
#include <type_traits>

namespace pnmf::cli {
namespace {

template <class Value>
struct Unwrapped {
    using Type = Value;
};
template <class Value>
struct Unwrapped<std::optional<Value>> {
    using Type = Value;
};

template <class Enum>
CLI::Option* add_choice(CLI::App& verb, const std::string& flag, const std::function<void(Enum)>& set,
                        const std::string& help) {
    std::map<std::string, Enum> choices;
    std::string names;
    for (const auto& [name, value] : EnumNames<Enum>::values) {
        choices[std::string(name)] = value;
        names += (names.empty() ? "" : "|") + std::string(name);
    }
    return verb
        .add_option_function<std::string>(
            flag, [set, choices](const std::string& name) { set(choices.at(name)); }, help)
        ->check(CLI::IsMember(choices).description(""))
        ->type_name(names);
}

} // namespace

void add_fit_options(CLI::App& verb, FitOptions& options) {
    visit_options(options, [&](const char* name, auto& field, const char* help) {
        using Field = std::remove_reference_t<decltype(field)>;
        using Value = typename Unwrapped<Field>::Type;
        const std::string flag = std::string("--") + name;
        if constexpr (std::is_enum_v<Value>) {
            auto* option = add_choice<Value>(
                verb, flag, [&field](Value value) { field = value; }, help);
            if constexpr (std::is_same_v<Field, Value>) {
                option->default_str(std::string(name_of(field)));
            }
        } else if constexpr (std::is_same_v<Field, Value>) {
            verb.add_option(flag, field, help)->capture_default_str();
        } else {
            verb.add_option_function<Value>(
                flag, [&field](const Value& value) { field = value; }, help);
        }
    });
}

} // namespace pnmf::cli
