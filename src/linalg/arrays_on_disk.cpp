#include "linalg/arrays_on_disk.hpp"

#include "files/unnamed_file.hpp"
#include "linalg/large_array.hpp"

#include <pnmf/error.hpp>

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace pnmf {
namespace {

std::mutex folder_mutex;
std::filesystem::path array_folder;
std::atomic<bool> in_files = false;

/// The whole pages inside a block.
struct Pages {
    std::byte* begin;
    std::size_t bytes;
};
Pages pages_in(const void* block, std::size_t bytes) {
    const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<std::uintptr_t>(block);
    const std::uintptr_t begin = (first + page - 1) / page * page;
    const std::uintptr_t end = (first + bytes) / page * page;
    return {reinterpret_cast<std::byte*>(begin), end - begin};
}

} // namespace

std::size_t& large_array_bytes() {
    static std::size_t bytes = std::size_t{33} << 20U; // M_MMAP_THRESHOLD is at most 32 MB
    return bytes;
}

bool may_keep_on_disk() {
#ifdef __EMSCRIPTEN__
    return false;
#else
    // Else memory that lies in a file would be given to somebody who does not expect it.
    static const bool unmapped = [] {
        void* volatile block = std::malloc(large_array_bytes());
        const Pages pages = pages_in(block, block == nullptr ? 0 : large_array_bytes());
        std::free(block);
        unsigned char there = 0;
        return pages.bytes > 0 && ::mincore(pages.begin, 1, &there) != 0 && errno == ENOMEM;
    }();
    return unmapped;
#endif
}

std::filesystem::path set_array_folder(std::filesystem::path folder) {
    const std::lock_guard lock(folder_mutex);
    in_files = !folder.empty();
    return std::exchange(array_folder, std::move(folder));
}

bool arrays_on_disk() {
    return in_files;
}

void keep_on_disk(const void* values, std::size_t bytes, bool filled) {
    if (!in_files || bytes < large_array_bytes()) {
        return;
    }
    std::filesystem::path folder;
    {
        const std::lock_guard lock(folder_mutex);
        folder = array_folder;
    }
    const Pages pages = pages_in(values, bytes);
    const auto size = static_cast<std::int64_t>(pages.bytes);
    const int descriptor = open_unnamed(folder);
    const char* refused = "given its size";
    int error = give_size(descriptor, size);
    if (error == 0 && filled) {
        refused = "written";
        error = transfer_all(::pwrite, descriptor, reinterpret_cast<const char*>(pages.begin), size, 0);
    }
    if (error == 0) {
        refused = "mapped";
        void* const mapped =
            ::mmap(pages.begin, pages.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor, 0);
        error = mapped == MAP_FAILED ? errno : 0;
    }
    ::close(descriptor); // the file stays until its pages are unmapped
    if (error != 0) {
        refuse_file(folder, refused, error);
    }
}

} // namespace pnmf
