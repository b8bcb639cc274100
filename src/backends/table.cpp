#include "backends/cpu/cpu_backend.hpp"
#include "backends/cpu/cpu_chain.hpp"
#include "backends/ranks/rank_backend.hpp"
#include "metrics/kmeans_device.hpp"
#include "solvers/backend.hpp"
#include "solvers/device_facts.hpp"
#ifdef PNMF_HAS_CUDA
#include "backends/cuda/cuda_backend.hpp"
#include "backends/cuda/cuda_chain.hpp"
#include "backends/cuda/cuda_kmeans.hpp"
#include "backends/cuda/cuda_pairs.hpp"
#include "backends/cuda/cuda_products.hpp"
#include "backends/cuda/cuda_rank_backend.hpp"
#endif

#include <pnmf/error.hpp>
#include <pnmf/solvers/solver.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace pnmf {
namespace {

template <class Real>
struct Row {
    std::string_view name;
    std::unique_ptr<Backend<Real>> (*make)(const Problem<Real>&);
    std::unique_ptr<Backend<Real>> (*make_of_ranks)(const Problem<Real>&, Communicator&, const CellBlocks&);
    std::unique_ptr<Chain<Real>> (*make_chain)(const Problem<Real>&);
};

/// The backends of this build: a device adds its row here.
template <class Real>
constexpr std::array table{
    Row<Real>{"cpu", make_cpu_backend<Real>, make_rank_backend<Real>, make_cpu_chain<Real>},
#ifdef PNMF_HAS_CUDA
    Row<Real>{"cuda", make_cuda_backend<Real>, make_cuda_rank_backend<Real>, make_cuda_chain<Real>},
#endif
};

template <class Real>
const Row<Real>& row_of(const std::string& name) {
    const auto found = std::find_if(table<Real>.begin(), table<Real>.end(),
                                    [&](const Row<Real>& row) { return row.name == name; });
    require(found != table<Real>.end(), "the device must be one of {}, got {}", fmt::join(devices(), ", "),
            name);
    return *found;
}

} // namespace

std::vector<std::string> devices() {
    std::vector<std::string> names;
    for (const auto& row : table<double>) {
        names.emplace_back(row.name);
    }
    return names;
}

DeviceFacts cuda_device() {
#ifdef PNMF_HAS_CUDA
    return cuda_facts();
#else
    return {};
#endif
}

double cuda_device_bytes([[maybe_unused]] const DeviceNeed& need) {
#ifdef PNMF_HAS_CUDA
    return cuda_bytes(need);
#else
    return 0.0;
#endif
}

std::unique_ptr<PairSearcher> cuda_pair_searcher([[maybe_unused]] const Points& points) {
#ifdef PNMF_HAS_CUDA
    return make_cuda_searcher(points);
#else
    return nullptr;
#endif
}

double cuda_pair_bytes([[maybe_unused]] Index dimensions, [[maybe_unused]] Index cells) {
#ifdef PNMF_HAS_CUDA
    return cuda_search_bytes(dimensions, cells);
#else
    return 0.0;
#endif
}

template <class Real>
std::unique_ptr<DataProducts> cuda_data_products([[maybe_unused]] const DataMatrix<Real>& X) {
#ifdef PNMF_HAS_CUDA
    return make_cuda_products(X);
#else
    return nullptr;
#endif
}

double cuda_data_product_bytes([[maybe_unused]] const DeviceNeed& need) {
#ifdef PNMF_HAS_CUDA
    return cuda_products_bytes(need);
#else
    return 0.0;
#endif
}

KMeansFunction kmeans_on([[maybe_unused]] const std::string& device) {
#ifdef PNMF_HAS_CUDA
    if (device == "cuda") {
        return cuda_kmeans;
    }
#endif
    return {};
}

template <class Real>
std::unique_ptr<Backend<Real>> make_backend(const std::string& name, const Problem<Real>& problem) {
    Communicator& ranks = communicator();
    return ranks.size() > 1 ? make_rank_backend(name, problem, ranks, usual_blocks(problem.cells()))
                            : row_of<Real>(name).make(problem);
}

template <class Real>
std::unique_ptr<Backend<Real>> make_rank_backend(const std::string& device, const Problem<Real>& problem,
                                                 Communicator& ranks, const CellBlocks& blocks) {
    return row_of<Real>(device).make_of_ranks(problem, ranks, blocks);
}

template <class Real>
std::unique_ptr<Chain<Real>> make_chain(const std::string& device, const Problem<Real>& problem) {
    // Only the CPU's divides its work over ranks.
    return row_of<Real>(communicator().size() > 1 ? "cpu" : device).make_chain(problem);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template std::unique_ptr<Backend<Real>> make_backend(const std::string&, const Problem<Real>&);          \
    template std::unique_ptr<Backend<Real>> make_rank_backend(const std::string&, const Problem<Real>&,      \
                                                              Communicator&, const CellBlocks&);             \
    template std::unique_ptr<Chain<Real>> make_chain(const std::string&, const Problem<Real>&);              \
    template std::unique_ptr<DataProducts> cuda_data_products(const DataMatrix<Real>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
