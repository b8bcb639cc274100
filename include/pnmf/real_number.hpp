#pragma once

#include <concepts>

namespace pnmf {

/// The numbers that the library computes with. It is compiled for these two; others are refused where they
/// are asked for, and not by the linker.
template <class Type>
concept RealNumber = std::same_as<Type, float> || std::same_as<Type, double>;

} // namespace pnmf
