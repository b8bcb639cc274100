#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <string>

namespace pnmf::report {

/// What the page does with one section: base64 back to bytes, inflate.
inline std::string unpacked(const std::string& html, const std::string& id) {
    const std::string open = "<script type=\"application/octet-stream\" id=\"" + id + "\">";
    const std::size_t from = html.find(open);
    if (from == std::string::npos) {
        return {};
    }
    const std::string text =
        html.substr(from + open.size(), html.find("</script>", from) - from - open.size());
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t word = 0;
    int bits = 0;
    for (const char letter : text) {
        if (letter == '=') {
            break;
        }
        word = (word << 6U) | static_cast<std::uint32_t>(letters.find(letter));
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes += static_cast<char>((word >> static_cast<unsigned>(bits)) & 255U);
        }
    }
    std::string plain(std::size_t{1} << 23U, '\0');
    uLongf length = plain.size();
    EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(plain.data()), &length,
                         reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()),
              Z_OK);
    plain.resize(length);
    return plain;
}

} // namespace pnmf::report
