#include "devices/cuda/gemm.hpp"
#include "devices/cuda/pair_search.hpp"
#include "devices/cuda/reduce.cuh"

#include <algorithm>
#include <cmath>

namespace pnmf::cuda {
namespace {

constexpr int lanes = 32;
constexpr int warps = 8;
constexpr int queries_of_warp = 4; // share what is read of the other cells
constexpr int others_of_lane = 4;  // neighbouring numbers, one read of 16 bytes
constexpr int others_of_warp = lanes * others_of_lane;
constexpr std::int64_t largest_block = 32768; // of others: with all queries a gigabyte of products
constexpr unsigned everyone = 0xffffffffU;

template <class Value>
struct alignas(16) Four {
    Value at[others_of_lane];
};

__device__ Entry entry_of(float key, std::int64_t cell) {
    const unsigned bits = __float_as_uint(key);
    const unsigned ordered = bits ^ ((bits >> 31U) != 0 ? 0xffffffffU : 0x80000000U);
    return static_cast<Entry>(ordered) << 32U | static_cast<Entry>(cell);
}

/// Of the last entry of a list: keys that are no smaller are out.
__device__ float limit_of(Entry entry) {
    const auto ordered = static_cast<unsigned>(entry >> 32U);
    return entry == nobody ? INFINITY
                           : __uint_as_float(ordered ^ ((ordered >> 31U) != 0 ? 0x80000000U : 0xffffffffU));
}

/// The list of one query, in the memory of the block: `keep` entries that ascend, then memory for as many
/// that wait. One warp works on it. Those that wait are sorted in; returns the new limit. A bitonic sort.
template <int keep>
__device__ __noinline__ float sort_in(Entry* held, int waiting, int lane) {
    for (int i = keep + waiting + lane; i < 2 * keep; i += lanes) {
        held[i] = nobody;
    }
    for (int width = 2; width <= 2 * keep; width *= 2) {
        for (int step = width / 2; step > 0; step /= 2) {
            __syncwarp();
            for (int i = lane; i < keep; i += lanes) {
                const int low = 2 * i - (i & (step - 1));
                const Entry a = held[low];
                const Entry b = held[low + step];
                if ((a > b) == ((low & width) == 0)) {
                    held[low] = b;
                    held[low + step] = a;
                }
            }
        }
    }
    __syncwarp();
    return limit_of(held[keep - 1]);
}

/// One cell of each thread that wants in.
template <int keep>
__device__ void offer(Entry* held, int& waiting, float& limit, bool take, float key, std::int64_t cell,
                      int lane) {
    unsigned takers = __ballot_sync(everyone, take);
    if (takers == 0) {
        return;
    }
    if (waiting + __popc(takers) > keep) {
        limit = sort_in<keep>(held, waiting, lane);
        waiting = 0;
        take = take && key < limit;
        takers = __ballot_sync(everyone, take);
    }
    if (take) {
        held[keep + waiting + __popc(takers & ((1U << lane) - 1U))] = entry_of(key, cell);
    }
    waiting += __popc(takers);
}

struct SelectionArguments {
    const float* products; ///< others × queries
    std::int64_t pitch;
    int others;
    std::int64_t first;         ///< number of the first of the others,
    const std::int32_t* number; ///< or, where not null, of each
    const float* bound;         ///< their lower bounds, or upper ones for the farthest
    const float* upper;
    const std::int32_t* group; ///< theirs and, from `groups` on, of all cells; null: every cell is its own
    const std::int32_t* groups;
    const std::int32_t* query;
    int queries;
    Entry* lists;
    float* reach;
};

/// A warp has a few queries and goes through the others of a block, in order.
template <int keep, bool farthest, bool reach>
__global__ void __launch_bounds__(warps* lanes) select_others(SelectionArguments of) {
    extern __shared__ Entry buffer[];
    const int warp = threadIdx.x / lanes;
    const int lane = threadIdx.x % lanes;
    const int first_query = static_cast<int>(blockIdx.x * warps + warp) * queries_of_warp;
    if (first_query >= of.queries) {
        return; // the whole warp, and warps do not wait for each other
    }
    Entry* const held = buffer + warp * queries_of_warp * 2 * keep;
    int waiting[queries_of_warp] = {};
    float limit[queries_of_warp];
    float farthest_seen[queries_of_warp];
    std::int32_t own[queries_of_warp];
    std::int32_t own_group[queries_of_warp];
    const float* products[queries_of_warp];
#pragma unroll
    for (int q = 0; q < queries_of_warp; ++q) {
        const int number = min(first_query + q, of.queries - 1); // past the end: the last again, not stored
        for (int i = lane; i < keep; i += lanes) {
            held[q * 2 * keep + i] = of.lists[static_cast<std::int64_t>(number) * keep + i];
        }
        own[q] = of.query[number];
        own_group[q] = of.group != nullptr ? of.groups[own[q]] : own[q];
        products[q] = of.products + number * of.pitch;
        farthest_seen[q] = -INFINITY;
    }
    __syncwarp();
#pragma unroll
    for (int q = 0; q < queries_of_warp; ++q) {
        limit[q] = limit_of(held[q * 2 * keep + keep - 1]);
    }
    for (int begin = 0; begin < of.others; begin += others_of_warp) {
        const int at = begin + others_of_lane * lane;
        const auto bound = *reinterpret_cast<const Four<float>*>(of.bound + at);
        Four<float> upper;
        if (reach) {
            upper = *reinterpret_cast<const Four<float>*>(of.upper + at);
        }
        Four<std::int32_t> cell;
        if (of.number != nullptr) {
            cell = *reinterpret_cast<const Four<std::int32_t>*>(of.number + at);
        } else {
#pragma unroll
            for (int e = 0; e < others_of_lane; ++e) {
                cell.at[e] = static_cast<std::int32_t>(of.first + at + e);
            }
        }
        const auto group =
            of.group != nullptr ? *reinterpret_cast<const Four<std::int32_t>*>(of.group + at) : cell;
        Four<float> product[queries_of_warp];
#pragma unroll
        for (int q = 0; q < queries_of_warp; ++q) {
            product[q] = *reinterpret_cast<const Four<float>*>(products[q] + at);
        }
#pragma unroll
        for (int q = 0; q < queries_of_warp; ++q) {
            float key[others_of_lane];
            bool take[others_of_lane];
            bool any = false;
#pragma unroll
            for (int e = 0; e < others_of_lane; ++e) {
                const float twice = 2.0F * product[q].at[e];
                const bool there = at + e < of.others;
                key[e] = farthest ? twice - bound.at[e] : bound.at[e] - twice;
                take[e] = there && key[e] < limit[q] && group.at[e] != own_group[q];
                any = any || take[e];
                if (reach && there && cell.at[e] != own[q]) {
                    farthest_seen[q] = fmaxf(farthest_seen[q], upper.at[e] - twice);
                }
            }
            if (__any_sync(everyone, any)) {
#pragma unroll
                for (int e = 0; e < others_of_lane; ++e) {
                    offer<keep>(held + q * 2 * keep, waiting[q], limit[q], take[e] && key[e] < limit[q],
                                key[e], cell.at[e], lane);
                }
            }
        }
    }
#pragma unroll
    for (int q = 0; q < queries_of_warp; ++q) {
        if (waiting[q] > 0) {
            sort_in<keep>(held + q * 2 * keep, waiting[q], lane);
        }
        if (first_query + q >= of.queries) {
            continue;
        }
        const std::int64_t number = first_query + q;
        for (int i = lane; i < keep; i += lanes) {
            of.lists[number * keep + i] = held[q * 2 * keep + i];
        }
        if (reach) {
            for (int step = lanes / 2; step > 0; step /= 2) {
                farthest_seen[q] = fmaxf(farthest_seen[q], __shfl_xor_sync(everyone, farthest_seen[q], step));
            }
            if (lane == 0) {
                of.reach[number] = fmaxf(of.reach[number], farthest_seen[q]);
            }
        }
    }
}

template <int keep, bool farthest, bool reach>
void launch_kind(const SelectionArguments& of) {
    constexpr int buffer = warps * queries_of_warp * 2 * keep * static_cast<int>(sizeof(Entry));
    const auto kernel = select_others<keep, farthest, reach>;
    allow_memory_of_block(kernel, buffer);
    kernel<<<static_cast<unsigned>(blocks_of(of.queries, warps * queries_of_warp)), warps * lanes, buffer>>>(
        of);
    check_launch("choosing among pairs");
}

template <int keep>
void launch(const SelectionArguments& of, const PairSelection& wanted) {
    if (wanted.farthest) {
        launch_kind<keep, true, false>(of);
    } else if (wanted.reach) {
        launch_kind<keep, false, true>(of);
    } else {
        launch_kind<keep, false, false>(of);
    }
}

void select(const SelectionArguments& of, const PairSelection& wanted) {
    switch (wanted.keep) {
    case 32:
        return launch<32>(of, wanted);
    case 64:
        return launch<64>(of, wanted);
    case 128:
        return launch<128>(of, wanted);
    default:
        return launch<256>(of, wanted);
    }
}

template <class Number>
__global__ void gather_cells(const Number* from, const std::int32_t* cell, std::int64_t dimensions,
                             std::int64_t count, Number* to) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at < dimensions * count) {
        to[at] = from[cell[at / dimensions] * dimensions + at % dimensions];
    }
}

template <class Number>
void gather(const DeviceArray<Number>& from, const std::int32_t* cell, std::int64_t dimensions,
            std::int64_t count, DeviceArray<Number>& to) {
    gather_cells<<<static_cast<unsigned>(blocks_of(dimensions * count, 256)), 256>>>(
        from.get(), cell, dimensions, count, to.get());
    check_launch("gathering cells");
}

__global__ void make_halves(const float* from, std::int64_t count, __half* to) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at < count) {
        to[at] = __float2half_rn(from[at]);
    }
}

__global__ void set_numbers(float* to, std::int64_t count, float value) {
    const std::int64_t at = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
    if (at < count) {
        to[at] = value;
    }
}

std::int64_t block_of_others(std::int64_t cells) {
    return std::min(largest_block, blocks_of(cells, others_of_warp) * others_of_warp);
}

/// Rounded up to whole reads of a warp.
std::int64_t with_margin(std::int64_t cells) {
    return (blocks_of(cells, others_of_warp) + 1) * others_of_warp;
}

} // namespace

DevicePairs::DevicePairs(std::int64_t dimensions, std::int64_t cells, PairNumbers numbers)
    : dimensions_(blocks_of(dimensions, padding) * padding), cells_(cells), numbers_(numbers) {
    lower_.allocate(with_margin(cells));
    upper_.allocate(with_margin(cells));
    const std::int64_t queries = std::min(queries_at_once, cells);
    query_.allocate(queries);
    reach_.allocate(queries);
    if (numbers == PairNumbers::half) {
        halves_.allocate(dimensions_ * cells);
        panel_of_halves_.allocate(dimensions_ * queries);
    } else {
        coordinates_.allocate(dimensions_ * cells);
        panel_.allocate(dimensions_ * queries);
    }
    products_.allocate(others_at_once() * queries);
}

double DevicePairs::bytes(std::int64_t dimensions, std::int64_t cells) {
    const auto rows = static_cast<double>(blocks_of(dimensions, padding) * padding);
    const auto queries = static_cast<double>(std::min(queries_at_once, cells));
    return 4.0 * (rows * static_cast<double>(cells) + 3.0 * static_cast<double>(with_margin(cells)) +
                  queries * (rows + static_cast<double>(block_of_others(cells)) + 2.0) +
                  static_cast<double>(block_of_others(cells)) * (rows + 2.0) + // of others that are gathered
                  static_cast<double>(with_margin(cells))) +
           8.0 * queries * most;
}

std::int64_t DevicePairs::others_at_once() const {
    return block_of_others(cells_);
}

void DevicePairs::put(std::int64_t first, std::int64_t count, const float* coordinates) {
    const std::int64_t size = count * dimensions_;
    if (numbers_ != PairNumbers::half) {
        coordinates_.upload_part(coordinates, first * dimensions_, size);
        return;
    }
    if (arriving_.size() < size) {
        arriving_.allocate(size);
    }
    arriving_.upload_part(coordinates, 0, size);
    make_halves<<<static_cast<unsigned>(blocks_of(size, 256)), 256>>>(arriving_.get(), size,
                                                                      halves_.get() + first * dimensions_);
    check_launch("rounding coordinates");
}

void DevicePairs::set_bounds(std::span<const float> lower, std::span<const float> upper) {
    lower_.upload_part(lower.data(), 0, cells_);
    upper_.upload_part(upper.data(), 0, cells_);
}

void DevicePairs::set_groups(std::span<const std::int32_t> group) {
    group_.allocate(with_margin(cells_));
    group_.upload_part(group.data(), 0, cells_);
}

void DevicePairs::multiply_with(const float* others, const __half* halves, std::int64_t count,
                                std::int64_t queries) {
    const std::int64_t pitch = others_at_once();
    switch (numbers_) {
    case PairNumbers::half:
        return gemm_half(library_, true, false, count, queries, dimensions_, halves, dimensions_,
                         panel_of_halves_.get(), dimensions_, products_.get(), pitch);
    case PairNumbers::tf32:
        return gemm_tf32(library_, true, false, count, queries, dimensions_, others, dimensions_,
                         panel_.get(), dimensions_, products_.get(), pitch);
    case PairNumbers::single:
        return gemm(library_, true, false, count, queries, dimensions_, others, dimensions_, panel_.get(),
                    dimensions_, products_.get(), pitch);
    }
}

void DevicePairs::multiply(std::int64_t first, std::int64_t others, std::int64_t queries) {
    const std::int64_t at = first * dimensions_;
    const bool in_halves = numbers_ == PairNumbers::half;
    multiply_with(in_halves ? nullptr : coordinates_.get() + at, in_halves ? halves_.get() + at : nullptr,
                  others, queries);
}

void DevicePairs::multiply_gathered(const std::int32_t* cells, std::int64_t others, std::int64_t queries) {
    gathered_lower_.allocate(with_margin(others_at_once()));
    gather(lower_, cells, 1, others, gathered_lower_);
    if (numbers_ == PairNumbers::half) {
        gathered_halves_.allocate(dimensions_ * others_at_once());
        gather(halves_, cells, dimensions_, others, gathered_halves_);
    } else {
        gathered_.allocate(dimensions_ * others_at_once());
        gather(coordinates_, cells, dimensions_, others, gathered_);
    }
    multiply_with(gathered_.get(), gathered_halves_.get(), others, queries);
}

void DevicePairs::search(std::span<const std::int32_t> queries, const PairSelection& wanted,
                         std::vector<Entry>& entries, std::vector<float>& reach) {
    const auto count = static_cast<std::int64_t>(queries.size());
    query_.upload_part(queries.data(), 0, count);
    lists_.allocate(std::min(queries_at_once, cells_) * wanted.keep);
    check(cudaMemset(lists_.get(), 0xff, lists_.bytes()), "clearing lists"); // nobody, everywhere
    set_numbers<<<static_cast<unsigned>(blocks_of(count, 256)), 256>>>(reach_.get(), count, -INFINITY);
    check_launch("clearing");
    if (numbers_ == PairNumbers::half) {
        gather(halves_, query_.get(), dimensions_, count, panel_of_halves_);
    } else {
        gather(coordinates_, query_.get(), dimensions_, count, panel_);
    }
    const bool some = !wanted.among.empty();
    const auto all = some ? static_cast<std::int64_t>(wanted.among.size()) : cells_;
    if (some) {
        if (among_.size() < with_margin(all)) {
            among_.allocate(with_margin(all));
        }
        among_.upload_part(wanted.among.data(), 0, all);
    }
    const std::int64_t pitch = others_at_once();
    for (std::int64_t first = 0; first < all; first += pitch) {
        const std::int64_t others = std::min(pitch, all - first);
        const std::int32_t* const number = some ? among_.get() + first : nullptr;
        some ? multiply_gathered(number, others, count) : multiply(first, others, count);
        select({.products = products_.get(),
                .pitch = pitch,
                .others = static_cast<int>(others),
                .first = first,
                .number = number,
                .bound = some ? gathered_lower_.get() : (wanted.farthest ? upper_ : lower_).get() + first,
                .upper = upper_.get() + first,
                .group = wanted.grouped ? group_.get() + first : nullptr,
                .groups = group_.get(),
                .query = query_.get(),
                .queries = static_cast<int>(count),
                .lists = lists_.get(),
                .reach = reach_.get()},
               wanted);
    }
    entries.resize(static_cast<std::size_t>(count * wanted.keep));
    lists_.download_part(entries.data(), 0, count * wanted.keep);
    if (wanted.reach) {
        reach.resize(static_cast<std::size_t>(count));
        reach_.download_part(reach.data(), 0, count);
    }
}

} // namespace pnmf::cuda
