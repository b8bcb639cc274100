#include "report/payload.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>
#include <limits>
#include <new>
#include <stdexcept>

namespace pnmf::report {
namespace {

static_assert(std::endian::native == std::endian::little, "pages hold numbers in little-endian order");

void pad(std::string& bytes) {
    bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
}

} // namespace

std::string deflated(std::string_view bytes) {
    z_stream stream{};
    if (deflateInit(&stream, 6) != Z_OK) {
        throw std::bad_alloc();
    }
    std::string result;
    std::string buffer(std::size_t{1} << 18U, '\0');
    std::size_t taken = 0;
    int state = Z_OK;
    while (state != Z_STREAM_END) {
        const std::size_t part = std::min<std::size_t>(bytes.size() - taken, std::size_t{1} << 24U);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
        stream.avail_in = static_cast<uInt>(part);
        taken += part;
        do {
            stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
            stream.avail_out = static_cast<uInt>(buffer.size());
            state = deflate(&stream, taken == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
            result.append(buffer, 0, buffer.size() - stream.avail_out);
        } while (stream.avail_out == 0);
    }
    deflateEnd(&stream);
    return result;
}

std::string base64(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t word = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            word = (word << 8U) | (k < left ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            text += k <= left ? letters[(word >> (18U - 6U * k)) & 63U] : '=';
        }
    }
    return text;
}

void Payload::add_bytes(const std::string& section, const std::string& name, const char* type,
                        const char* data, std::size_t count, std::size_t size) {
    std::string& bytes = sections_[section];
    pad(bytes);
    arrays_[name] = {{"section", section}, {"type", type}, {"offset", bytes.size()}, {"count", count}};
    bytes.append(data, count * size);
}

std::string Payload::elements(int result) const {
    Json described = meta;
    described["arrays"] = arrays_;
    // Names in other encodings become question marks of their own, never invalid text.
    const std::string text = described.dump(-1, ' ', false, Json::error_handler_t::replace);
    std::string html;
    for (const auto& [section, bytes] : sections_) {
        std::string whole;
        if (section == "core") {
            const auto length = static_cast<std::uint32_t>(text.size());
            whole.append(reinterpret_cast<const char*>(&length), sizeof length);
            whole += text;
            pad(whole);
        }
        whole += bytes;
        html += fmt::format("<script type=\"application/octet-stream\" id=\"pnmf-{}-{}\">{}</script>\n",
                            result, section, base64(deflated(whole)));
    }
    return html;
}

} // namespace pnmf::report
