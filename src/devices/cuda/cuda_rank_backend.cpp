#include "devices/cuda/cuda_rank_backend.hpp"

#include "devices/cuda/basis_step.hpp"
#include "devices/cuda/cuda_backend.hpp"
#include "devices/cuda/device_point.hpp"
#include "devices/cuda/host_data.hpp"
#include "devices/cuda/rank_shifts.hpp"
#include "devices/cuda/rank_sums.hpp"
#include "devices/cuda/stacks.hpp"
#include "devices/cuda/surroundings.hpp"
#include "devices/ranks/columns_of.hpp"
#include "devices/ranks/rank_points.hpp"

#include <optional>

namespace pnmf {
namespace {

template <class Real>
class CudaRankBackend final : public Backend<Real> {
  public:
    CudaRankBackend(const Problem<Real>& problem, Communicator& ranks, const CellBlocks& blocks)
        : problem_(problem), ranks_(ranks), shares_(share(blocks, ranks.size())),
          slab_(shares_.slab(ranks.rank())), squared_norm_X_(problem.X->squared_norm()),
          penalties_(scale_penalties(problem)), on_device_(penalties_), around_(problem, shares_, ranks),
          sums_(shares_, ranks), divided_(problem.X->is_part()) {
        cuda::take_data(*columns_of(*problem.X, slab_), data_);
    }

    void load(Factors<Real>& current, Factors<Real>& previous) override {
        outside_current_ = &current;
        outside_previous_ = &previous;
        prepare({.features = problem_.features(),
                 .cells = slab_.cells(),
                 .scales = static_cast<int>(problem_.scales()),
                 .rank = static_cast<int>(current.rank())});
        take(current, current_);
        if (previous.scales() > 0) {
            take(previous, previous_);
        }
        begin(current_);
    }

    void store() override {
        give(current_, *outside_current_);
        if (!previous_.W.empty()) {
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
        if (has_cells()) {
            cuda::extrapolate_stack(shape_, beta_.get(), current_.H.get(), previous_.H.get());
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

    /// As with one rank: within a sweep HA may still be that of H.
    void graph_products() override {
        if (!graph_is_new_) {
            measured_.clear();
            around_.products(library_, moving_->H.get(), products_.HA.get());
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
        if (!shifts_.ready()) {
            shifts_.prepare(shape_, ComponentForest(problem_.graph->tree(), problem_.epsilon), shares_,
                            ranks_.rank());
        }
        shifts_.run(penalties_, on_device_.rounded(), on_device_.exact(), view(products_), ranks_,
                    moving_->H.get());
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
    bool has_cells() const { return shape_.cells > 0; }

    void prepare(const cuda::Shape& shape) {
        shape_ = shape;
        products_.allocate(shape);
        degree_.allocate(shape.cells * shape.scales);
        around_.prepare(shape);
        around_.degrees(degree_.get());
        sums_.prepare(shape);
        if (has_cells()) {
            data_.prepare(shape, slab_.blocks.size);
            pass_.prepare(shape);
        }
    }

    /// A sweep begins at this point.
    void begin(cuda::DevicePoint<Real>& point) {
        measured_.clear();
        moving_ = &point;
        graph_is_new_ = false;
    }

    /// Where the cells of this rank begin in factors outside.
    Index first_outside() const { return divided_ ? 0 : slab_.first_cell(); }

    void take(const Factors<Real>& factors, cuda::DevicePoint<Real>& point) {
        point.W.allocate(shape_.bases());
        point.H.allocate(shape_.stacked() + around_.columns_behind() * shape_.stride());
        cuda::DeviceArray<Real> of_scale(shape_.cells * shape_.rank);
        DenseMatrix<Real> room;
        for (int t = 0; t < shape_.scales; ++t) {
            const DenseMatrix<Real>& W = factors.basis(t, room);
            point.W.upload_part(W.data(), t * W.size(), W.size());
            if (has_cells()) {
                const DenseMatrix<Real>& H = factors.H[static_cast<std::size_t>(t)];
                of_scale.upload_part(H.data() + first_outside() * H.rows(), 0, of_scale.size());
                cuda::put_scale(shape_, t, of_scale.get(), point.H.get());
            }
        }
    }

    void give(const cuda::DevicePoint<Real>& point, Factors<Real>& factors) {
        cuda::DeviceArray<Real> of_scale(shape_.cells * shape_.rank);
        factors.W.resize(static_cast<std::size_t>(shape_.scales));
        factors.H.resize(static_cast<std::size_t>(shape_.scales));
        for (int t = 0; t < shape_.scales; ++t) {
            auto& W = factors.W[static_cast<std::size_t>(t)];
            W.resize(shape_.features, shape_.rank);
            point.W.download_part(W.data(), t * W.size(), W.size());
            factors.rest(t);
            DenseMatrix<Real> part(shape_.rank, shape_.cells);
            if (has_cells()) {
                cuda::get_scale(shape_, t, point.H.get(), of_scale.get());
                of_scale.download_part(part.data(), 0, of_scale.size());
            }
            factors.H[static_cast<std::size_t>(t)] =
                divided_ ? std::move(part) : all_columns(shares_, ranks_, part);
        }
    }

    cuda::ProductsView<Real> view(cuda::DeviceProducts<Real>& products) {
        return {products.WtX.get(), products.WtW.get(), products.HA.get(), degree_.get()};
    }

    /// XHᵀ and HHᵀ on the ranks that own the scales, how far W would move, and `passes` over its columns,
    /// after which all ranks have all of W.
    std::vector<Movement> step_basis(cuda::DevicePoint<Real>& point, Index passes) {
        sums_.collect(library_, data_, point.H.get());
        std::vector<Movement> moved = sums_.step(passes, point.W);
        for (std::size_t t = 0; t < moved.size(); ++t) {
            moved[t] = penalties_[t].fit * moved[t];
        }
        return moved;
    }

    void basis_products(const cuda::DevicePoint<Real>& point, cuda::DeviceProducts<Real>& products) {
        const Real* const weight = on_device_.rounded().fit;
        cuda::gram_of_bases(shape_, point.W.get(), weight, products.WtW.get());
        if (has_cells()) {
            data_.transposed_times(library_, point.W.get(), weight, products.WtX.get());
        }
    }

    std::vector<cuda::AllSums> measure(const cuda::DevicePoint<Real>& point,
                                       cuda::DeviceProducts<Real>& products) {
        return sums_.measure(on_device_.rounded(), view(products), point.H.get());
    }

    const std::vector<cuda::AllSums>& measured_moving() {
        if (measured_.empty()) {
            measured_ = measure(*moving_, products_);
        }
        return measured_;
    }

    std::vector<Objective> terms_of(const std::vector<cuda::AllSums>& sums) const {
        return cuda::terms_from(penalties_, squared_norm_X_, sums);
    }

    /// All products of `current`, in the place of those of the moving point where they are the same point.
    template <class Use>
    auto with_products_of_current(const Use& use) {
        measured_.clear();
        std::optional<cuda::DeviceProducts<Real>> apart;
        if (moving_ != &current_) {
            apart.emplace().allocate(shape_);
        }
        cuda::DeviceProducts<Real>& products = apart ? *apart : products_;
        basis_products(current_, products);
        around_.products(library_, current_.H.get(), products.HA.get());
        return use(products);
    }

    const Problem<Real>& problem_;
    Communicator& ranks_;
    BlockShares shares_;
    BlockSlab slab_;
    double squared_norm_X_; ///< of all cells
    std::vector<ScalePenalty> penalties_;
    cuda::DevicePenalties<Real> on_device_;
    cuda::Products library_;
    cuda::DeviceData<Real> data_; ///< of the slab
    cuda::Surroundings<Real> around_;
    cuda::RankSums<Real> sums_;
    cuda::EmbeddingPass<Real> pass_;
    cuda::RankShifts<Real> shifts_; ///< once components were shifted
    cuda::Shape shape_;             ///< cells are those of the slab
    cuda::DevicePoint<Real> current_;
    cuda::DevicePoint<Real> previous_;
    cuda::DevicePoint<Real>* moving_ = nullptr;
    cuda::DeviceProducts<Real> products_; ///< of the moving point
    bool graph_is_new_ = false;           ///< HA belongs to H of the moving point
    cuda::DeviceArray<Real> degree_;
    cuda::DeviceArray<Real> beta_;
    std::vector<cuda::AllSums> measured_; ///< of the moving point, where they are known
    Factors<Real>* outside_current_ = nullptr;
    Factors<Real>* outside_previous_ = nullptr;
    bool divided_; ///< they have the cells of this rank alone
};

} // namespace

template <class Real>
std::unique_ptr<Backend<Real>> make_cuda_rank_backend(const Problem<Real>& problem, Communicator& ranks,
                                                      const CellBlocks& blocks) {
    cuda::use_device_of(ranks);
    return std::make_unique<CudaRankBackend<Real>>(problem, ranks, blocks);
}

template std::unique_ptr<Backend<float>> make_cuda_rank_backend(const Problem<float>&, Communicator&,
                                                                const CellBlocks&);
template std::unique_ptr<Backend<double>> make_cuda_rank_backend(const Problem<double>&, Communicator&,
                                                                 const CellBlocks&);

} // namespace pnmf
