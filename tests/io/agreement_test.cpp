#include "io/files.hpp"
#include "support/paths.hpp"

#include <pnmf/io/write.hpp>

#include <gmock/gmock.h>

#include <cmath>

/// Files of other programs: what they wrote is what we read, what we write is what they read.
namespace pnmf::test {
namespace {

namespace fs = std::filesystem;

const std::string python = "/usr/bin/python3";

bool python_can(const std::string& modules) {
    return run_command(python + " -c 'import " + modules + "'").exit_code == 0;
}

Matrix read_expected(const fs::path& path) {
    std::ifstream in(path);
    Index rows = 0;
    Index cols = 0;
    in >> rows >> cols;
    Matrix matrix(rows, cols);
    for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < cols; ++j) {
            in >> matrix(i, j);
        }
    }
    return matrix;
}

TEST(Agreement, FilesOfSciPyNumPyAndPandasAreReadAsTheyMeantThem) {
    if (!python_can("scipy.io, numpy, pandas")) {
        GTEST_SKIP() << python << " has no SciPy, NumPy or pandas";
    }
    const TemporaryFolder folder;
    const CommandResult made = run_command(python + " '" + (source_dir() / "tests/io/agreement.py").string() +
                                           "' '" + folder.path().string() + "'");
    ASSERT_EQ(made.exit_code, 0) << made.err;
    int compared = 0;
    for (const auto& entry : fs::directory_iterator(folder.path())) {
        if (entry.path().extension() == ".expected") {
            fs::path file = entry.path();
            file.replace_extension();
            const Dataset data = read_dataset(file, {.cells = CellAxis::columns});
            EXPECT_EQ(dense_of(data), read_expected(entry.path())) << file.filename();
            ++compared;
        }
    }
    EXPECT_EQ(compared, 14 + 25 + 10);
}

TEST(Agreement, NumPyAndSciPyReadWhatIsWritten) {
    if (!python_can("scipy.io, numpy, pandas")) {
        GTEST_SKIP() << python << " has no SciPy, NumPy or pandas";
    }
    const TemporaryFolder folder;
    Matrix X = random_matrix(6, 9, 3);
    const Dataset data = named(to_sparse(X));
    write_matrix_market(folder / "x.mtx.gz", data);
    write_delimited(folder / "x.csv", data);
    write_npy(folder / "x.npy", X);
    const std::vector<Index> shape{3, 2, 9};
    const std::vector<Index> line{54};
    const std::span<const double> values(X.data(), 54);
    write_npy<double>(folder / "cube.npy", values, shape);
    write_npy<double>(folder / "line.npy", values, line);
    const CommandResult result = run_command("cd '" + folder.path().string() + "' && " + python + R"( -c '
import numpy as np, pandas as pd, scipy.io
x = np.load("x.npy")
assert x.shape == (6, 9) and x.dtype == np.float64
assert (scipy.io.mmread("x.mtx.gz").toarray() == x).all()
frame = pd.read_csv("x.csv", index_col=0, float_precision="round_trip")
assert (frame.to_numpy() == x).all() and list(frame.index)[:2] == ["g1", "g2"] and frame.columns[8] == "c9"
assert (np.load("line.npy") == x.T.ravel()).all()
assert (np.load("cube.npy") == x.T.ravel().reshape(3, 2, 9)).all()
')");
    EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(Agreement, RepeatedGeneSymbolsGetTheNamesAnnDataGivesThem) {
    if (!python_can("anndata")) {
        GTEST_SKIP() << python << " has no AnnData";
    }
    const TemporaryFolder folder;
    const std::vector<std::string> symbols{"A", "B", "A", "A-1", "A", "B", "C", "A-1"};
    std::string features;
    std::string list;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        features += fmt::format("E{}\t{}\n", i, symbols[i]);
        list += fmt::format("\"{}\",", symbols[i]);
    }
    write_text(
        folder / "matrix.mtx",
        fmt::format("%%MatrixMarket matrix coordinate integer general\n{} 1 1\n1 1 1\n", symbols.size()));
    write_text(folder / "genes.tsv", features);
    write_text(folder / "barcodes.tsv", "c\n");
    const CommandResult result =
        run_command(python +
                    " -W ignore -c 'import pandas as pd; from anndata.utils import make_index_unique; "
                    "print(*make_index_unique(pd.Index([" +
                    list + "])), sep=\"\\n\")'");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    std::string ours;
    for (const std::string& name : read_dataset(folder.path()).feature_names) {
        ours += name + "\n";
    }
    EXPECT_EQ(ours, result.out);
}

} // namespace
} // namespace pnmf::test
