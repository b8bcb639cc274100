#include "devices/cuda/cuda_backend.hpp"

#include "cells/devices/columns_of.hpp"
#include "cells/devices/own_points.hpp"
#include "devices/cpu/component_shifts.hpp"
#include "devices/cuda/cuda_sweeps.hpp"
#include "devices/cuda/merge_order.hpp"
#include "devices/cuda/outer_columns.hpp"
#include "devices/cuda/shared_shifts.hpp"
#include "devices/cuda/shared_sums.hpp"

namespace pnmf {
namespace cuda {
namespace {

/// One process has all cells.
template <class Real>
class AllCells {
  public:
    explicit AllCells(const Problem<Real>& problem) : problem_(problem), data_(problem.data_on_host) {
        take_data(*problem.X, data_);
        take_graph(problem, graph_);
    }

    Index count() const { return problem_.cells(); }
    Index first_outside() const { return 0; }
    Index columns_behind() const { return 0; }
    DenseMatrix<Real> outside(DenseMatrix<Real> part) const { return part; }

    void prepare(const Shape& shape, Real* degree) {
        shape_ = shape;
        XHt_.allocate(shape.bases());
        HHt_.allocate(shape.grams());
        gram_parts_.allocate(cuda::gram_parts(shape));
        features_.allocate(shape.scales * shape.features);
        sums_.allocate(static_cast<std::int64_t>(shape.scales) * all_sums);
        parts_.allocate(measure_parts(shape));
        data_.prepare(shape);
        graph_.degrees(shape, degree);
    }

    void graph_products(const Products& library, const Real* H, Real* HA) {
        graph_.products(library, shape_, H, HA);
    }
    void gram(const Products& library, const Real* W, const Real* weight, Real* WtW) const {
        gram_of_columns(library, shape_, W, weight, WtW);
    }
    void transposed_times(const Products& library, const Real* W, const Real* weight, Real* WtX) {
        data_.transposed_times(library, W, weight, WtX);
    }

    std::vector<Movement> step_basis(const Products& library, const Real* H, Index passes,
                                     DeviceArray<Real>& W) {
        data_.times_transposed(library, H, XHt_.get());
        gram_of_rows(library, shape_, H, gram_parts_.get(), HHt_.get());
        cuda::step_basis(shape_, static_cast<int>(passes), XHt_.get(), HHt_.get(), W.get(), features_.get(),
                         sums_.get());
        std::vector<Movement> moved(static_cast<std::size_t>(shape_.scales));
        std::vector<double> sums(2 * moved.size());
        sums_.download_part(sums.data(), 0, std::ssize(sums));
        for (std::size_t t = 0; t < moved.size(); ++t) {
            moved[t] = {sums[2 * t], sums[2 * t + 1]};
        }
        return moved;
    }

    std::vector<AllSums> measure(const Penalties<Real>& penalties, const ProductsView<Real>& products,
                                 const Real* H) {
        sum_all(shape_, penalties, products, H, parts_.get(), sums_.get());
        std::vector<AllSums> sums(static_cast<std::size_t>(shape_.scales));
        static_assert(sizeof(AllSums) == all_sums * sizeof(double));
        sums_.download_part(&sums.front().terms.fit_linear, 0, all_sums * std::ssize(sums));
        return sums;
    }

    void shift(const std::vector<ScalePenalty>&, const DevicePenalties<Real>& penalties,
               const ProductsView<Real>& products, Real* H) {
        if (!shifts_.ready()) {
            shifts_.prepare(shape_, merge_order(ComponentForest(problem_.graph->tree(), problem_.epsilon),
                                                ComponentShifts<Real>::pieces_of(shape_)));
        }
        shifts_.run(penalties.rounded(), penalties.exact(), products, H);
    }

  private:
    const Problem<Real>& problem_;
    Shape shape_;
    DeviceData<Real> data_;
    DeviceGraph<Real> graph_;
    ComponentShifts<Real> shifts_; ///< once components were shifted
    DeviceArray<Real> XHt_;
    DeviceArray<Real> HHt_;
    DeviceArray<Real> gram_parts_;
    DeviceArray<Real> features_;
    DeviceArray<double> parts_;
    DeviceArray<double> sums_;
};

/// Each of several processes has some of them.
template <class Real>
class SharedCells {
  public:
    SharedCells(const Problem<Real>& problem, Processes& processes, const CellBlocks& blocks)
        : problem_(problem), processes_(processes), shares_(share(blocks, processes.count())),
          slab_(shares_.slab(processes.place())), around_(problem, shares_, processes),
          sums_(shares_, processes) {
        take_data(*columns_of(*problem.X, slab_), data_);
    }

    Index count() const { return slab_.cells(); }
    Index first_outside() const { return has_all_cells() ? slab_.first_cell() : 0; }
    Index columns_behind() const { return around_.columns_behind(); }
    DenseMatrix<Real> outside(DenseMatrix<Real> part) const {
        return has_all_cells() ? all_columns(shares_, processes_, part) : std::move(part);
    }

    void prepare(const Shape& shape, Real* degree) {
        shape_ = shape;
        around_.prepare(shape);
        around_.degrees(degree);
        sums_.prepare(shape);
        if (shape.cells > 0) {
            data_.prepare(shape, slab_.blocks.size);
        }
    }

    void graph_products(const Products& library, Real* H, Real* HA) { around_.products(library, H, HA); }
    void gram(const Products&, const Real* W, const Real* weight, Real* WtW) const {
        gram_of_bases(shape_, W, weight, WtW);
    }
    void transposed_times(const Products& library, const Real* W, const Real* weight, Real* WtX) {
        data_.transposed_times(library, W, weight, WtX);
    }

    /// Afterwards all processes have all of W.
    std::vector<Movement> step_basis(const Products& library, const Real* H, Index passes,
                                     DeviceArray<Real>& W) {
        sums_.collect(library, data_, H);
        return sums_.step(passes, W);
    }

    std::vector<AllSums> measure(const Penalties<Real>& penalties, const ProductsView<Real>& products,
                                 const Real* H) {
        return sums_.measure(penalties, products, H);
    }

    void shift(const std::vector<ScalePenalty>& penalties, const DevicePenalties<Real>& on_device,
               const ProductsView<Real>& products, Real* H) {
        if (!shifts_.ready()) {
            shifts_.prepare(shape_, ComponentForest(problem_.graph->tree(), problem_.epsilon), shares_,
                            processes_.place());
        }
        shifts_.run(penalties, on_device.rounded(), on_device.exact(), products, processes_, H);
    }

  private:
    bool has_all_cells() const {
        return problem_.X->has_all_cells();
    } ///< else factors outside have these alone

    const Problem<Real>& problem_;
    Processes& processes_;
    BlockShares shares_;
    BlockSlab slab_;
    Shape shape_;
    DeviceData<Real> data_; ///< of the slab
    OuterColumns<Real> around_;
    SharedSums<Real> sums_;
    SharedShifts<Real> shifts_; ///< once components were shifted
};

} // namespace
} // namespace cuda

template <class Real>
std::unique_ptr<Backend<Real>> make_cuda_backend(const Problem<Real>& problem, const CellBlocks& blocks) {
    Processes& processes = all_processes();
    if (processes.count() == 1) {
        return std::make_unique<cuda::Sweeps<Real, cuda::AllCells>>(problem);
    }
    cuda::use_device_of(processes);
    return std::make_unique<cuda::Sweeps<Real, cuda::SharedCells>>(problem, processes, blocks);
}

template std::unique_ptr<Backend<float>> make_cuda_backend(const Problem<float>&, const CellBlocks&);
template std::unique_ptr<Backend<double>> make_cuda_backend(const Problem<double>&, const CellBlocks&);

} // namespace pnmf
