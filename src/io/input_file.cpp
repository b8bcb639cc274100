#include "io/input_file.hpp"

#include <pnmf/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>
#include <system_error>

namespace pnmf::io {

namespace {

constexpr std::size_t input_size = std::size_t{1} << 17U;
/// DEFLATE cannot expand further: 258 bytes take at least 2 bits.
constexpr std::uint64_t largest_expansion = 1032;

std::string reason(int code) {
    return std::error_code(code, std::generic_category()).message();
}

/// Of a file that could be opened: no fault of what is in it.
void check_device(bool done, const std::string& name) {
    if (!done) {
        throw SystemError(fmt::format("{}: cannot be read: {}", name, reason(errno)));
    }
}

} // namespace

struct InputFile::Gzip {
    z_stream stream{};
    std::array<Bytef, input_size> input{};
    bool inside = false; ///< between the first and the last byte of a member

    Gzip() {
        if (inflateInit2(&stream, 15 + 16) != Z_OK) {
            throw std::bad_alloc();
        }
    }
    ~Gzip() { inflateEnd(&stream); }
    Gzip(const Gzip&) = delete;
    Gzip& operator=(const Gzip&) = delete;
};

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
    descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    require(descriptor_ >= 0, "{}: cannot be read: {}", name(), reason(errno));
    struct stat status {};
    ::fstat(descriptor_, &status);
    size_ = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size)
                                    : std::numeric_limits<std::uint64_t>::max();
    try {
        std::array<char, 2> first{};
        const std::size_t got = read_raw(first.data(), first.size());
        peeked_.assign(first.data(), got);
        if (peeked_ == "\x1f\x8b") {
            gzip_ = std::make_unique<Gzip>();
            gzip_->inside = true;
        }
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

InputFile::~InputFile() {
    ::close(descriptor_);
}

std::uint64_t InputFile::size_bound() const {
    if (gzip_ == nullptr) {
        return size_;
    }
    return size_ > std::numeric_limits<std::uint64_t>::max() / largest_expansion
               ? std::numeric_limits<std::uint64_t>::max()
               : size_ * largest_expansion;
}

std::size_t InputFile::read_raw(char* to, std::size_t bytes) {
    std::size_t got = std::min(bytes, peeked_.size());
    std::copy_n(peeked_.data(), got, to); // where nothing is asked for, `to` may be null
    peeked_.erase(0, got);
    while (got < bytes) {
        const ssize_t count = ::read(descriptor_, to + got, bytes - got);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        check_device(count >= 0, name());
        if (count == 0) {
            break;
        }
        got += static_cast<std::size_t>(count);
    }
    return got;
}

/// Goes on to the next gzip member; false at the end of the file. Zeros may pad the end, as after `tar`.
bool InputFile::next_member() {
    z_stream& stream = gzip_->stream;
    while (true) {
        while (stream.avail_in > 0 && *stream.next_in == 0) {
            ++stream.next_in;
            --stream.avail_in;
        }
        if (stream.avail_in > 0) {
            break;
        }
        stream.next_in = gzip_->input.data();
        stream.avail_in =
            static_cast<uInt>(read_raw(reinterpret_cast<char*>(gzip_->input.data()), input_size));
        if (stream.avail_in == 0) {
            return false;
        }
    }
    require(*stream.next_in == 0x1f, "{}: bytes that are not gzip follow the gzip data", name());
    inflateReset(&stream);
    gzip_->inside = true;
    return true;
}

std::size_t InputFile::inflate_some(char* to, std::size_t bytes) {
    z_stream& stream = gzip_->stream;
    std::size_t got = 0;
    while (got < bytes) {
        if (!gzip_->inside && !next_member()) {
            break;
        }
        if (stream.avail_in == 0) {
            stream.next_in = gzip_->input.data();
            stream.avail_in =
                static_cast<uInt>(read_raw(reinterpret_cast<char*>(gzip_->input.data()), input_size));
            require(stream.avail_in > 0, "{}: the gzip data are cut off", name());
        }
        const std::size_t buffer = std::min<std::size_t>(bytes - got, std::numeric_limits<uInt>::max());
        stream.next_out = reinterpret_cast<Bytef*>(to + got);
        stream.avail_out = static_cast<uInt>(buffer);
        const int status = ::inflate(&stream, Z_NO_FLUSH);
        got += buffer - stream.avail_out;
        if (status == Z_STREAM_END) {
            gzip_->inside = false;
        } else if (status == Z_MEM_ERROR) {
            throw std::bad_alloc();
        } else {
            require(status == Z_OK || status == Z_BUF_ERROR, "{}: the gzip data are corrupt: {}", name(),
                    stream.msg == nullptr ? "unknown reason" : stream.msg);
        }
    }
    return got;
}

std::size_t InputFile::read(char* to, std::size_t bytes) {
    return gzip_ == nullptr ? read_raw(to, bytes) : inflate_some(to, bytes);
}

/// As far as the file has a place to seek to: none beyond its end, and none in a pipe.
std::uint64_t InputFile::seek_over(std::uint64_t bytes) {
    const ::off_t place = gzip_ == nullptr && peeked_.empty() ? ::lseek(descriptor_, 0, SEEK_CUR) : -1;
    if (place < 0 || static_cast<std::uint64_t>(place) >= size_ ||
        size_ == std::numeric_limits<std::uint64_t>::max()) {
        return 0;
    }
    const std::uint64_t passed = std::min(bytes, size_ - static_cast<std::uint64_t>(place));
    const ::off_t found = ::lseek(descriptor_, static_cast<::off_t>(passed), SEEK_CUR);
    check_device(found >= 0, name());
    return passed;
}

std::uint64_t InputFile::skip(std::uint64_t bytes) {
    std::uint64_t passed = seek_over(bytes);
    std::string unread(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - passed, input_size)), '\0');
    while (passed < bytes) {
        const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(bytes - passed, unread.size()));
        const std::size_t got = read(unread.data(), wanted);
        passed += got;
        if (got < wanted) {
            break;
        }
    }
    return passed;
}

std::string read_all(const std::filesystem::path& path) {
    InputFile file(path);
    std::string text;
    std::size_t filled = 0;
    std::size_t piece = std::size_t{1} << 16U;
    while (true) {
        text.resize(filled + piece);
        const std::size_t got = file.read(text.data() + filled, piece);
        filled += got;
        if (got < piece) {
            break;
        }
        piece = std::max(piece, filled / 2);
    }
    text.resize(filled);
    return text;
}

} // namespace pnmf::io
