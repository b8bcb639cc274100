#include "cells/processes.hpp"
#include "files/checksum.hpp"

#include <pnmf/run/checkpoint.hpp>
#include <pnmf/solvers/option_list.hpp>

#include <fmt/format.h>

#include <array>
#include <type_traits>

namespace pnmf {
namespace {

template <class Value>
std::uint32_t checksum(std::uint32_t sum, const Value* values, std::size_t count) {
    return add_by_all_threads(sum, values, count * sizeof(Value));
}

std::uint32_t checksum_of(std::uint32_t sum, const SparseView<double>& sparse) {
    sum = checksum(sum, sparse.start.data(), sparse.start.size());
    sum = checksum(sum, sparse.row.data(), sparse.row.size());
    return checksum(sum, sparse.value.data(), sparse.value.size());
}

/// What a process has of something that all processes have one after the other.
struct ChecksumPiece {
    std::uint32_t sum;
    std::uint64_t bytes;
};

template <class Value>
ChecksumPiece checksum_piece(const Value* values, std::size_t count) {
    return {checksum(0, values, count), count * sizeof(Value)};
}

/// Checksums of what follows each other can be put together.
std::uint32_t joined_over_processes(std::uint32_t sum, const ChecksumPiece& mine) {
    for (const ChecksumPiece& one : gather_one(all_processes(), mine)) {
        sum = joined_checksum(sum, one.sum, one.bytes);
    }
    return sum;
}

/// `checksum_of` all cells, where each process has some.
std::uint32_t checksum_of_local(std::uint32_t sum, const SparseView<double>& sparse) {
    Processes& processes = all_processes();
    std::int64_t before = 0; // entries of processes before this one
    const std::vector<std::int64_t> entries = gather_one(processes, sparse.nonzeros());
    for (int r = 0; r < processes.place(); ++r) {
        before += entries[r];
    }
    std::vector<std::int64_t> start(sparse.start.begin() + (processes.place() > 0 ? 1 : 0),
                                    sparse.start.end());
    for (std::int64_t& place : start) {
        place += before;
    }
    sum = joined_over_processes(sum, checksum_piece(start.data(), start.size()));
    sum = joined_over_processes(sum, checksum_piece(sparse.row.data(), sparse.row.size()));
    return joined_over_processes(sum, checksum_piece(sparse.value.data(), sparse.value.size()));
}

/// The value of an option: an enumeration by its name.
template <class Value>
std::string text_of(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
        return std::string(name_of(value));
    } else {
        return fmt::format("{}", value);
    }
}

template <class Value>
std::string text_of(const std::optional<Value>& value) {
    return value ? text_of(*value) : "none";
}

} // namespace

std::string order_fingerprint(const FitOrder& order) {
    return order.empty()
               ? std::string{}
               : fmt::format("order of cells {:08x}\n", checksum(0, order.cell.data(), order.cell.size()));
}

std::string run_fingerprint(const FitOptions& options, const DataValues& X, const Matrix* space) {
    return run_fingerprint(options, view_of(X), space);
}

std::string run_fingerprint(const FitOptions& options, const DataView& X, const Matrix* space,
                            const std::optional<CellRange>& local) {
    FitOptions shaping = options;
    shaping.solver.tolerance.reset();
    shaping.solver.max_sweeps.reset();
    shaping.solver.stop = StopRule::certificate;
    shaping.solver.device = Device::automatic; // a run may go on elsewhere
    shaping.out_of_core.reset();
    std::uint32_t sum = 0;
    if (const auto* dense = std::get_if<DenseView<double>>(&X)) {
        const std::array<Index, 2> shape{dense->rows(), local ? local->all : dense->cols()};
        const auto size = static_cast<std::size_t>(dense->size());
        sum = checksum(sum, shape.data(), shape.size());
        sum = local ? joined_over_processes(sum, checksum_piece(dense->data(), size))
                    : checksum(sum, dense->data(), size);
    } else {
        const auto& sparse = std::get<SparseView<double>>(X);
        const std::array<Index, 2> shape{sparse.rows, local ? local->all : sparse.cols};
        sum = checksum(sum, shape.data(), shape.size());
        sum = local ? checksum_of_local(sum, sparse) : checksum_of(sum, sparse);
    }
    std::string lines = fmt::format("data {:08x}\n", sum);
    if (space != nullptr) {
        const auto size = static_cast<std::size_t>(space->size());
        lines += fmt::format("space {:08x}\n",
                             local ? joined_over_processes(0, checksum_piece(space->data(), size))
                                   : checksum(0, space->data(), size));
    }
    if (const std::vector<Index>& batch = options.filtration.batch; !batch.empty()) {
        lines += fmt::format("batches {:08x}\n", checksum(0, batch.data(), batch.size()));
    }
    visit_options(shaping, [&](const char* name, const auto& value, const char*) {
        lines += fmt::format("{} {}\n", name, text_of(value));
    });
    return lines;
}

} // namespace pnmf
