#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace pnmf {

/// Resizes an empty vector, on pages of 2 MB where the system has them: numbers that are written all over a
/// large array otherwise cost a look at the page table each.
template <class Value>
void resize_on_large_pages(std::vector<Value>& values, std::size_t count) {
    constexpr std::size_t large = std::size_t{1} << 21U;
    values.reserve(count);
    const std::size_t bytes = count * sizeof(Value);
    if (bytes >= large) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t within = reinterpret_cast<std::uintptr_t>(values.data()) % page;
        // Not having them is no error.
        madvise(reinterpret_cast<std::byte*>(values.data()) - within, bytes + within, MADV_HUGEPAGE);
    }
    values.resize(count);
}

} // namespace pnmf
