#pragma once

#include "devices/cuda/device_memory.hpp"

#include <cuda_fp16.h>

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace pnmf::cuda {

/// A cell in a list and the key it stands there by: the key's bits, so changed that they order as keys do,
/// above the cell's number. Entries therefore have a total order.
using Entry = std::uint64_t;
constexpr Entry nobody = ~Entry{0}; ///< a place that is free

inline float key_of_entry(Entry entry) {
    const auto ordered = static_cast<std::uint32_t>(entry >> 32U);
    return std::bit_cast<float>(ordered ^ ((ordered >> 31U) != 0 ? 0x80000000U : 0xffffffffU));
}
inline std::int32_t cell_of_entry(Entry entry) {
    return static_cast<std::int32_t>(entry & 0xffffffffU);
}

/// What is looked for: the `keep` smallest keys of each query, over all cells b of another group, or over
/// those of `among`.
///
///     nearest:   key = lower_b − 2⟨a, b⟩          farthest:  key = 2⟨a, b⟩ − upper_b
struct PairSelection {
    int keep = 32; ///< 32, 64, 128 or 256
    bool farthest = false;
    bool grouped = false; ///< by `set_groups`; else every cell is its own group
    bool reach = false;   ///< also the largest upper_b − 2⟨a, b⟩; with the nearest alone
    std::span<const std::int32_t> among{}; ///< empty: all cells; else the nearest alone, without groups
};

/// How coordinates are held and multiplied. The last two are for tensor cores, half twice as quick: their
/// coordinates have at most 10 bits after the leading one (half: and are multiples of 2⁻²⁴, at most 2¹⁵), and
/// then a product of two is exact.
enum class PairNumbers { single, tf32, half };

/// Rounded coordinates of all cells on the device, and their products by blocks, each of which is looked
/// through and forgotten.
class DevicePairs {
  public:
    /// Coordinates are padded with zeros to a multiple of this.
    static constexpr std::int64_t padding = 8;
    static constexpr std::int64_t queries_at_once = 8192;
    static constexpr int most = 256;

    DevicePairs(std::int64_t dimensions, std::int64_t cells, PairNumbers numbers);
    /// At most.
    static double bytes(std::int64_t dimensions, std::int64_t cells);

    /// Padded coordinates of `count` cells, from `first` on.
    void put(std::int64_t first, std::int64_t count, const float* coordinates);
    void set_bounds(std::span<const float> lower, std::span<const float> upper);
    void set_groups(std::span<const std::int32_t> group);

    /// For at most `queries_at_once` cells: keep entries each, ascending, and their reach.
    void search(std::span<const std::int32_t> queries, const PairSelection& wanted,
                std::vector<Entry>& entries, std::vector<float>& reach);

  private:
    std::int64_t others_at_once() const;
    /// Products of a block of others, from `first` on, with the queries of the panel.
    void multiply(std::int64_t first, std::int64_t others, std::int64_t queries);
    /// The same with others that are not neighbours in memory, whose bounds come along.
    void multiply_gathered(const std::int32_t* cells, std::int64_t others, std::int64_t queries);
    void multiply_with(const float* others, const __half* halves, std::int64_t count, std::int64_t queries);

    std::int64_t dimensions_;
    std::int64_t cells_;
    PairNumbers numbers_;
    Products library_;
    DeviceArray<float> coordinates_; ///< these or
    DeviceArray<__half> halves_;
    DeviceArray<float> arriving_; ///< on their way to halves
    DeviceArray<float> lower_;    ///< these three with a margin at the end that may be read
    DeviceArray<float> upper_;
    DeviceArray<std::int32_t> group_;
    DeviceArray<std::int32_t> query_;
    DeviceArray<float> panel_; ///< coordinates of the queries, these or
    DeviceArray<__half> panel_of_halves_;
    DeviceArray<std::int32_t> among_;
    DeviceArray<float> gathered_; ///< coordinates of a block of these, or
    DeviceArray<__half> gathered_halves_;
    DeviceArray<float> gathered_lower_;
    DeviceArray<float> products_; ///< others × queries
    DeviceArray<Entry> lists_;
    DeviceArray<float> reach_;
};

} // namespace pnmf::cuda
