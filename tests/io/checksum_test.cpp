#include "files/checksum.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <vector>

namespace pnmf {
namespace {

TEST(Checksum, OfManyBytesIsThatOfZlib) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 22U,
                                   (std::size_t{1} << 22U) + 1, std::size_t{13'000'001}}) {
        std::vector<unsigned char> bytes(size);
        for (std::size_t i = 0; i < size; ++i) {
            bytes[i] = static_cast<unsigned char>(i * i + (i >> 9U));
        }
        for (const std::uint64_t before : {std::uint64_t{0}, std::uint64_t{0x1234abcd}}) {
            EXPECT_EQ(add_to_checksum(before, bytes.data(), size),
                      size > 0 ? crc32_z(before, bytes.data(), size) : before)
                << size;
        }
    }
}

} // namespace
} // namespace pnmf
