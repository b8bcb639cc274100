#pragma once

#include "devices/cpu/cpu_chain.hpp"
#include "devices/cuda/cuda_backend.hpp"
#include "devices/cuda/cuda_chain.hpp"
#include "devices/cuda/cuda_kmeans.hpp"
#include "devices/cuda/cuda_pairs.hpp"
#include "devices/cuda/cuda_products.hpp"

namespace pnmf {

/// Several processes make the links of the CPU.
template <class Real>
std::unique_ptr<Chain<Real>> make_cuda_links(const Problem<Real>& problem) {
    return all_processes().count() > 1 ? make_cpu_chain(problem) : make_cuda_chain(problem);
}

template <class Real>
inline constexpr DeviceWork<Real> cuda_work{
    .backend = make_cuda_backend<Real>, .chain = make_cuda_links<Real>, .products = make_cuda_products<Real>};

inline constexpr DeviceRow cuda_row{.device = Device::cuda,
                                    .facts = cuda_facts,
                                    .bytes = cuda_bytes,
                                    .in_float = cuda_work<float>,
                                    .in_double = cuda_work<double>,
                                    .searcher = make_cuda_searcher,
                                    .searcher_bytes = cuda_search_bytes,
                                    .products_bytes = cuda_products_bytes,
                                    .kmeans = cuda_kmeans};

} // namespace pnmf
