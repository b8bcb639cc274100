#pragma once

#include <pnmf/names.hpp>

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

} // namespace pnmf
