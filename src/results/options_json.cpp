#include "results/option_values.hpp"

#include <pnmf/error.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace pnmf {
namespace {

using results::Json;
using results::to_json;

/// Options that version 0.1 had and that made no difference to what is stored.
constexpr std::array retired{"order"};

template <class Value>
void set(Value& field, const Json& json, const char* name) {
    if constexpr (std::is_enum_v<Value>) {
        const std::string text = json.is_string() ? json.get<std::string>() : json.dump();
        const std::optional<Value> known = value_named<Value>(text);
        require(known.has_value(), "{} is '{}', which is none of {}", name, text, joined_names<Value>(", "));
        field = *known;
    } else {
        try {
            field = json.get<Value>();
        } catch (const Json::exception&) {
            fail("{} is {}, which is of another kind than the option", name, json.dump());
        }
    }
}

template <class Value>
void set(std::optional<Value>& field, const Json& json, const char* name) {
    if (json.is_null()) {
        field.reset();
    } else {
        Value value{};
        set(value, json, name);
        field = std::move(value);
    }
}

} // namespace

std::string options_json(const BaselineFitOptions& options) {
    Json json;
    json["method"] = name_of(options.graph.method);
    visit_baseline_options(
        options, [&](const char* name, const auto& value, const char*) { json[name] = to_json(value); });
    return json.dump();
}

std::string options_json(const FitOptions& options) {
    Json json;
    visit_options(options,
                  [&](const char* name, const auto& value, const char*) { json[name] = to_json(value); });
    return json.dump();
}

FitOptions fit_options_from_json(const std::string& text) {
    FitOptions options;
    std::set<std::string> known;
    const Json json = Json::parse(text, nullptr, false);
    require(json.is_object(), "the options of the fit cannot be understood: the text is cut off or damaged");
    visit_options(options, [&](const char* name, auto& field, const char*) {
        known.insert(name);
        if (json.contains(name)) {
            set(field, json.at(name), name);
        }
    });
    for (const auto& [name, value] : json.items()) {
        const bool gone = std::find(retired.begin(), retired.end(), name) != retired.end();
        require(gone || known.contains(name), "'{}' is no option that this version of pnmf knows", name);
    }
    options.solver.device = Device::automatic; // where a fit was made binds nobody who reads it
    options.out_of_core.reset();
    return options;
}

} // namespace pnmf
