#include "solvers/interpolate.hpp"

#include "linalg/arrays_on_disk.hpp"

#include <pnmf/parallel.hpp>
#include <pnmf/solvers/initial.hpp>

#include <algorithm>

namespace pnmf {
namespace {

constexpr Index cells_at_once = 4096; // that a thread takes

} // namespace

template <class Real>
Factors<Real> interpolate(const Factors<Real>& factors, const std::vector<Index>& known,
                          const std::vector<Index>& wanted, Index features,
                          const std::filesystem::path& bases_in) {
    auto result = empty_factors<Real>(std::ssize(wanted), features, factors.rank(), bases_in);
    parallel_for(static_cast<Index>(wanted.size()), [&](Index i) {
        const auto after = std::lower_bound(known.begin(), known.end(), wanted[i]);
        const Index b = after - known.begin();
        DenseMatrix<Real> buffer_before;
        DenseMatrix<Real> buffer_after;
        if (known[b] == wanted[i]) {
            result.W[i] = factors.basis(b, buffer_after);
            result.H[i] = factors.H[b];
            result.rest(i);
            return;
        }
        const auto share =
            static_cast<Real>(wanted[i] - known[b - 1]) / static_cast<Real>(known[b] - known[b - 1]);
        result.W[i] =
            (Real{1} - share) * factors.basis(b - 1, buffer_before) + share * factors.basis(b, buffer_after);
        resize_on_disk(result.H[i], factors.H[b].rows(), factors.H[b].cols());
        parallel_blocks(factors.H[b].cols(), cells_at_once, [&](Index begin, Index end) {
            const Index count = end - begin;
            result.H[i].middleCols(begin, count) =
                (Real{1} - share) * factors.H[b - 1].middleCols(begin, count) +
                share * factors.H[b].middleCols(begin, count);
        });
        make_columns_unit(result.W[i], result.H[i]);
        result.rest(i);
    });
    return result;
}

template Factors<float> interpolate(const Factors<float>&, const std::vector<Index>&,
                                    const std::vector<Index>&, Index, const std::filesystem::path&);
template Factors<double> interpolate(const Factors<double>&, const std::vector<Index>&,
                                     const std::vector<Index>&, Index, const std::filesystem::path&);

} // namespace pnmf
