#include "io/zarr_array.hpp"

#include <pnmf/error.hpp>

#include <zlib.h>
#if defined(PNMF_ZARR_CODECS)
#include <blosc.h>
#include <zstd.h>
#endif

#include <algorithm>
#include <array>
#include <memory>

namespace pnmf::zarr {

namespace fs = std::filesystem;

namespace {

/// Takes what a decoder gives, piece by piece, and not more than `most` bytes of it.
class Growing {
  public:
    explicit Growing(std::size_t most) : most_(most) {}

    /// Where the next piece goes; never empty before more than `most` bytes have come.
    char* free_part() {
        constexpr std::size_t piece = std::size_t{1} << 16U;
        bytes_.resize(std::min(most_ + 1, std::max(used_ + piece, used_ + used_ / 2)));
        return bytes_.data() + used_;
    }
    std::size_t free_size() const { return bytes_.size() - used_; }
    void take(std::size_t count) { used_ += count; }
    bool too_many() const { return used_ > most_; }
    std::string finish() {
        bytes_.resize(used_);
        return std::move(bytes_);
    }

  private:
    std::string bytes_;
    std::size_t used_ = 0;
    std::size_t most_;
};

[[noreturn]] void refuse_long(const fs::path& file, std::size_t most) {
    fail("{}: is damaged: it holds more than the {} bytes of a chunk", file.string(), most);
}

/// zlib's format or gzip's: the first bytes tell.
std::string inflate_all(const fs::path& file, const std::string& bytes, std::size_t most) {
    z_stream stream{};
    constexpr int either = 15 + 32;
    if (inflateInit2(&stream, either) != Z_OK) {
        throw SystemError("zlib cannot start to decompress");
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, inflateEnd);
    Growing out(most);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data())); // not written to
    stream.avail_in = static_cast<uInt>(bytes.size());
    for (int status = Z_OK; status != Z_STREAM_END;) {
        stream.next_out = reinterpret_cast<Bytef*>(out.free_part());
        const std::size_t size = out.free_size();
        stream.avail_out = static_cast<uInt>(size);
        status = inflate(&stream, Z_NO_FLUSH);
        out.take(size - stream.avail_out);
        if (out.too_many()) {
            refuse_long(file, most);
        }
        require(status == Z_OK || status == Z_STREAM_END, "{}: is damaged: zlib cannot decompress it",
                file.string());
    }
    return out.finish();
}

#if defined(PNMF_ZARR_CODECS)

std::string decompress_zstd(const fs::path& file, const std::string& bytes, std::size_t most) {
    const std::unique_ptr<ZSTD_DStream, std::size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                               ZSTD_freeDStream);
    if (stream == nullptr) {
        throw SystemError("zstd has too little memory to decompress");
    }
    Growing out(most);
    ZSTD_inBuffer in{.src = bytes.data(), .size = bytes.size(), .pos = 0};
    for (std::size_t left = 1; left != 0 || in.pos < in.size;) {
        char* const start = out.free_part();
        ZSTD_outBuffer to{.dst = start, .size = out.free_size(), .pos = 0};
        const std::size_t before = in.pos;
        left = ZSTD_decompressStream(stream.get(), &to, &in);
        out.take(to.pos);
        if (out.too_many()) {
            refuse_long(file, most);
        }
        require(ZSTD_isError(left) == 0 && (to.pos > 0 || in.pos > before || left == 0),
                "{}: is damaged: zstd cannot decompress it", file.string());
    }
    return out.finish();
}

std::string decompress_blosc(const fs::path& file, const std::string& bytes, std::size_t most) {
    std::size_t size = 0;
    require(blosc_cbuffer_validate(bytes.data(), bytes.size(), &size) == 0,
            "{}: is damaged: its first bytes are not those of blosc", file.string());
    if (size > most) {
        refuse_long(file, most);
    }
    std::string out(size, '\0');
    require(size == 0 || blosc_decompress_ctx(bytes.data(), out.data(), size, 1) == static_cast<int>(size),
            "{}: is damaged: blosc cannot decompress it", file.string());
    return out;
}

#else

std::string decompress_by_library(const fs::path& file, const char* name) {
    fail("{}: is compressed by {}, and this program was made without the libraries blosc and zstd; with them "
         "installed (Debian: libblosc-dev and libzstd-dev), build it again",
         file.string(), name);
}
std::string decompress_zstd(const fs::path& file, const std::string&, std::size_t) {
    return decompress_by_library(file, "zstd");
}
std::string decompress_blosc(const fs::path& file, const std::string&, std::size_t) {
    return decompress_by_library(file, "blosc");
}

#endif

std::uint32_t crc32c(std::string_view bytes) {
    constexpr std::uint32_t polynomial = 0x82f63b78;
    std::uint32_t sum = ~std::uint32_t{0};
    for (const char byte : bytes) {
        sum ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) {
            sum = (sum >> 1U) ^ ((sum & 1U) != 0 ? polynomial : 0U);
        }
    }
    return ~sum;
}

/// A checksum of four bytes, the lowest first, stands behind the bytes.
std::string checked(const fs::path& file, const std::string& bytes, std::size_t most) {
    require(bytes.size() >= 4, "{}: is cut off: its checksum is missing", file.string());
    std::string rest = bytes.substr(0, bytes.size() - 4);
    if (rest.size() > most) {
        refuse_long(file, most);
    }
    std::uint32_t told = 0;
    for (std::size_t i = 4; i-- > 0;) {
        told = told << 8U | static_cast<unsigned char>(bytes[rest.size() + i]);
    }
    require(crc32c(rest) == told, "{}: is damaged: its checksum is another one", file.string());
    return rest;
}

struct Decoder {
    std::string_view name;
    std::string (*decompress)(const fs::path&, const std::string&, std::size_t);
};
constexpr std::array decoders{Decoder{"zlib", inflate_all}, Decoder{"gzip", inflate_all},
                              Decoder{"zstd", decompress_zstd}, Decoder{"blosc", decompress_blosc},
                              Decoder{"crc32c", checked}};

const Decoder* decoder_named(std::string_view name) {
    const auto* const found =
        std::find_if(decoders.begin(), decoders.end(), [&](const Decoder& one) { return one.name == name; });
    return found == decoders.end() ? nullptr : found;
}

} // namespace

bool is_compressor(std::string_view name) {
    return decoder_named(name) != nullptr;
}

std::string decompress(const fs::path& file, std::string bytes, const std::vector<std::string>& codecs,
                       std::size_t most) {
    for (std::size_t i = 0; i < codecs.size(); ++i) {
        // What lies between two codecs may be a little longer than the chunk.
        const std::size_t limit = i + 1 == codecs.size() ? most : most + most / 8 + (std::size_t{1} << 16U);
        bytes = decoder_named(codecs[i])->decompress(file, bytes, limit);
    }
    require(bytes.size() <= most, "{}: is damaged: it holds {} bytes, more than the {} of a chunk",
            file.string(), bytes.size(), most);
    return bytes;
}

} // namespace pnmf::zarr
