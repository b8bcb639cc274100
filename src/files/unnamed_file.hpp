#pragma once

#include <pnmf/error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

/// Temporary files without names: nothing stays of them, however the process ends.
namespace pnmf {

[[noreturn]] inline void refuse_file(const std::filesystem::path& folder, const char* what, int error) {
    throw SystemError(fmt::format("{}: a temporary file cannot be {}: {}", folder.string(), what,
                                  std::generic_category().message(error)));
}

/// On file systems that have no such thing, one whose name is removed at once.
inline int open_unnamed(const std::filesystem::path& folder) {
    const int unnamed = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (unnamed >= 0) {
        return unnamed;
    }
    std::string name = (folder / ".bases.XXXXXX").string(); // mkostemp puts letters for the Xs
    const int named = ::mkostemp(name.data(), O_CLOEXEC);
    if (named < 0) {
        refuse_file(folder, "made", errno);
    }
    if (::unlink(name.c_str()) != 0) {
        const int error = errno;
        ::close(named);
        refuse_file(folder, "removed", error);
    }
    return named;
}

/// So that a disk that is full says so before anything is written. The error's number, or 0.
inline int give_size(int descriptor, std::int64_t bytes) {
    int error = 0;
    do { // EINTR: a signal came
        error = bytes > 0 ? ::posix_fallocate(descriptor, 0, bytes) : 0;
    } while (error == EINTR);
    return error;
}

/// All `size` bytes at `offset`, by `transfer` (pread or pwrite), which may stop short. The error's number,
/// or 0.
template <class Transfer, class Byte>
int transfer_all(Transfer transfer, int descriptor, Byte* bytes, std::int64_t size, std::int64_t offset) {
    while (size > 0) {
        const ssize_t moved = transfer(descriptor, bytes, static_cast<std::size_t>(size), offset);
        if (moved < 0 && errno == EINTR) {
            continue;
        }
        if (moved <= 0) {
            return moved < 0 ? errno : EIO;
        }
        bytes += moved;
        offset += moved;
        size -= moved;
    }
    return 0;
}

} // namespace pnmf
