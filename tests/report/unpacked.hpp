#pragma once

#include "report/payload.hpp"

#include <pnmf/types.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

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

/// What describes a result of the page.
inline Json meta_of(const std::string& html, int number = 0) {
    const std::string core = unpacked(html, "pnmf-" + std::to_string(number) + "-core");
    std::uint32_t length = 0;
    std::memcpy(&length, core.data(), sizeof length);
    return Json::parse(core.substr(sizeof length, length));
}

/// An array of a section, as the page reads it.
template <class Value>
std::vector<Value> array_of(const std::string& html, const Json& meta, const char* name) {
    const Json& place = meta["arrays"][name];
    const std::string section = unpacked(html, "pnmf-0-" + place["section"].get<std::string>());
    std::vector<Value> values(place["count"].get<std::size_t>());
    std::uint32_t description = 0; // stands before the arrays of the section `core`
    if (place["section"] == "core") {
        std::memcpy(&description, section.data(), sizeof description);
        description = (4 + description + 7) / 8 * 8;
    }
    std::memcpy(values.data(), section.data() + description + place["offset"].get<std::size_t>(),
                values.size() * sizeof(Value));
    return values;
}

/// X as a page has it, genes in the order of `meta["genes"]`.
inline Matrix expression_of(const std::string& html, const Json& meta) {
    const auto shares = array_of<std::uint8_t>(html, meta, "expression");
    const auto steps = array_of<std::uint8_t>(html, meta, "expression_steps");
    const auto expressing = array_of<std::int32_t>(html, meta, "expression_cells");
    const auto largest = array_of<float>(html, meta, "expression_largest");
    Matrix X = Matrix::Zero(std::ssize(expressing), meta["cells"].get<Index>());
    std::size_t entry = 0;
    std::size_t byte = 0;
    for (Index g = 0; g < X.rows(); ++g) {
        Index cell = -1;
        for (std::int32_t left = expressing[static_cast<std::size_t>(g)]; left > 0; ++byte) {
            cell += steps[byte] == 0 ? 255 : steps[byte];
            if (steps[byte] > 0) {
                X(g, cell) =
                    shares[entry++] / 255.0 * static_cast<double>(largest[static_cast<std::size_t>(g)]);
                --left;
            }
        }
    }
    EXPECT_EQ(entry, shares.size());
    EXPECT_EQ(byte, steps.size());
    return X;
}

} // namespace pnmf::report
