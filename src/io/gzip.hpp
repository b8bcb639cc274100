#pragma once

#include <string>
#include <string_view>

namespace pnmf::io {

/// One gzip member that holds the bytes. No time stamp, so equal bytes give equal members.
/// Level 0 stores them: the length of the member depends on theirs alone.
///
/// zlib has no call for this: `compress2` makes its own format, and `gzwrite` writes to a file, on one
/// thread.
std::string gzip_member(std::string_view bytes, int level);

} // namespace pnmf::io
