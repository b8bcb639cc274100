#pragma once

#include <pnmf/io/dataset.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

/// The files that make_h5_files.py makes before these tests run, and what is in them.
namespace pnmf::test {

constexpr Index cells = 7;
constexpr Index features = 5;

inline std::filesystem::path h5_file(const std::string& name) {
    return std::filesystem::path(PNMF_H5_FILES) / name;
}

/// Why the files are not there; empty when they are.
inline std::string missing_h5_files() {
    if (std::filesystem::exists(h5_file("missing.txt"))) {
        std::ostringstream text;
        text << std::ifstream(h5_file("missing.txt")).rdbuf();
        return text.str();
    }
    return std::filesystem::exists(h5_file("single_v73.mat")) ? "" : "no Python to make the test files with";
}

/// A test that skips, with the reason, where the files could not be made.
class H5Files : public testing::Test {
  protected:
    void SetUp() override {
        if (const std::string reason = missing_h5_files(); !reason.empty()) {
            GTEST_SKIP() << reason;
        }
    }
};

/// The formula of make_h5_files.py, features × cells.
inline Matrix full() {
    Matrix matrix(features, cells);
    for (Index i = 0; i < cells; ++i) {
        for (Index j = 0; j < features; ++j) {
            matrix(j, i) = (i + 2 * j) % 3 == 0 ? static_cast<double>((3 * i + 5 * j) % 7 + 1) : 0.0;
        }
    }
    return matrix;
}

inline Matrix dense(const Dataset& data) {
    return data.is_sparse() ? to_dense(std::get<SparseMatrix<double>>(data.X)) : std::get<Matrix>(data.X);
}

inline const TableColumn& column(const std::vector<TableColumn>& table, std::string_view name) {
    for (const TableColumn& candidate : table) {
        if (candidate.name == name) {
            return candidate;
        }
    }
    throw std::runtime_error("no column " + std::string(name));
}

inline const std::vector<std::string>& texts(const TableColumn& column) {
    return std::get<std::vector<std::string>>(column.values);
}

inline const std::vector<double>& numbers(const TableColumn& column) {
    return std::get<std::vector<double>>(column.values);
}

/// The message of the InputError that `action` throws; fails the test when it throws none.
template <class Action>
std::string input_error(const Action& action) {
    try {
        action();
    } catch (const std::exception& error) {
        return error.what();
    }
    ADD_FAILURE() << "must be rejected";
    return "";
}

} // namespace pnmf::test
