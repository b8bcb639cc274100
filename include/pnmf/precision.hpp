#pragma once

#include <pnmf/names.hpp>

#include <concepts>
#include <type_traits>

namespace pnmf {

/// The numbers a fit computes with.
enum class Precision {
    full,   ///< double, 53 bits
    single, ///< float, 24 bits
};

template <>
struct EnumNames<Precision> {
    static constexpr auto values =
        name_table<Precision>({{"double", Precision::full}, {"float", Precision::single}});
};

template <class Real>
inline constexpr Precision precision_of = std::is_same_v<Real, float> ? Precision::single : Precision::full;

/// The numbers that the library computes with. It is compiled for these two; others are refused where they
/// are asked for, and not by the linker.
template <class Type>
concept RealNumber = std::same_as<Type, float> || std::same_as<Type, double>;

} // namespace pnmf
