#include "devices/cuda/cuda_chain.hpp"
#include "devices/cuda/basis_step.hpp"
#include "devices/cuda/chain_step.hpp"
#include "devices/cuda/host_data.hpp"
#include "devices/cuda/measures.hpp"
#include "devices/cuda/stacks.hpp"
#include "solvers/multiplicative.hpp"

#include <array>

namespace pnmf {
namespace {

template <class Real>
class CudaChain final : public Chain<Real> {
  public:
    explicit CudaChain(const Problem<Real>& problem)
        : problem_(problem), squared_norm_X_(problem.X->squared_norm()), data_(problem.data_on_host) {
        cuda::take_data(*problem.X, data_);
        cuda::take_graph(problem, graph_);
        one_.upload(std::array<Real, 1>{Real{1}});
    }

    Index fit(Index t, double tolerance, Index limit, Pair<Real>& pair) override {
        cuda::take_scale(problem_, t, graph_);
        load(pair);
        const Index steps = iterate_to_tolerance(loss(), tolerance, limit, [&](Index) {
            step();
            return loss();
        });
        store(pair);
        return steps;
    }

  private:
    void load(const Pair<Real>& pair) {
        shape_ = {.features = problem_.features(),
                  .cells = problem_.cells(),
                  .scales = 1,
                  .rank = static_cast<int>(pair.W.cols())};
        for (cuda::DeviceArray<Real>* const array : {&W_, &next_W_, &XHt_}) {
            array->allocate(shape_.bases());
        }
        for (cuda::DeviceArray<Real>* const array : {&H_, &WtX_, &HA_}) {
            array->allocate(shape_.stacked());
        }
        for (cuda::DeviceArray<Real>* const array : {&HHt_, &WtW_}) {
            array->allocate(shape_.grams());
        }
        gram_parts_.allocate(cuda::gram_parts(shape_));
        parts_.allocate(cuda::measure_parts(shape_));
        sums_.allocate(cuda::term_sums);
        norms_.allocate(shape_.rank);
        of_scale_.allocate(shape_.cells * shape_.rank);
        degree_.allocate(shape_.cells);
        data_.prepare(shape_);
        graph_.degrees(shape_, degree_.get());
        W_.upload_part(pair.W.data(), 0, pair.W.size());
        of_scale_.upload_part(pair.H.data(), 0, pair.H.size());
        cuda::put_scale(shape_, 0, of_scale_.get(), H_.get());
        basis_products();
        graph_.products(library_, shape_, H_.get(), HA_.get());
    }

    void store(Pair<Real>& pair) {
        W_.download_part(pair.W.data(), 0, pair.W.size());
        cuda::get_scale(shape_, 0, H_.get(), of_scale_.get());
        of_scale_.download_part(pair.H.data(), 0, pair.H.size());
    }

    /// One step of `fit_graph_regularized`.
    void step() {
        const auto tiny = static_cast<Real>(multiplicative_tiny);
        data_.times_transposed(library_, H_.get(), XHt_.get());
        cuda::gram_of_rows(library_, shape_, H_.get(), gram_parts_.get(), HHt_.get());
        cuda::plain_basis_step(shape_, tiny, XHt_.get(), HHt_.get(), W_.get(), next_W_.get());
        std::swap(W_, next_W_);
        basis_products();
        cuda::plain_embedding_step(shape_, static_cast<Real>(problem_.penalty.graph), tiny, view(), H_.get());
        graph_.products(library_, shape_, H_.get(), HA_.get());
        cuda::make_columns_unit(shape_, norms_.get(), W_.get(), H_.get(), WtX_.get(), WtW_.get(), HA_.get());
    }

    void basis_products() {
        cuda::gram_of_columns(library_, shape_, W_.get(), one_.get(), WtW_.get());
        data_.transposed_times(library_, W_.get(), one_.get(), WtX_.get());
    }

    double loss() {
        cuda::sum_terms(shape_, view(), H_.get(), parts_.get(), sums_.get());
        cuda::TermSums sums{};
        sums_.download_part(&sums.fit_linear, 0, cuda::term_sums);
        return squared_norm_X_ - 2.0 * sums.fit_linear + sums.fit_quadratic +
               problem_.penalty.graph * (sums.weighted - sums.joined);
    }

    cuda::ProductsView<Real> view() { return {WtX_.get(), WtW_.get(), HA_.get(), degree_.get()}; }

    const Problem<Real>& problem_;
    double squared_norm_X_;
    cuda::Products library_;
    cuda::DeviceData<Real> data_;
    cuda::DeviceGraph<Real> graph_;
    cuda::Shape shape_;
    cuda::DeviceArray<Real> one_; ///< the weight of the scale
    cuda::DeviceArray<Real> W_;
    cuda::DeviceArray<Real> next_W_;
    cuda::DeviceArray<Real> H_;
    cuda::DeviceArray<Real> XHt_;
    cuda::DeviceArray<Real> HHt_;
    cuda::DeviceArray<Real> WtX_;
    cuda::DeviceArray<Real> WtW_;
    cuda::DeviceArray<Real> HA_;
    cuda::DeviceArray<Real> degree_;
    cuda::DeviceArray<Real> gram_parts_;
    cuda::DeviceArray<Real> norms_;
    cuda::DeviceArray<Real> of_scale_;
    cuda::DeviceArray<double> parts_;
    cuda::DeviceArray<double> sums_;
};

} // namespace

template <class Real>
std::unique_ptr<Chain<Real>> make_cuda_chain(const Problem<Real>& problem) {
    return std::make_unique<CudaChain<Real>>(problem);
}

template std::unique_ptr<Chain<float>> make_cuda_chain(const Problem<float>&);
template std::unique_ptr<Chain<double>> make_cuda_chain(const Problem<double>&);

} // namespace pnmf
