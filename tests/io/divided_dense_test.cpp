#include "support/clouds.hpp"
#include "support/paths.hpp"
#include "support/thread_ranks.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/io/values.hpp>
#include <pnmf/io/write.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

/// Data sets with dense values, of which each rank reads and holds some of the cells.
namespace pnmf::test {
namespace {

constexpr Index cells = 5200; // eight blocks

/// Small whole numbers, which every type can hold; a gene and some cells are empty.
Matrix some_values() {
    Matrix X = (60.0 * uniform_cloud(13, cells, 4)).array().floor();
    X.row(7).setZero();
    for (Index j = 0; j < cells; j += 97) {
        X.col(j).tail(j % 2 == 0 ? 13 : 11).setZero();
    }
    return X;
}

std::string npy_header(const std::string& type, bool fortran, Index rows, Index columns) {
    std::string text = "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
                       ", 'shape': (" + std::to_string(rows) + ", " + std::to_string(columns) + "), }";
    text.resize(118, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text;
}

/// A .npy file of some type in one of the orders.
template <class Value>
void write_as(const std::filesystem::path& path, const std::string& type, bool fortran, const Matrix& X) {
    std::ofstream out(path, std::ios::binary);
    out << npy_header(type, fortran, X.rows(), X.cols());
    const Matrix lines = fortran ? X : Matrix(X.transpose());
    for (const double x : lines.reshaped()) {
        const auto value = static_cast<Value>(x);
        out.write(reinterpret_cast<const char*>(&value), sizeof(value));
    }
}

const Matrix& values_of(const Dataset& data) {
    return std::get<Matrix>(data.X);
}

/// Each rank has read its slice of what one process reads.
void expect_slices(const std::filesystem::path& path, ReadOptions options) {
    const Dataset expected = read_dataset(path, options);
    ASSERT_EQ(expected.cells(), cells);
    options.local = true;
    for (const int count : {1, 2, 3, 4, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int) {
            Dataset found = read_dataset(path, options);
            const CellRange share = local_range(cells, all_processes());
            EXPECT_EQ(found.local, count > 1 ? std::optional(share) : std::nullopt);
            EXPECT_EQ(values_of(found), values_of(expected).middleCols(share.first, share.count));
            EXPECT_EQ(found.notices, expected.notices);
            EXPECT_EQ(found.cell_names, expected.cell_names);
            EXPECT_EQ(recognise_values(found).why, recognise_values(expected).why);
            gather_values(found, GatherTo::everyone);
            EXPECT_EQ(values_of(found), values_of(expected));
        });
    }
}

TEST(DividedDense, NpyOfBothOrdersIsReadInSlices) {
    const TemporaryFolder folder;
    const auto path = folder / "x.npy";
    const Matrix X = some_values();
    for (const bool fortran : {false, true}) {
        SCOPED_TRACE(fortran);
        write_as<double>(path, "<f8", fortran, X); // cells are columns
        expect_slices(path, {.cells = CellAxis::columns});
        write_as<double>(path, "<f8", fortran, X.transpose());
        expect_slices(path, {});
    }
}

template <class Value>
void expect_slices_of(const char* type) {
    SCOPED_TRACE(type);
    const TemporaryFolder folder;
    const auto path = folder / "x.npy";
    for (const bool fortran : {false, true}) {
        write_as<Value>(path, type, fortran, some_values().transpose());
        const Dataset expected = read_dataset(path);
        EXPECT_EQ(values_of(expected), some_values());
        ThreadRanks ranks(3);
        ranks.run([&](int) {
            const Dataset found = read_dataset(path, {.local = true});
            EXPECT_EQ(values_of(found), columns_of(values_of(expected), *found.local));
        });
    }
}

TEST(DividedDense, NpyOfAllTypesIsReadInSlices) {
    expect_slices_of<float>("<f4");
    expect_slices_of<std::int64_t>("<i8");
    expect_slices_of<std::int32_t>("<i4");
    expect_slices_of<std::int16_t>("<i2");
    expect_slices_of<std::int8_t>("|i1");
    expect_slices_of<std::uint64_t>("<u8");
    expect_slices_of<std::uint32_t>("<u4");
    expect_slices_of<std::uint16_t>("<u2");
    expect_slices_of<std::uint8_t>("|u1");
    expect_slices_of<std::uint8_t>("|b1");
}

TEST(DividedDense, CompressedNpyIsReadInSlices) {
    const TemporaryFolder folder;
    write_as<float>(folder / "x.npy", "<f4", true, some_values().transpose());
    std::ostringstream bytes;
    bytes << std::ifstream(folder / "x.npy", std::ios::binary).rdbuf();
    const std::string text = bytes.str();
    const auto path = folder / "x.npy.gz";
    gzFile out = gzopen(path.c_str(), "wb1");
    ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    gzclose(out);
    expect_slices(path, {});
}

TEST(DividedDense, EveryRankSeesThatAFileIsCutOrTooLong) {
    const TemporaryFolder folder;
    const auto path = folder / "x.npy";
    const auto message = [&](bool divided) -> std::string {
        try {
            read_dataset(path, {.local = divided});
        } catch (const InputError& e) {
            return e.what();
        }
        return "nothing was thrown";
    };
    for (const bool fortran : {false, true}) {
        for (const int change : {-1, -100, 1}) { // less than the header: values could fit
            write_as<double>(path, "<f8", fortran, some_values().transpose());
            const auto size = static_cast<std::intmax_t>(std::filesystem::file_size(path));
            std::filesystem::resize_file(path, static_cast<std::uintmax_t>(size + change));
            const std::string expected = message(false);
            EXPECT_NE(expected, "nothing was thrown");
            ThreadRanks ranks(3);
            ranks.run([&](int) { EXPECT_EQ(message(true), expected) << fortran << ' ' << change; });
        }
    }
}

TEST(DividedDense, H5adAndTextAreReadInSlices) {
    const TemporaryFolder folder;
    Dataset data;
    data.X = some_values();
    for (Index i = 0; i < 13; ++i) {
        data.feature_names.push_back("gene" + std::to_string(i));
    }
    for (Index j = 0; j < cells; ++j) {
        data.cell_names.push_back("cell" + std::to_string(j));
    }
    write_h5ad(folder / "x.h5ad", data);
    expect_slices(folder / "x.h5ad", {});
    write_delimited(folder / "x.csv", data, CellAxis::columns);
    expect_slices(folder / "x.csv", {});
}

TEST(DividedDense, PreparationHasTheBitsOfOneProcess) {
    const TemporaryFolder folder;
    const auto path = folder / "x.npy";
    write_as<float>(path, "<f4", false, some_values().transpose());
    const PrepareOptions options{.cells_min = 5,
                                 .genes_min = 4,
                                 .drop_empty_cells = true,
                                 .normalize = Normalize::counts,
                                 .genes = {.most_variable = 9},
                                 .components = 5,
                                 .unit_cells = true};
    Dataset expected = read_dataset(path);
    prepare(expected, options);
    ASSERT_LT(expected.cells(), cells);
    for (const int count : {2, 3, 4, 7}) {
        SCOPED_TRACE(count);
        ThreadRanks ranks(count);
        ranks.run([&](int r) {
            Dataset found = read_dataset(path, {.local = true});
            prepare(found, options);
            EXPECT_EQ(found.cells(), expected.cells());
            EXPECT_EQ(*found.local, local_range(expected.cells(), all_processes()));
            EXPECT_EQ(found.space->coordinates, columns_of(expected.space->coordinates, *found.local));
            EXPECT_EQ(found.notices, expected.notices);
            EXPECT_EQ(feature_variances(found), feature_variances(expected));
            gather_values(found, GatherTo::first);
            EXPECT_EQ(values_of(found), r == 0 ? values_of(expected) : Matrix(9, 0));
        });
    }
}

TEST(DividedDense, WrongValuesAreCountedOverAllRanks) {
    const TemporaryFolder folder;
    const auto path = folder / "x.npy";
    Matrix X = some_values();
    X(2, 3001) = -2.0;
    X(2, 5001) = -3.0;
    write_as<double>(path, "<f8", false, X.transpose());
    const auto message = [&](bool divided) -> std::string {
        try {
            check_dataset(read_dataset(path, {.local = divided}));
        } catch (const InputError& e) {
            return e.what();
        }
        return "nothing was thrown";
    };
    const std::string expected = message(false);
    EXPECT_NE(expected.find("2 are negative; the first is -2 at cell cell3002"), std::string::npos)
        << expected;
    ThreadRanks ranks(3);
    ranks.run([&](int) { EXPECT_EQ(message(true), expected); });
}

} // namespace
} // namespace pnmf::test
