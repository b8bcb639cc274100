#include "io/gzip.hpp"

#include <pnmf/error.hpp>

#include <zlib.h>

#include <algorithm>

namespace pnmf::io {

std::string gzip_member(std::string_view bytes, int level) {
    z_stream stream{};
    constexpr int gzip_window = 15 + 16;
    if (deflateInit2(&stream, level, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        throw SystemError("zlib cannot start to compress");
    }
    std::string result(deflateBound(&stream, bytes.size()), '\0');
    // zlib takes the input as writable but does not write to it; pieces of 1 GiB keep its counters in range.
    constexpr std::size_t piece = std::size_t{1} << 30U;
    std::size_t read = 0;
    std::size_t written = 0;
    int status = Z_OK;
    while (status == Z_OK) {
        const std::size_t in = std::min(piece, bytes.size() - read);
        const std::size_t out = std::min(piece, result.size() - written);
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + read));
        stream.avail_in = static_cast<uInt>(in);
        stream.next_out = reinterpret_cast<Bytef*>(result.data() + written);
        stream.avail_out = static_cast<uInt>(out);
        status = deflate(&stream, read + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        read += in - stream.avail_in;
        written += out - stream.avail_out;
    }
    deflateEnd(&stream);
    if (status != Z_STREAM_END) {
        throw SystemError(fmt::format("zlib stopped compressing with status {}", status));
    }
    result.resize(written);
    return result;
}

} // namespace pnmf::io
