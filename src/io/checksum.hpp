#pragma once

#include <cstddef>
#include <cstdint>

namespace pnmf::io {

/// The CRC-32 of what came before, `sum`, and these bytes: that of zlib, by all threads where there are many
/// bytes.
std::uint64_t add_to_checksum(std::uint64_t sum, const void* bytes, std::size_t size);

/// That of two pieces of bytes, one behind the other, from the checksum of each; the second has `size` bytes.
std::uint64_t joined_checksum(std::uint64_t first, std::uint64_t second, std::size_t size);

} // namespace pnmf::io
