#pragma once

#include <cstddef>
#include <cstdint>

namespace pnmf {

/// The CRC-32 of what came before, `before`, and these bytes: that of zlib and gzip. By hand, for a program
/// that needs the numbers alone has no zlib.
std::uint32_t add_to_checksum(std::uint32_t before, const void* bytes, std::size_t size);
std::uint32_t add_by_all_threads(std::uint32_t before, const void* bytes, std::size_t size);

/// That of two pieces of bytes, one behind the other, from the checksum of each; the second has `size` bytes.
std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::size_t size);

} // namespace pnmf
