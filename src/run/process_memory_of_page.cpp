#include "run/process_memory.hpp"

#include <malloc.h>

#include <emscripten/heap.h>

#include <cstdint>

/// In place of process_memory.cpp in a page, whose memory has one size, grows and never shrinks.
namespace pnmf {
namespace {

constexpr double most_of_page = 4294967296.0; // what pointers of 32 bits reach

} // namespace

double available_bytes(const std::filesystem::path&) {
    return most_of_page - resident_bytes();
}

void give_back_memory() {}

void keep_to_plan(double) {}

double resident_bytes() {
    return static_cast<double>(static_cast<std::size_t>(mallinfo().uordblks));
}

double peak_bytes() {
    return static_cast<double>(emscripten_get_heap_size());
}

} // namespace pnmf
