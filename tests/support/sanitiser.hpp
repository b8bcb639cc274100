#pragma once

namespace pnmf::test {

/// Whether the library and the program under test are built with a sanitiser. A test may be linked to such a
/// library without being compiled with a sanitiser itself, so its own macros do not say.
bool with_sanitiser();

} // namespace pnmf::test
