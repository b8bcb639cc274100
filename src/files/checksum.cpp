#include "files/checksum.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

/// A checksum is a polynomial over the field of two elements, modulo that of IEEE 802.3; its highest bit is
/// the constant term.
namespace pnmf {
namespace {

constexpr std::uint32_t polynomial = 0xedb88320U;

constexpr std::uint32_t times_x(std::uint32_t a) {
    return (a >> 1U) ^ ((a & 1U) != 0 ? polynomial : 0U);
}

/// table[k][b]: what the byte b adds, with k bytes behind it.
constexpr auto table = [] {
    std::array<std::array<std::uint32_t, 256>, 8> result{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t sum = byte;
        for (int bit = 0; bit < 8; ++bit) {
            sum = times_x(sum);
        }
        result[0][byte] = sum;
    }
    for (std::size_t k = 1; k < result.size(); ++k) {
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = result[k - 1][byte];
            result[k][byte] = (before >> 8U) ^ result[0][before & 255U];
        }
    }
    return result;
}();

std::uint32_t product(std::uint32_t a, std::uint32_t b) {
    std::uint32_t sum = 0;
    for (std::uint32_t bit = 1U << 31U; bit != 0; bit >>= 1U) {
        sum ^= (a & bit) != 0 ? b : 0U;
        b = times_x(b);
    }
    return sum;
}

} // namespace

std::uint32_t add_to_checksum(std::uint32_t before, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    static_assert(std::endian::native == std::endian::little);
    std::uint32_t sum = ~before;
    for (; size >= 8; bytes += 8, size -= 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, bytes, sizeof eight);
        eight ^= sum;
        const auto of_byte = [&](std::size_t k) { return table[7 - k][(eight >> (8 * k)) & 255U]; };
        sum = of_byte(0) ^ of_byte(1) ^ of_byte(2) ^ of_byte(3) ^ of_byte(4) ^ of_byte(5) ^ of_byte(6) ^
              of_byte(7);
    }
    for (; size > 0; ++bytes, --size) {
        sum = (sum >> 8U) ^ table[0][(sum ^ *bytes) & 255U];
    }
    return ~sum;
}

std::uint32_t add_by_all_threads(std::uint32_t sum, const void* bytes, std::size_t size) {
    constexpr std::size_t block = std::size_t{1} << 22;
    const auto* const from = static_cast<const unsigned char*>(bytes);
    std::vector<std::uint32_t> sums((size + block - 1) / block);
    const auto size_of = [&](std::size_t b) { return std::min(block, size - b * block); };
    parallel_for(static_cast<Index>(sums.size()), [&](Index b) {
        const auto at = static_cast<std::size_t>(b);
        sums[at] = add_to_checksum(0, from + at * block, size_of(at));
    });
    for (std::size_t b = 0; b < sums.size(); ++b) {
        sum = joined_checksum(sum, sums[b], size_of(b));
    }
    return sum;
}

std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::size_t size) {
    std::uint32_t shift = 1U << 31U; // 1, then x^(8·size)
    for (std::uint32_t power = 1U << 23U; size > 0;
         power = product(power, power), size >>= 1U) { // x^8, x^16, x^32 …
        if ((size & 1U) != 0) {
            shift = product(shift, power);
        }
    }
    return product(shift, first) ^ second;
}

} // namespace pnmf
