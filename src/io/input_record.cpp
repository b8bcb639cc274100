#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/preparation.hpp>

#include <nlohmann/json.hpp>

namespace pnmf {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& json, const char* name, const std::optional<std::string>& field) {
    if (field) {
        json[name] = *field;
    }
}
void put(Json& json, const char* name, const std::optional<CellAxis>& field) {
    if (field) {
        json[name] = name_of(*field);
    }
}

void take(const Json& json, const char* name, std::optional<std::string>& field) {
    if (json.contains(name)) {
        field = json.at(name).get<std::string>();
    }
}
void take(const Json& json, const char* name, std::optional<CellAxis>& field) {
    if (json.contains(name)) {
        const auto axis = json.at(name).get<std::string>();
        field = value_named<CellAxis>(axis);
        require(field.has_value(), "cells are {}, got {}", joined_names<CellAxis>(" or "), axis);
    }
}

PreparationStep step_from(const Json& json) {
    PreparationStep step{.name = json.at("name").get<std::string>()};
    require(is_preparation_step(step.name), "'{}' is no step of the preparation that this version knows",
            step.name);
    if (json.contains("names")) {
        step.names = json.at("names").get<std::vector<std::string>>();
    }
    step.count = json.value("count", 0.0);
    return step;
}

} // namespace

const PreparationStep* InputRecord::step(const std::string& name) const {
    for (const PreparationStep& one : steps) {
        if (one.name == name) {
            return &one;
        }
    }
    return nullptr;
}

std::string to_json(const InputRecord& record) {
    Json json = Json::object();
    if (!record.format.empty()) {
        json["format"] = record.format;
    }
    visit_reading(record, [&](const char* name, const auto& field) { put(json, name, field); });
    json["steps"] = Json::array();
    for (const PreparationStep& step : record.steps) {
        Json one{{"name", step.name}};
        if (!step.names.empty()) {
            one["names"] = step.names;
        }
        if (step.count != 0.0) {
            one["count"] = step.count;
        }
        json["steps"].push_back(std::move(one));
    }
    // Names are taken as bytes from files of any encoding: what is not text must not end a run.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

InputRecord input_record_from_json(const std::string& text) {
    try {
        const Json json = Json::parse(text);
        InputRecord record{.format = json.value("format", ""), .known = true};
        visit_reading(record, [&](const char* name, auto& field) { take(json, name, field); });
        for (const Json& step : json.at("steps")) {
            record.steps.push_back(step_from(step));
        }
        return record;
    } catch (const Json::exception&) { // cut off, or an entry is missing or of another kind
        fail("the record of the input cannot be understood: the text is damaged");
    }
}

} // namespace pnmf
