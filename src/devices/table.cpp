#include "devices/cpu/cpu_backend.hpp"
#include "devices/cpu/cpu_chain.hpp"
#include "solvers/device.hpp"
#ifdef PNMF_HAS_CUDA
#include "devices/cuda/cuda_row.hpp"
#endif

#include <pnmf/error.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace pnmf {
namespace {

/// The devices of this build: another one adds its row here.
constexpr std::array table{
    DeviceRow{.device = Device::cpu,
              .in_float = {.backend = make_cpu_backend<float>, .chain = make_cpu_chain<float>},
              .in_double = {.backend = make_cpu_backend<double>, .chain = make_cpu_chain<double>}},
#ifdef PNMF_HAS_CUDA
    cuda_row,
#endif
};

std::span<const DeviceRow> rows = table; // NOLINT: replaced by `DeviceRowsScope` alone

} // namespace

std::span<const DeviceRow> device_rows() {
    return rows;
}

DeviceRowsScope::DeviceRowsScope(std::span<const DeviceRow> other) : before_(rows) {
    rows = other;
}

DeviceRowsScope::~DeviceRowsScope() {
    rows = before_;
}

const DeviceRow* find_device(Device device) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const DeviceRow& row) { return row.device == device; });
    return found == rows.end() ? nullptr : &*found;
}

const DeviceRow& device_row(Device device) {
    const DeviceRow* const row = find_device(device);
    require(row != nullptr, "the device must be one of {}, got {}", fmt::join(devices(), ", "),
            name_of(device));
    return *row;
}

DeviceFacts facts_of(Device device) {
    const DeviceRow* const row = find_device(device);
    return row != nullptr && row->facts != nullptr ? row->facts() : DeviceFacts{};
}

std::vector<std::string> devices() {
    std::vector<std::string> names;
    for (const DeviceRow& row : rows) {
        names.emplace_back(name_of(row.device));
    }
    return names;
}

} // namespace pnmf
