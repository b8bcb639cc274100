#include "io/atomic_file.hpp"

#include <pnmf/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18U;

[[noreturn]] void refuse(const fs::path& target, int code) {
    throw SystemError(fmt::format("{}: cannot be written: {}", target.string(),
                                  std::error_code(code, std::generic_category()).message()));
}

/// Where the bytes shall end: a link is followed, so that it stays a link.
fs::path resolve(const fs::path& target) {
    std::error_code error;
    const fs::file_status status = fs::status(target, error);
    if (!fs::exists(status)) {
        return target;
    }
    require(!fs::is_directory(status), "{}: is a folder, a file is to be written there", target.string());
    require(fs::is_regular_file(status), "{}: is not a regular file, it cannot be replaced", target.string());
    fs::path resolved = fs::canonical(target, error);
    return error ? target : resolved;
}

void sync(const fs::path& path, int flags, const fs::path& target) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor < 0) {
        refuse(target, errno);
    }
    const int failed = ::fsync(descriptor) != 0 ? errno : 0;
    ::close(descriptor);
    // Some file systems cannot sync and say so by EINVAL; that is not a failure to write.
    if (failed != 0 && failed != EINVAL) {
        refuse(target, failed);
    }
}

} // namespace

AtomicFile::AtomicFile(const fs::path& target) : target_(resolve(target)) {
    static std::atomic<unsigned> counter{0};
    const fs::path folder = target_.parent_path();
    struct stat old {};
    const bool replaces = ::stat(target_.c_str(), &old) == 0;
    if (replaces && ::access(target_.c_str(), W_OK) != 0) {
        refuse(target_, errno);
    }
    do {
        temporary_ =
            folder / fmt::format(".{}.{}-{}.tmp", target_.filename().string(), ::getpid(), counter++);
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) {
        refuse(target_, errno);
    }
    if (replaces) {
        ::fchmod(descriptor_, old.st_mode & 0777U);
    }
    buffer_.reserve(buffer_size);
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!committed_) {
        ::unlink(temporary_.c_str());
    }
}

void AtomicFile::write(std::string_view bytes) {
    if (buffer_.size() + bytes.size() > buffer_size) {
        flush();
    }
    // One large piece passes through the buffer in parts.
    while (bytes.size() > buffer_size) {
        buffer_.assign(bytes.begin(), bytes.begin() + buffer_size);
        flush();
        bytes.remove_prefix(buffer_size);
    }
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void AtomicFile::flush() {
    std::string_view rest(buffer_.data(), buffer_.size());
    while (!rest.empty()) {
        const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            refuse(target_, errno);
        }
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    buffer_.clear();
}

void AtomicFile::commit() {
    flush();
    const int failed = ::close(descriptor_) != 0 ? errno : 0;
    descriptor_ = -1;
    if (failed != 0) {
        refuse(target_, failed);
    }
    sync(temporary_, O_RDONLY, target_);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
        refuse(target_, errno);
    }
    committed_ = true;
    // The name lives in the folder.
    const fs::path folder = target_.parent_path();
    sync(folder.empty() ? fs::path(".") : folder, O_RDONLY | O_DIRECTORY, target_);
}

} // namespace pnmf::io
