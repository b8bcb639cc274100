#pragma once

#include "devices/cuda/basis_step.hpp"
#include "devices/cuda/device_point.hpp"
#include "devices/cuda/host_data.hpp"
#include "devices/cuda/stacks.hpp"
#include "solvers/backend.hpp"

#include <optional>
#include <utility>

namespace pnmf::cuda {

/// Sweeps on CUDA devices. `Cells` says what is over all cells where one process has them all (`AllCells`)
/// and where several share them (`SharedCells`):
///
///     Index count() const;          // cells here
///     Index first_outside() const;  // where they begin in factors outside
///     Index columns_behind() const; // columns that H must have memory for behind them
///     DenseMatrix<Real> outside(DenseMatrix<Real> part); // H as factors outside have it
///     void prepare(const Shape&, Real* degree);
///     void graph_products(const Products&, Real* H, Real* HA);
///     void gram(const Products&, const Real* W, const Real* weight, Real* WtW);
///     void transposed_times(const Products&, const Real* W, const Real* weight, Real* WtX);
///     std::vector<Movement> step_basis(const Products&, const Real* H, Index passes, DeviceArray<Real>& W);
///     std::vector<AllSums> measure(const Penalties<Real>&, const ProductsView<Real>&, const Real* H);
///     void shift(const std::vector<ScalePenalty>&, const DevicePenalties<Real>&, const ProductsView<Real>&,
///                Real* H);
template <class Real, template <class> class Cells>
class Sweeps final : public Backend<Real> {
  public:
    template <class... Arguments>
    explicit Sweeps(const Problem<Real>& problem, Arguments&&... arguments)
        : problem_(problem), cells_(problem, std::forward<Arguments>(arguments)...),
          penalties_(scale_penalties(problem)), on_device_(penalties_) {}

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        outside_current_ = &current;
        outside_previous_ = &previous;
        shape_ = {.features = problem_.features(),
                  .cells = cells_.count(),
                  .scales = static_cast<int>(problem_.scales()),
                  .rank = static_cast<int>(current.rank())};
        products_.allocate(shape_);
        degree_.allocate(shape_.cells * shape_.scales);
        if (has_cells()) {
            pass_.prepare(shape_);
        }
        cells_.prepare(shape_, degree_.get());
        take(current, current_);
        if (previous.scales() > 0) {
            take(previous, previous_);
        }
        begin(current_);
    }

    void store() override {
        give(current_, *outside_current_);
        if (!previous_.W.empty()) {
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
        extrapolate_basis(shape_, beta_.get(), current_.W.get(), previous_.W.get());
        if (has_cells()) {
            extrapolate_stack(shape_, beta_.get(), current_.H.get(), previous_.H.get());
        }
        begin(previous_);
    }

    void accept() override {
        std::swap(current_, previous_);
        moving_ = &current_;
    }

    void undo() override { begin(current_); }

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
            cells_.graph_products(library_, moving_->H.get(), products_.HA.get());
            graph_is_new_ = true;
        }
    }

    void embedding_pass() override {
        measured_.clear();
        if (has_cells()) {
            pass_.run(on_device_.rounded(), view(products_), moving_->H.get());
        }
        graph_is_new_ = false;
    }

    void shift_components() override {
        measured_.clear();
        cells_.shift(penalties_, on_device_, view(products_), moving_->H.get());
    }

    std::vector<Objective> terms() override { return terms_of(measured_moving()); }

    std::vector<Movement> movement_H() override { return movements_from(measured_moving()); }

    Objective objective() override {
        return with_products_of_current(
            [&](DeviceProducts<Real>& products) { return sum(terms_of(measure(current_, products))); });
    }

    Evaluation evaluate() override {
        return with_products_of_current([&](DeviceProducts<Real>& products) {
            const std::vector<AllSums> sums = measure(current_, products);
            Evaluation result{sum(terms_of(sums)), {}};
            const std::vector<Movement> H = movements_from(sums);
            const std::vector<Movement> W = step_basis(current_, 0);
            for (std::size_t t = 0; t < H.size(); ++t) {
                result.residuals.push_back({H[t], W[t]});
            }
            return result;
        });
    }

  private:
    bool has_cells() const { return shape_.cells > 0; }

    /// A sweep begins at this point.
    void begin(DevicePoint<Real>& point) {
        measured_.clear();
        moving_ = &point;
        graph_is_new_ = false;
    }

    void take(const Factors<Real>& factors, DevicePoint<Real>& point) {
        point.W.allocate(shape_.bases());
        point.H.allocate(shape_.stacked() + cells_.columns_behind() * shape_.stride());
        DeviceArray<Real> of_scale(shape_.cells * shape_.rank);
        DenseMatrix<Real> buffer;
        for (int t = 0; t < shape_.scales; ++t) {
            const DenseMatrix<Real>& W = factors.basis(t, buffer);
            point.W.upload_part(W.data(), t * W.size(), W.size());
            if (has_cells()) {
                const DenseMatrix<Real>& H = factors.H[static_cast<std::size_t>(t)];
                of_scale.upload_part(H.data() + cells_.first_outside() * H.rows(), 0, of_scale.size());
                put_scale(shape_, t, of_scale.get(), point.H.get());
            }
        }
    }

    void give(const DevicePoint<Real>& point, Factors<Real>& factors) {
        DeviceArray<Real> of_scale(shape_.cells * shape_.rank);
        factors.W.resize(static_cast<std::size_t>(shape_.scales));
        factors.H.resize(static_cast<std::size_t>(shape_.scales));
        for (int t = 0; t < shape_.scales; ++t) {
            auto& W = factors.W[static_cast<std::size_t>(t)];
            W.resize(shape_.features, shape_.rank);
            point.W.download_part(W.data(), t * W.size(), W.size());
            factors.rest(t);
            DenseMatrix<Real> H = std::move(factors.H[static_cast<std::size_t>(t)]);
            H.resize(shape_.rank, shape_.cells);
            if (has_cells()) {
                get_scale(shape_, t, point.H.get(), of_scale.get());
                of_scale.download_part(H.data(), 0, of_scale.size());
            }
            factors.H[static_cast<std::size_t>(t)] = cells_.outside(std::move(H));
        }
    }

    ProductsView<Real> view(DeviceProducts<Real>& products) {
        return {products.WtX.get(), products.WtW.get(), products.HA.get(), degree_.get()};
    }

    /// How far W would move, and `passes` over its columns.
    std::vector<Movement> step_basis(DevicePoint<Real>& point, Index passes) {
        std::vector<Movement> moved = cells_.step_basis(library_, point.H.get(), passes, point.W);
        for (std::size_t t = 0; t < moved.size(); ++t) {
            moved[t] = penalties_[t].fit * moved[t];
        }
        return moved;
    }

    void basis_products(const DevicePoint<Real>& point, DeviceProducts<Real>& products) {
        const Real* const weight = on_device_.rounded().fit;
        cells_.gram(library_, point.W.get(), weight, products.WtW.get());
        if (has_cells()) {
            cells_.transposed_times(library_, point.W.get(), weight, products.WtX.get());
        }
    }

    /// Sums over the cells of a point, every scale. Both measures of a point read the same numbers.
    std::vector<AllSums> measure(const DevicePoint<Real>& point, DeviceProducts<Real>& products) {
        return cells_.measure(on_device_.rounded(), view(products), point.H.get());
    }

    /// Those of the moving point, kept until it moves.
    const std::vector<AllSums>& measured_moving() {
        if (measured_.empty()) {
            measured_ = measure(*moving_, products_);
        }
        return measured_;
    }

    std::vector<Objective> terms_of(const std::vector<AllSums>& sums) {
        if (!squared_norm_X_) {
            squared_norm_X_ = problem_.X->squared_norm();
        }
        return terms_from(penalties_, *squared_norm_X_, sums);
    }

    /// All products of `current`. Where it is the moving point they may take the place of its own, which are
    /// the same or older; else they stand apart.
    template <class Use>
    auto with_products_of_current(const Use& use) {
        measured_.clear();
        std::optional<DeviceProducts<Real>> apart;
        if (moving_ != &current_) {
            apart.emplace().allocate(shape_);
        }
        DeviceProducts<Real>& products = apart ? *apart : products_;
        basis_products(current_, products);
        cells_.graph_products(library_, current_.H.get(), products.HA.get());
        return use(products);
    }

    const Problem<Real>& problem_;
    Cells<Real> cells_;
    std::vector<ScalePenalty> penalties_;
    DevicePenalties<Real> on_device_;
    Products library_;
    EmbeddingPass<Real> pass_;
    Shape shape_; ///< cells are those here
    DevicePoint<Real> current_;
    DevicePoint<Real> previous_;
    DevicePoint<Real>* moving_ = nullptr;
    DeviceProducts<Real> products_; ///< of the moving point
    bool graph_is_new_ = false;     ///< HA belongs to H of the moving point
    DeviceArray<Real> degree_;
    DeviceArray<Real> beta_;
    std::vector<AllSums> measured_;        ///< of the moving point, where they are known
    std::optional<double> squared_norm_X_; ///< of all cells, once it was needed
    Factors<Real>* outside_current_ = nullptr;
    Factors<Real>* outside_previous_ = nullptr;
};

} // namespace pnmf::cuda
