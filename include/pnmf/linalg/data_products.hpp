#pragma once

#include <pnmf/types.hpp>

#include <string>

namespace pnmf {

/// The products with data X, p × n, that principal components and singular vectors are found by, made
/// somewhere else than on the CPU. Numbers go in and come out in double precision; inside they have that of
/// the data. Results differ from those of `DataMatrix` by rounding. The data outlive it. From one thread at a
/// time.
class DataProducts {
  public:
    DataProducts() = default;
    DataProducts(const DataProducts&) = delete;
    DataProducts& operator=(const DataProducts&) = delete;
    virtual ~DataProducts() = default;

    /// X·(Xᵀ·Y), p × m, for Y p × m.
    virtual Matrix normal_times(const Matrix& Y) = 0;
    /// Yᵀ·X, m × n, for Y p × m.
    virtual Matrix transposed_times(const Matrix& Y) = 0;
    /// Where they are made, in words.
    virtual std::string where() const = 0;
};

} // namespace pnmf
