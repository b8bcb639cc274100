#pragma once

#include <pnmf/error.hpp>

#include <string_view>

namespace pnmf::cli {

/// The flag that does what the library's message asks for, in a few words; empty where there is none.
std::string_view hint_for(Remedy remedy);

} // namespace pnmf::cli
