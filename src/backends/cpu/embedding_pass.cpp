#include "backends/cpu/embedding_pass.hpp"

#include "linalg/aligned_room.hpp"
#include "linalg/kernels/kernels.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>

namespace pnmf {
namespace {

/// Where the numbers of every scale are, as the kernel wants them.
template <class Real>
class ChainPass {
  public:
    ChainPass(const std::vector<ScalePenalty>& penalties, const std::vector<ScaleProducts<Real>>& products,
              std::vector<DenseMatrix<Real>>& H)
        : coupling_(H.size() + 1, Real{0}) {
        for (std::size_t t = 0; t < H.size(); ++t) {
            WtX_.push_back(products[t].WtX.data());
            WtW_.push_back(products[t].WtW.data());
            HA_.push_back(products[t].HA.data());
            degree_.push_back(products[t].degree.data());
            H_.push_back(H[t].data());
            graph_.push_back(static_cast<Real>(penalties[t].graph));
            anchor_.push_back(static_cast<Real>(penalties[t].anchor));
            if (t > 0) {
                coupling_[t] = static_cast<Real>(penalties[t].before);
            }
        }
        arguments_ = {std::ssize(H),  H.front().rows(), WtX_.data(),   WtW_.data(),    HA_.data(),
                      degree_.data(), H_.data(),        graph_.data(), anchor_.data(), coupling_.data()};
    }

    /// Cells [begin, end).
    void operator()(Index begin, Index end) const {
        constexpr Index lanes = chain_lanes<Real>;
        const AlignedRoom<Real> room(chain_room<Real>(arguments_.scales, arguments_.rank));
        for (Index first = begin; first < end; first += lanes) {
            kernels().of<Real>().chain(arguments_, first, std::min(end, first + lanes), room.data());
        }
    }

  private:
    std::vector<const Real*> WtX_;
    std::vector<const Real*> WtW_;
    std::vector<const Real*> HA_;
    std::vector<const Real*> degree_;
    std::vector<Real*> H_;
    std::vector<Real> graph_;
    std::vector<Real> anchor_;
    std::vector<Real> coupling_;
    ChainArguments<Real> arguments_{};
};

} // namespace

template <class Real>
void pass_along_chain(const std::vector<ScalePenalty>& penalties,
                      const std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H) {
    const ChainPass<Real> pass(penalties, products, H);
    // Few cells for a thread at a time: they are few where scales are many.
    parallel_blocks(H.front().cols(), 2 * chain_lanes<Real>, pass);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void pass_along_chain(const std::vector<ScalePenalty>&,                                         \
                                   const std::vector<ScaleProducts<Real>>&,                                  \
                                   std::vector<DenseMatrix<Real>>&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
