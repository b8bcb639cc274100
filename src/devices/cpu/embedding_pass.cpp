#include "devices/cpu/embedding_pass.hpp"

#include "linalg/aligned_buffer.hpp"
#include "linalg/kernels/kernels.hpp"

#include <pnmf/parallel.hpp>

#include <algorithm>
#include <deque>

namespace pnmf {
namespace {

/// Where the numbers of every scale that moves are, as the kernel wants them.
template <class Real>
class ChainPass {
  public:
    ChainPass(const std::vector<ScalePenalty>& penalties, const std::vector<ScaleProducts<Real>>& products,
              std::vector<DenseMatrix<Real>>& H, const std::vector<Index>& moving)
        : coupling_(moving.size() + 1, Real{0}) {
        for (std::size_t i = 0; i < moving.size(); ++i) {
            const Index t = moving[i];
            WtX_.push_back(products[t].WtX.data());
            WtW_.push_back(products[t].WtW.data());
            HA_.push_back(products[t].HA.data());
            degree_.push_back(products[t].degree.data());
            H_.push_back(H[t].data());
            graph_.push_back(static_cast<Real>(penalties[t].graph));
            anchor_.push_back(static_cast<Real>(penalties[t].anchor));
            if (i > 0 && moving[i - 1] == t - 1) {
                coupling_[i] = static_cast<Real>(penalties[t].before);
            } else if (t > 0) {
                hold_to(H[t - 1], penalties[t].before, products[t].WtX);
            }
            if (t + 1 < std::ssize(H) && (i + 1 == moving.size() || moving[i + 1] != t + 1)) {
                hold_to(H[t + 1], penalties[t].after, products[t].WtX);
            }
        }
        arguments_ = {std::ssize(H_), H.front().rows(), WtX_.data(),   WtW_.data(),    HA_.data(),
                      degree_.data(), H_.data(),        graph_.data(), anchor_.data(), coupling_.data()};
    }

    /// Cells [begin, end).
    void operator()(Index begin, Index end) const {
        constexpr Index lanes = chain_lanes<Real>;
        thread_local KeptAlignedBuffer<Real> kept;
        Real* const buffer = kept.at_least(chain_buffer<Real>(arguments_.scales, arguments_.rank));
        for (Index first = begin; first < end; first += lanes) {
            kernels().of<Real>().chain(arguments_, first, std::min(end, first + lanes), buffer);
        }
    }

  private:
    /// s‖H − F‖² for a frozen F: more of the anchor, s‖H‖², and of the linear term, −2s⟨F, H⟩, which stands
    /// with WᵀX. Of the scale that was added last.
    void hold_to(const DenseMatrix<Real>& frozen, double coupling, const DenseMatrix<Real>& WtX) {
        const auto s = static_cast<Real>(coupling);
        anchor_.back() += s;
        if (WtX_.back() == WtX.data()) {
            pulled_.push_back(WtX + s * frozen);
        } else {
            pulled_.back() += s * frozen;
        }
        WtX_.back() = pulled_.back().data();
    }

    std::deque<DenseMatrix<Real>> pulled_; ///< stay where they are while more come
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
                      const std::vector<ScaleProducts<Real>>& products, std::vector<DenseMatrix<Real>>& H,
                      const FrozenScales& frozen) {
    const std::vector<Index> moving = moving_scales(frozen, std::ssize(H));
    if (moving.empty()) {
        return;
    }
    const ChainPass<Real> pass(penalties, products, H, moving);
    // Few cells for a thread at a time: they are few where scales are many.
    parallel_blocks(H.front().cols(), 2 * chain_lanes<Real>, pass);
}

#define PNMF_INSTANTIATE(Real)                                                                               \
    template void pass_along_chain(const std::vector<ScalePenalty>&,                                         \
                                   const std::vector<ScaleProducts<Real>>&, std::vector<DenseMatrix<Real>>&, \
                                   const FrozenScales&);
PNMF_INSTANTIATE(float)
PNMF_INSTANTIATE(double)
#undef PNMF_INSTANTIATE

} // namespace pnmf
