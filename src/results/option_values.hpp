#pragma once

#include <pnmf/names.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <type_traits>

namespace pnmf::results {

using Json = nlohmann::ordered_json;

/// The value of an option as JSON: an enumeration by its name, what is not set as null.
template <class Value>
Json to_json(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        return std::string(name_of(value));
    } else {
        return value;
    }
}

template <class Value>
Json to_json(const std::optional<Value>& value) {
    return value ? to_json(*value) : Json(nullptr);
}

} // namespace pnmf::results
