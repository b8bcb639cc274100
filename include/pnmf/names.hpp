#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pnmf {

/// The names of an enumeration's values, as users write and read them: the one list of them.
///
/// Specialised beside each enumeration; flags, keyword arguments, JSON and messages are made from it:
///
///     template <>
///     struct EnumNames<Metric> {
///         static constexpr auto values =
///             name_table<Metric>({{"euclidean", Metric::euclidean}, {"cosine", Metric::cosine}});
///     };
template <class Enum>
struct EnumNames;

template <class Enum, std::size_t size>
constexpr std::array<std::pair<std::string_view, Enum>, size>
name_table(const std::pair<std::string_view, Enum> (&rows)[size]) {
    return std::to_array(rows);
}

/// The name of a value; empty when the table has none.
template <class Enum>
requires std::is_enum_v<Enum>
constexpr std::string_view name_of(Enum value) {
    for (const auto& [name, known] : EnumNames<Enum>::values) {
        if (known == value) {
            return name;
        }
    }
    return "";
}

/// The value of that name; none when there is no such name.
template <class Enum>
constexpr std::optional<Enum> value_named(std::string_view wanted) {
    for (const auto& [name, value] : EnumNames<Enum>::values) {
        if (name == wanted) {
            return value;
        }
    }
    return std::nullopt;
}

/// All names, in the order of the table.
template <class Enum>
std::string joined_names(std::string_view between) {
    std::string names;
    for (const auto& row : EnumNames<Enum>::values) {
        names += names.empty() ? "" : between;
        names += row.first;
    }
    return names;
}

} // namespace pnmf
