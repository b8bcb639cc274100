#include "files/atomic_file.hpp"

#include "files/checksum.hpp"

#include <pnmf/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace pnmf {

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

std::uint32_t add_to(std::uint32_t checksum, std::string_view bytes) {
    return add_to_checksum(checksum, bytes.data(), bytes.size());
}

/// An open file or folder that is closed at the end, whatever happens.
class Descriptor {
  public:
    Descriptor(const fs::path& path, int flags) : number_(::open(path.c_str(), flags | O_CLOEXEC)) {}
    ~Descriptor() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return number_; }

  private:
    int number_;
};

/// 0, or what went wrong. Some file systems cannot sync and say so by EINVAL; that is no failure to write.
int sync_failure(int descriptor) {
    return ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
}

fs::path folder_of(const fs::path& file) {
    const fs::path folder = file.parent_path();
    return folder.empty() ? fs::path(".") : folder;
}

} // namespace

AtomicFile::AtomicFile(const fs::path& target, std::size_t head)
    : target_(resolve(target)), head_size_(head) {
    static std::atomic<unsigned> counter{0};
    struct stat old {};
    replaces_ = ::stat(target_.c_str(), &old) == 0;
    if (replaces_ && ::access(target_.c_str(), W_OK) != 0) {
        refuse(target_, errno);
    }
    buffer_.reserve(buffer_size);
    do {
        const std::string name =
            fmt::format(".{}.{}-{}.", target_.filename().string(), ::getpid(), counter++);
        temporary_ = target_.parent_path() / (name + "tmp");
        earlier_ = replaces_ ? target_.parent_path() / (name + "old") : fs::path();
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0664);
    } while (descriptor_ < 0 && errno == EEXIST);
    if (descriptor_ < 0) {
        refuse(target_, errno);
    }
    if (replaces_) {
        ::fchmod(descriptor_, old.st_mode & 0777U);
    }
    if (head > 0) {
        ::lseek(descriptor_, static_cast<off_t>(head), SEEK_SET);
    }
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!named_) {
        ::unlink(temporary_.c_str());
    } else if (!earlier_.empty()) {
        ::unlink(earlier_.c_str());
    }
}

void AtomicFile::write(std::string_view bytes) {
    wrote_ = true;
    checksum_ = add_to(checksum_, bytes);
    size_ += bytes.size();
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

void AtomicFile::write_head(std::string_view bytes) {
    require(bytes.size() == head_size_, "{}: {} bytes were announced for its beginning, got {}",
            target_.string(), head_size_, bytes.size());
    head_checksum_ = add_to(head_checksum_, bytes);
    write_all(bytes, true);
}

void AtomicFile::write_all(std::string_view bytes, bool at_beginning) {
    off_t place = 0;
    while (!bytes.empty()) {
        const ssize_t written = at_beginning ? ::pwrite(descriptor_, bytes.data(), bytes.size(), place)
                                             : ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            refuse(target_, errno);
        }
        place += written;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
}

void AtomicFile::flush() {
    write_all({buffer_.data(), buffer_.size()}, false);
    buffer_.clear();
}

/// What the file holds now must be what was written to it.
void AtomicFile::check_bytes() const {
    const Descriptor file(temporary_, O_RDONLY);
    std::uint32_t checksum = 0;
    std::uint64_t size = 0;
    std::vector<char> part(buffer_size);
    for (ssize_t got = 1; got != 0;) {
        got = file.get() < 0 ? -1 : ::read(file.get(), part.data(), part.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            refuse(target_, errno);
        }
        checksum = add_to(checksum, {part.data(), static_cast<std::size_t>(got)});
        size += static_cast<std::uint64_t>(got);
    }
    const std::uint32_t expected = joined_checksum(head_checksum_, checksum_, size_);
    if (size != head_size_ + size_ || checksum != expected) {
        throw SystemError(fmt::format("{}: cannot be written: what was read back is not what was written",
                                      target_.string()));
    }
}

void AtomicFile::finish() {
    flush();
    const int unsynced = sync_failure(descriptor_);
    const int unclosed = ::close(descriptor_) != 0 ? errno : 0;
    descriptor_ = -1;
    if (unsynced != 0 || unclosed != 0) {
        refuse(target_, unsynced != 0 ? unsynced : unclosed);
    }
    if (wrote_) {
        check_bytes();
    }
}

void AtomicFile::take_name() {
    // The name lives in the folder. Opened first: once the file has its name it is late to find out.
    const Descriptor folder(folder_of(target_), O_RDONLY | O_DIRECTORY);
    if (folder.get() < 0) {
        refuse(target_, errno);
    }
    // Where the file system has no second names, a failure below cannot be undone.
    if (!earlier_.empty() && ::link(target_.c_str(), earlier_.c_str()) != 0) {
        earlier_.clear();
    }
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
        const int failed = errno;
        if (!earlier_.empty()) {
            ::unlink(earlier_.c_str());
        }
        refuse(target_, failed);
    }
    named_ = true;
    if (const int failed = sync_failure(folder.get()); failed != 0) {
        undo();
        refuse(target_, failed);
    }
}

void AtomicFile::undo() noexcept {
    if (!named_) {
        return;
    }
    if (!replaces_) {
        ::unlink(target_.c_str());
        return;
    }
    if (earlier_.empty()) {
        return; // the new file is whole, and better than none
    }
    // By another way where the usual one is barred.
    if (::rename(earlier_.c_str(), target_.c_str()) != 0 && ::unlink(target_.c_str()) == 0 &&
        ::link(earlier_.c_str(), target_.c_str()) == 0) {
        ::unlink(earlier_.c_str());
    }
    earlier_.clear(); // whatever name it has now, it is not ours to remove
}

void AtomicFile::commit() {
    finish();
    take_name();
}

void commit_together(const std::vector<AtomicFile*>& files) {
    for (AtomicFile* file : files) {
        file->finish();
    }
    auto next = files.begin();
    try {
        for (; next != files.end(); ++next) {
            (*next)->take_name();
        }
    } catch (const SystemError&) {
        while (next != files.begin()) {
            (*--next)->undo();
        }
        throw;
    }
}

bool is_left_behind(std::string_view candidate, std::string_view name) {
    const auto prefix = name.size() + 2;
    return candidate.size() > prefix + 4 && candidate.front() == '.' &&
           candidate.substr(1, name.size()) == name && candidate[name.size() + 1] == '.' &&
           candidate.substr(prefix, candidate.size() - prefix - 4).find_first_not_of("0123456789-") ==
               std::string_view::npos &&
           (candidate.ends_with(".tmp") || candidate.ends_with(".old"));
}

} // namespace pnmf
