#include "linalg/parallel_copy.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>

namespace pnmf {

NumericArray numeric_array(const std::vector<double>& values) {
    return {.shape = {static_cast<Index>(values.size())}, .values = values};
}

NumericArray numeric_array(const std::vector<std::int64_t>& values) {
    return {.shape = {static_cast<Index>(values.size())}, .values = values};
}

NumericArray numeric_array(const Matrix& matrix) {
    const Matrix by_rows = converted_transpose<double>(matrix);
    return {.shape = {matrix.rows(), matrix.cols()},
            .values = std::vector<double>(by_rows.data(), by_rows.data() + by_rows.size())};
}

Matrix slab_of(const NumericArray& array, Index t) {
    require(array.shape.size() == 3, "slabs are of arrays of three axes, got {}", array.shape.size());
    require(t >= 0 && t < array.shape[0], "the array has slabs 1 to {}, asked for {}", array.shape[0], t + 1);
    const Index rows = array.shape[1];
    const Index cols = array.shape[2];
    return std::visit(
        [&](const auto& values) -> Matrix {
            using Real = typename std::decay_t<decltype(values)>::value_type;
            require(static_cast<Index>(values.size()) == array.shape[0] * rows * cols,
                    "an array of {} x {} x {} must have as many values, got {}", array.shape[0], rows, cols,
                    values.size());
            const Eigen::Map<const DenseMatrix<Real>> by_rows(values.data() + t * rows * cols, cols, rows);
            return by_rows.transpose().template cast<double>();
        },
        array.values);
}

const AnnDataValue* find(const AnnDataMap& map, const std::string& path) {
    const auto slash = path.find('/');
    const auto entry = map.find(path.substr(0, slash));
    if (entry == map.end() || slash == std::string::npos) {
        return entry == map.end() ? nullptr : &entry->second;
    }
    const auto* inner = std::get_if<AnnDataMap>(&entry->second.value);
    return inner == nullptr ? nullptr : find(*inner, path.substr(slash + 1));
}

} // namespace pnmf
