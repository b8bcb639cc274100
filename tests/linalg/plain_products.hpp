#pragma once

#include <pnmf/linalg/data_matrix.hpp>

namespace pnmf::test {

/// `DataProducts` on the CPU, in place of a device.
template <class Real>
class PlainProducts final : public DataProducts {
  public:
    explicit PlainProducts(const DataMatrix<Real>& X) : X_(X) {}

    Matrix normal_times(const Matrix& Y) override {
        ++asked;
        return X_.times_transposed(X_.transposed_times(Y.cast<Real>())).template cast<double>();
    }
    Matrix transposed_times(const Matrix& Y) override {
        return X_.transposed_times(Y.cast<Real>()).template cast<double>();
    }
    std::string where() const override { return "CPU"; }

    int asked = 0;

  private:
    const DataMatrix<Real>& X_;
};

} // namespace pnmf::test
