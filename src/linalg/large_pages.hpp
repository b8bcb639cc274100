#pragma once

#include "linalg/arrays_on_disk.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/types.hpp>

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace pnmf {

/// Resizes an empty vector, on pages of 2 MB where the system has them: numbers that are written all over a
/// large array otherwise cost a look at the page table each. All threads ask for the pages: the system clears
/// each of them, which takes one thread longer than anything else that is done with the array. Where large
/// arrays are out of core it goes there.
template <class Value>
void resize_on_large_pages(std::vector<Value>& values, std::size_t count) {
    constexpr std::size_t large = std::size_t{1} << 21U;
    values.reserve(count);
    const std::size_t bytes = count * sizeof(Value);
    if (arrays_on_disk()) {
        keep_on_disk(values.data(), bytes, false);
    } else if (bytes >= large) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t within = reinterpret_cast<std::uintptr_t>(values.data()) % page;
        std::byte* const begin = reinterpret_cast<std::byte*>(values.data()) - within;
        // Not having them is no error.
        madvise(begin, bytes + within, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE // pages that are not there yet come when they are written to
        parallel_blocks(static_cast<Index>(bytes + within), Index{8} << 21, [&](Index from, Index to) {
            madvise(begin + from, static_cast<std::size_t>(to - from), MADV_POPULATE_WRITE);
        });
#endif
    }
    values.resize(count);
}

} // namespace pnmf
