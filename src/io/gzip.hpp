#pragma once

#include <string>
#include <string_view>

namespace pnmf::io {

/// One gzip member that holds the bytes. No time stamp, so equal bytes give equal members.
/// Level 0 stores them: the length of the member depends on theirs alone.
std::string gzip_member(std::string_view bytes, int level);

} // namespace pnmf::io
