#include "io/checksum.hpp"

#include <pnmf/parallel.hpp>

#include <zlib.h>

#include <algorithm>
#include <vector>

namespace pnmf::io {

std::uint64_t add_to_checksum(std::uint64_t sum, const void* bytes, std::size_t size) {
    constexpr std::size_t block = std::size_t{1} << 22;
    const auto* const from = static_cast<const Bytef*>(bytes);
    if (size <= block) {
        return size > 0 ? crc32_z(sum, from, size) : sum;
    }
    std::vector<std::uint64_t> sums((size + block - 1) / block);
    const auto size_of = [&](std::size_t b) { return std::min(block, size - b * block); };
    parallel_for(static_cast<Index>(sums.size()), [&](Index b) {
        const auto at = static_cast<std::size_t>(b);
        sums[at] = crc32_z(crc32_z(0, nullptr, 0), from + at * block, size_of(at));
    });
    for (std::size_t b = 0; b < sums.size(); ++b) {
        sum = crc32_combine(sum, sums[b], static_cast<z_off_t>(size_of(b)));
    }
    return sum;
}

std::uint64_t joined_checksum(std::uint64_t first, std::uint64_t second, std::size_t size) {
    return crc32_combine(first, second, static_cast<z_off_t>(size));
}

} // namespace pnmf::io
