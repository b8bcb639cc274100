#include "devices/cuda/cuda_products.hpp"
#include "devices/cuda/cuda_backend.hpp"
#include "devices/cuda/host_data.hpp"
#include "devices/cuda/stacks.hpp"
#include "linalg/parallel_copy.hpp"

#include <array>
#include <type_traits>

namespace pnmf {
namespace {

/// The columns of Y are the rows of one scale (shape.hpp).
cuda::Shape shape_of(Index features, Index cells, Index columns) {
    return {.features = features, .cells = cells, .scales = 1, .rank = static_cast<int>(columns)};
}

template <class Real>
class CudaProducts final : public DataProducts {
  public:
    explicit CudaProducts(const DataMatrix<Real>& X) : features_(X.features()), cells_(X.cells()) {
        cuda::take_data(X, data_);
        one_.upload(std::array<Real, 1>{Real{1}});
    }

    Matrix normal_times(const Matrix& Y) override {
        multiply(Y);
        product_.allocate(shape_.bases());
        data_.times_transposed(library_, stack_.get(), product_.get());
        DenseMatrix<Real> result(features_, Y.cols());
        product_.download_part(result.data(), 0, result.size());
        return result.template cast<double>();
    }

    Matrix transposed_times(const Matrix& Y) override {
        multiply(Y);
        cuda::DeviceArray<Real> by_cells(shape_.cells * shape_.rank);
        cuda::get_scale(shape_, 0, stack_.get(), by_cells.get());
        DenseMatrix<Real> result(Y.cols(), cells_);
        by_cells.download_part(result.data(), 0, result.size());
        if constexpr (std::is_same_v<Real, double>) {
            return result;
        } else {
            return converted<double>(result);
        }
    }

    std::string where() const override { return cuda_facts().name; }

  private:
    /// YᵀX, left on the device.
    void multiply(const Matrix& Y) {
        if (shape_.rank != Y.cols()) {
            shape_ = shape_of(features_, cells_, Y.cols());
            data_.prepare(shape_);
            columns_.allocate(shape_.bases());
            stack_.allocate(shape_.stacked());
        }
        const DenseMatrix<Real> rounded = Y.cast<Real>();
        columns_.upload_part(rounded.data(), 0, rounded.size());
        data_.transposed_times(library_, columns_.get(), one_.get(), stack_.get());
    }

    Index features_;
    Index cells_;
    cuda::Products library_;
    cuda::DeviceData<Real> data_;
    cuda::Shape shape_;
    cuda::DeviceArray<Real> one_; ///< the weight of the scale
    cuda::DeviceArray<Real> columns_;
    cuda::DeviceArray<Real> stack_;
    cuda::DeviceArray<Real> product_;
};

template <class Real>
double bytes_of_work(const DeviceNeed& need) {
    const cuda::Shape shape = shape_of(need.features, need.cells, need.rank);
    return cuda::DeviceData<Real>::bytes_of_work(shape, !need.dense) +
           sizeof(Real) * static_cast<double>(2 * shape.stacked() + 2 * shape.bases());
}

} // namespace

template <class Real>
std::unique_ptr<DataProducts> make_cuda_products(const DataMatrix<Real>& X) {
    return std::make_unique<CudaProducts<Real>>(X);
}

double cuda_products_bytes(const DeviceNeed& need) {
    return cuda::bytes_of_data(need.nonzeros, need.dense, need.features, need.cells, need.bytes_of_number) +
           (need.bytes_of_number == sizeof(float) ? bytes_of_work<float>(need)
                                                  : bytes_of_work<double>(need)) +
           cuda::bytes_of_libraries;
}

template std::unique_ptr<DataProducts> make_cuda_products(const DataMatrix<float>&);
template std::unique_ptr<DataProducts> make_cuda_products(const DataMatrix<double>&);

} // namespace pnmf
