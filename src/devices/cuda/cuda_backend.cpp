#include "devices/cuda/cuda_backend.hpp"
#include "devices/cpu/component_shifts.hpp"
#include "devices/cuda/basis_step.hpp"
#include "devices/cuda/component_shifts.hpp"
#include "devices/cuda/device_point.hpp"
#include "devices/cuda/host_data.hpp"
#include "devices/cuda/measures.hpp"
#include "devices/cuda/merge_order.hpp"
#include "devices/cuda/stacks.hpp"

#include <optional>

namespace pnmf {
namespace {

template <class Real>
class CudaBackend final : public Backend<Real> {
  public:
    explicit CudaBackend(const Problem<Real>& problem)
        : problem_(problem), penalties_(scale_penalties(problem)), on_device_(penalties_) {
        cuda::take_data(*problem.X, data_);
        cuda::take_graph(problem, graph_);
    }

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        outside_current_ = &current;
        outside_previous_ = &previous;
        prepare({.features = problem_.features(),
                 .cells = problem_.cells(),
                 .scales = static_cast<int>(problem_.scales()),
                 .rank = static_cast<int>(current.rank())});
        take(current, current_);
        if (previous.scales() > 0) {
            take(previous, previous_);
        }
        measured_.clear();
        moving_ = &current_;
        graph_is_new_ = false;
    }

    void store() override {
        give(current_, *outside_current_);
        if (!previous_.H.empty()) {
            if (outside_previous_->scales() == 0) {
                *outside_previous_ =
                    *outside_current_; // its shapes, and a file of its own where there is one
            }
            give(previous_, *outside_previous_);
        }
    }

    void store_last() override {
        *outside_previous_ = {};
        give(current_, *outside_current_);
    }

    void move_in_place() override { begin(current_); }

    void move_copy() override {
        previous_.W.copy_from(current_.W);
        previous_.H.copy_from(current_.H);
        begin(previous_);
    }

    void extrapolate(const std::vector<double>& beta) override {
        beta_.upload(std::vector<Real>(beta.begin(), beta.end()));
        cuda::extrapolate_basis(shape_, beta_.get(), current_.W.get(), previous_.W.get());
        cuda::extrapolate_stack(shape_, beta_.get(), current_.H.get(), previous_.H.get());
        begin(previous_);
    }

    void accept() override {
        std::swap(current_, previous_);
        moving_ = &current_;
    }

    void undo() override {
        measured_.clear();
        moving_ = &current_;
        graph_is_new_ = false;
    }

    std::vector<Movement> basis_step(Index passes) override {
        measured_.clear();
        std::vector<Movement> moved = step_basis(*moving_, passes);
        basis_products(*moving_, products_);
        return moved;
    }

    /// Within a sweep HA may still be that of H: shifts keep it so. Between sweeps it is made anew, so that a
    /// run that was stopped in between ends with the same bits.
    void graph_products() override {
        if (!graph_is_new_) {
            measured_.clear();
            graph_.products(library_, shape_, moving_->H.get(), products_.HA.get());
            graph_is_new_ = true;
        }
    }

    void embedding_pass() override {
        measured_.clear();
        pass_.run(on_device_.rounded(), view(products_), moving_->H.get());
        graph_is_new_ = false;
    }

    void shift_components() override {
        measured_.clear();
        if (!shifts_.ready()) {
            shifts_.prepare(shape_,
                            cuda::merge_order(ComponentForest(problem_.graph->tree(), problem_.epsilon),
                                              cuda::ComponentShifts<Real>::pieces_of(shape_)));
        }
        shifts_.run(on_device_.rounded(), on_device_.exact(), view(products_), moving_->H.get());
    }

    std::vector<Objective> terms() override { return terms_of(measured_moving()); }

    std::vector<Movement> movement_H() override { return cuda::movements_from(measured_moving()); }

    Objective objective() override {
        return with_products_of_current([&](cuda::DeviceProducts<Real>& products) {
            return cuda::sum(terms_of(measure(current_, products)));
        });
    }

    Evaluation evaluate() override {
        return with_products_of_current([&](cuda::DeviceProducts<Real>& products) {
            const std::vector<cuda::AllSums> sums = measure(current_, products);
            Evaluation result{cuda::sum(terms_of(sums)), {}};
            const std::vector<Movement> H = cuda::movements_from(sums);
            const std::vector<Movement> W = step_basis(current_, 0);
            for (std::size_t t = 0; t < H.size(); ++t) {
                result.residuals.push_back({H[t], W[t]});
            }
            return result;
        });
    }

  private:
    void prepare(const cuda::Shape& shape) {
        shape_ = shape;
        products_.allocate(shape);
        XHt_.allocate(shape.bases());
        HHt_.allocate(shape.grams());
        gram_parts_.allocate(cuda::gram_parts(shape));
        room_.allocate(shape.scales * shape.features);
        sums_.allocate(static_cast<std::int64_t>(shape.scales) * cuda::all_sums);
        parts_.allocate(cuda::measure_parts(shape));
        degree_.allocate(shape.cells * shape.scales);
        data_.prepare(shape);
        pass_.prepare(shape);
        graph_.degrees(shape, degree_.get());
    }

    /// A sweep begins at this point.
    void begin(cuda::DevicePoint<Real>& point) {
        measured_.clear();
        moving_ = &point;
        graph_is_new_ = false;
    }

    void take(const Factors<Real>& factors, cuda::DevicePoint<Real>& point) {
        point.W.allocate(shape_.bases());
        point.H.allocate(shape_.stacked());
        cuda::DeviceArray<Real> of_scale(shape_.cells * shape_.rank);
        DenseMatrix<Real> room;
        for (int t = 0; t < shape_.scales; ++t) {
            const DenseMatrix<Real>& W = factors.basis(t, room);
            point.W.upload_part(W.data(), t * W.size(), W.size());
            of_scale.upload_part(factors.H[static_cast<std::size_t>(t)].data(), 0, of_scale.size());
            cuda::put_scale(shape_, t, of_scale.get(), point.H.get());
        }
    }

    void give(const cuda::DevicePoint<Real>& point, Factors<Real>& factors) {
        cuda::DeviceArray<Real> of_scale(shape_.cells * shape_.rank);
        factors.W.resize(static_cast<std::size_t>(shape_.scales));
        factors.H.resize(static_cast<std::size_t>(shape_.scales));
        for (int t = 0; t < shape_.scales; ++t) {
            auto& W = factors.W[static_cast<std::size_t>(t)];
            auto& H = factors.H[static_cast<std::size_t>(t)];
            W.resize(shape_.features, shape_.rank);
            H.resize(shape_.rank, shape_.cells);
            point.W.download_part(W.data(), t * W.size(), W.size());
            cuda::get_scale(shape_, t, point.H.get(), of_scale.get());
            of_scale.download_part(H.data(), 0, of_scale.size());
            factors.rest(t);
        }
    }

    cuda::ProductsView<Real> view(cuda::DeviceProducts<Real>& products) {
        return {products.WtX.get(), products.WtW.get(), products.HA.get(), degree_.get()};
    }

    /// XHᵀ and HHᵀ, how far W would move, and `passes` over its columns.
    std::vector<Movement> step_basis(cuda::DevicePoint<Real>& point, Index passes) {
        data_.times_transposed(library_, point.H.get(), XHt_.get());
        cuda::gram_of_rows(library_, shape_, point.H.get(), gram_parts_.get(), HHt_.get());
        cuda::step_basis(shape_, static_cast<int>(passes), XHt_.get(), HHt_.get(), point.W.get(), room_.get(),
                         sums_.get());
        std::vector<Movement> moved = movements();
        for (std::size_t t = 0; t < moved.size(); ++t) {
            moved[t] = penalties_[t].fit * moved[t];
        }
        return moved;
    }

    void basis_products(const cuda::DevicePoint<Real>& point, cuda::DeviceProducts<Real>& products) {
        const Real* const weight = on_device_.rounded().fit;
        cuda::gram_of_columns(library_, shape_, point.W.get(), weight, products.WtW.get());
        data_.transposed_times(library_, point.W.get(), weight, products.WtX.get());
    }

    std::vector<Movement> movements() const {
        std::vector<double> sums(2 * penalties_.size());
        sums_.download_part(sums.data(), 0, std::ssize(sums));
        std::vector<Movement> moved;
        for (std::size_t t = 0; t < penalties_.size(); ++t) {
            moved.push_back({sums[2 * t], sums[2 * t + 1]});
        }
        return moved;
    }

    /// Sums over the cells of a point, every scale. Both measures of a point read the same numbers.
    std::vector<cuda::AllSums> measure(const cuda::DevicePoint<Real>& point,
                                       cuda::DeviceProducts<Real>& products) {
        cuda::sum_all(shape_, on_device_.rounded(), view(products), point.H.get(), parts_.get(), sums_.get());
        std::vector<cuda::AllSums> sums(penalties_.size());
        static_assert(sizeof(cuda::AllSums) == cuda::all_sums * sizeof(double));
        sums_.download_part(&sums.front().terms.fit_linear, 0, cuda::all_sums * std::ssize(sums));
        return sums;
    }

    /// Those of the moving point, kept until it moves.
    const std::vector<cuda::AllSums>& measured_moving() {
        if (measured_.empty()) {
            measured_ = measure(*moving_, products_);
        }
        return measured_;
    }

    std::vector<Objective> terms_of(const std::vector<cuda::AllSums>& sums) {
        if (!squared_norm_X_) {
            squared_norm_X_ = problem_.X->squared_norm();
        }
        return cuda::terms_from(penalties_, *squared_norm_X_, sums);
    }

    /// All products of `current`. Where it is the moving point they may take the place of its own, which are
    /// the same or older; else they stand apart.
    template <class Use>
    auto with_products_of_current(const Use& use) {
        measured_.clear();
        std::optional<cuda::DeviceProducts<Real>> apart;
        if (moving_ != &current_) {
            apart.emplace().allocate(shape_);
        }
        cuda::DeviceProducts<Real>& products = apart ? *apart : products_;
        basis_products(current_, products);
        graph_.products(library_, shape_, current_.H.get(), products.HA.get());
        return use(products);
    }

    const Problem<Real>& problem_;
    std::vector<ScalePenalty> penalties_;
    cuda::DevicePenalties<Real> on_device_;
    cuda::Products library_;
    cuda::DeviceData<Real> data_;
    cuda::DeviceGraph<Real> graph_;
    cuda::EmbeddingPass<Real> pass_;
    cuda::ComponentShifts<Real> shifts_; ///< once components were shifted
    cuda::Shape shape_;
    cuda::DevicePoint<Real> current_;
    cuda::DevicePoint<Real> previous_;
    cuda::DevicePoint<Real>* moving_ = nullptr;
    cuda::DeviceProducts<Real> products_; ///< of the moving point
    bool graph_is_new_ = false;           ///< HA belongs to H of the moving point
    cuda::DeviceArray<Real> degree_;
    cuda::DeviceArray<Real> XHt_;
    cuda::DeviceArray<Real> HHt_;
    cuda::DeviceArray<Real> gram_parts_;
    cuda::DeviceArray<Real> room_;
    cuda::DeviceArray<Real> beta_;
    cuda::DeviceArray<double> parts_;
    cuda::DeviceArray<double> sums_;
    std::vector<cuda::AllSums> measured_;  ///< of the moving point, where they are known
    std::optional<double> squared_norm_X_; ///< once it was needed
    Factors<Real>* outside_current_ = nullptr;
    Factors<Real>* outside_previous_ = nullptr;
};

} // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_cuda_backend(const Problem<Real>& problem) {
    return std::make_unique<CudaBackend<Real>>(problem);
}

template std::unique_ptr<Backend<float>> make_cuda_backend(const Problem<float>&);
template std::unique_ptr<Backend<double>> make_cuda_backend(const Problem<double>&);

} // namespace pnmf
