#pragma once

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/linalg/random.hpp>

#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

/// What tests of reading and writing need: small files and random data.
namespace pnmf::test {

inline std::filesystem::path write_text(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return path;
}

inline std::string read_text(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

inline std::filesystem::path write_gzip(const std::filesystem::path& path, const std::string& text) {
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
}

/// The message of the InputError that `action` throws; empty when it throws none.
template <class Action>
std::string complaint_of(const Action& action) {
    try {
        action();
    } catch (const InputError& e) {
        return e.what();
    }
    return "";
}

/// X as dense, whatever it is.
inline Matrix dense_of(const Dataset& data) {
    const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X);
    return sparse != nullptr ? to_dense(*sparse) : std::get<Matrix>(data.X);
}

/// Values that test the writing of numbers: zeros, whole numbers, many digits, very large and very small
/// ones.
inline Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
    Random random(seed);
    Matrix matrix = Matrix::Zero(rows, cols);
    for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < rows; ++i) {
            switch (random.below(5)) {
            case 0:
                matrix(i, j) = static_cast<double>(random.below(1000));
                break;
            case 1:
                matrix(i, j) = random.uniform();
                break;
            case 2:
                matrix(i, j) = std::exp(200.0 * random.normal());
                break;
            default:
                break;
            }
        }
    }
    return matrix;
}

inline SparseMatrix<double> to_sparse(const Matrix& matrix) {
    Triplets<double> triplets;
    for (Index j = 0; j < matrix.cols(); ++j) {
        for (Index i = 0; i < matrix.rows(); ++i) {
            if (matrix(i, j) != 0.0) {
                triplets.row.push_back(static_cast<std::int32_t>(i));
                triplets.col.push_back(static_cast<std::int32_t>(j));
                triplets.value.push_back(matrix(i, j));
            }
        }
    }
    return to_columns(matrix.rows(), matrix.cols(), triplets);
}

/// A data set with plain names "g1", …, "c1", ….
inline Dataset named(std::variant<Matrix, SparseMatrix<double>> X) {
    Dataset data;
    data.X = std::move(X);
    for (Index i = 1; i <= data.features(); ++i) {
        data.feature_names.push_back("g" + std::to_string(i));
    }
    for (Index j = 1; j <= data.cells(); ++j) {
        data.cell_names.push_back("c" + std::to_string(j));
    }
    return data;
}

inline bool any_contains(const std::vector<std::string>& notices, const std::string& part) {
    for (const std::string& notice : notices) {
        if (notice.find(part) != std::string::npos) {
            return true;
        }
    }
    return false;
}

} // namespace pnmf::test
