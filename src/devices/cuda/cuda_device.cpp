#include "devices/cuda/basis_step.hpp"
#include "devices/cuda/component_shifts.hpp"
#include "devices/cuda/cuda_backend.hpp"
#include "devices/cuda/host_data.hpp"
#include "devices/cuda/measures.hpp"
#include "devices/cuda/shared_shifts.hpp"
#include "devices/cuda/shared_sums.hpp"

#include <algorithm>

namespace pnmf {
namespace {

/// Work of a backend whose cells are those of one of several processes, beside points and products.
template <class Real>
double bytes_of_process(const DeviceNeed& need, const cuda::Shape& shape) {
    const auto columns = static_cast<double>(need.outer + need.sent) * static_cast<double>(need.scales);
    const auto all = static_cast<double>(need.gathered * shape.stride());
    const CellBlocks blocks{need.cells, need.cells_in_block};
    return all * sizeof(Real) + columns * (8.0 + static_cast<double>(need.rank) * sizeof(Real)) +
           cuda::SharedSums<Real>::bytes_of_work(shape, need.processes, blocks) +
           (need.shifts ? cuda::SharedShifts<Real>::bytes_of_work(shape, static_cast<double>(need.components))
                        : 0.0);
}

/// Of everything whose size does not depend on where it stands (shape.hpp).
template <class Real>
double bytes_of_run(const DeviceNeed& need) {
    const cuda::Shape shape{need.features, need.cells, static_cast<int>(need.scales),
                            static_cast<int>(need.rank)};
    const auto stacked = static_cast<double>(shape.stacked());
    const auto bases = static_cast<double>(shape.bases());
    const auto behind = static_cast<double>(need.outer * shape.stride());
    const double points = (need.momentum ? 2.0 : 1.0) * (stacked + behind + bases);
    const double products = 2.0 * stacked + bases + 2.0 * static_cast<double>(shape.grams()) +
                            static_cast<double>(cuda::gram_parts(shape)) +
                            static_cast<double>(need.scales * (need.features + need.cells));
    const double moving =
        static_cast<double>(need.cells * need.rank); // a scale on its way to or from the host
    int processors = 0;
    int shared_bytes = 0;
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    const double shared = (points + products + moving) * sizeof(Real) +
                          cuda::EmbeddingPass<Real>::bytes_of_work(shape, processors, shared_bytes) +
                          cuda::bytes_of_libraries;
    if (need.processes > 1) {
        const double data =
            shape.cells > 0 ? cuda::DeviceData<Real>::bytes_of_work(shape, !need.dense, need.cells_in_block)
                            : 0.0;
        return shared + data + bytes_of_process<Real>(need, shape);
    }
    const double shifts =
        need.shifts ? cuda::ComponentShifts<Real>::bytes_of_work(shape, static_cast<double>(need.components))
                    : 0.0;
    return shared + 8.0 * static_cast<double>(cuda::measure_parts(shape)) +
           cuda::DeviceData<Real>::bytes_of_work(shape, !need.dense) + shifts;
}

} // namespace

void cuda::use_device_of(const Processes& processes) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "counting devices");
    check(cudaSetDevice(processes.place_here() % std::max(1, count)), "taking the device of a process");
}

DeviceFacts cuda_facts() {
    DeviceFacts facts;
    facts.built = true;
    int count = 0;
    const cudaError_t asked = cudaGetDeviceCount(&count);
    if (asked != cudaSuccess || count == 0) {
        cudaGetLastError();
        facts.reason = asked == cudaSuccess ? "no CUDA device is there" : cudaGetErrorString(asked);
        return facts;
    }
    const Processes& processes = all_processes();
    const int device = processes.place_here() % count;
    cudaDeviceProp properties{};
    std::size_t free = 0;
    std::size_t total = 0;
    int together = 0;
    if (cudaSetDevice(device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess ||
        cudaMemGetInfo(&free, &total) != cudaSuccess ||
        cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, device) != cudaSuccess) {
        facts.reason = cudaGetErrorString(cudaGetLastError());
        return facts;
    }
    facts.name = properties.name;
    facts.free_bytes = static_cast<double>(free);
    facts.total_bytes = static_cast<double>(total);
    facts.sharing = (processes.count_here() - 1 - device) / count + 1;
    facts.found = together != 0;
    facts.reason = facts.found ? "" : "the device is too old: its threads cannot wait for each other";
    return facts;
}

double cuda_bytes(const DeviceNeed& need) {
    const double data = cuda::bytes_of_data(need.data_on_host ? 0 : need.nonzeros, need.dense, need.features,
                                            need.cells, need.bytes_of_number);
    return data + cuda::bytes_of_graph(need.graph_entries, need.table, need.cells, need.bytes_of_number) +
           (need.bytes_of_number == sizeof(float) ? bytes_of_run<float>(need) : bytes_of_run<double>(need));
}

} // namespace pnmf
