#include "io/files.hpp"
#include "support/paths.hpp"

#include <pnmf/io/write.hpp>

#include <gtest/gtest.h>

/// A damaged file is rejected or read, whatever was done to it; nothing else may happen. Run under
/// sanitisers, these tests also find reads past the end.
namespace pnmf::test {
namespace {

namespace fs = std::filesystem;

/// True when the file was read, false when it was rejected; any other exception fails the test.
bool survives(const fs::path& path) {
    try {
        Dataset data = read_dataset(path);
        EXPECT_EQ(static_cast<Index>(data.cell_names.size()), data.cells());
        EXPECT_EQ(static_cast<Index>(data.feature_names.size()), data.features());
        if (const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X)) {
            check_structure(*sparse);
        }
        prepare(data, {.drop_empty_cells = true, .transform = Transform::log_unit});
        return true;
    } catch (const InputError& e) {
        EXPECT_STRNE(e.what(), "");
        return false;
    }
}

struct Sample {
    std::string name;
    std::string bytes;
};

std::vector<Sample> samples() {
    const TemporaryFolder folder;
    const Dataset dense = named(random_matrix(4, 5, 11));
    const Dataset sparse = named(to_sparse(std::get<Matrix>(dense.X)));
    std::vector<Sample> result;
    const auto take = [&](const std::string& name) { result.push_back({name, read_text(folder / name)}); };
    for (const std::string name : {"s.mtx", "s.mtx.gz"}) {
        write_matrix_market(folder / name, sparse);
        take(name);
    }
    write_matrix_market(folder / "d.mtx", dense);
    take("d.mtx");
    for (const std::string name : {"d.csv", "d.tsv", "d.csv.gz"}) {
        write_delimited(folder / name, dense);
        take(name);
    }
    write_npy(folder / "d.npy", std::get<Matrix>(dense.X));
    take("d.npy");
    result.push_back(
        {"symmetric.mtx", "%%MatrixMarket matrix array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"});
    result.push_back(
        {"pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n3 1\n"});
    result.push_back({"quotes.csv", "\"gene\",\"a\"\"b\",c\n\"x\ny\",1,2\nz,\"3\",4\n"});
    return result;
}

TEST(Damage, AFileCutAtAnyByteIsRejectedOrRead) {
    const TemporaryFolder folder;
    for (const Sample& sample : samples()) {
        Index rejected = 0;
        for (std::size_t length = 0; length <= sample.bytes.size(); ++length) {
            const fs::path path = write_text(folder / sample.name, sample.bytes.substr(0, length));
            const bool read = survives(path);
            rejected += read ? 0 : 1;
            if (length == sample.bytes.size()) {
                EXPECT_TRUE(read) << sample.name;
            }
        }
        // Text may lose its last digits unseen; containers may not.
        if (sample.name.ends_with(".gz") || sample.name.ends_with(".npy")) {
            EXPECT_EQ(rejected, static_cast<Index>(sample.bytes.size())) << sample.name;
        } else {
            EXPECT_GT(rejected, 0) << sample.name;
        }
    }
}

TEST(Damage, AFileWithFlippedBytesIsRejectedOrRead) {
    const TemporaryFolder folder;
    Random random(17);
    for (const Sample& sample : samples()) {
        Index rejected = 0;
        for (int repeat = 0; repeat < 250; ++repeat) {
            std::string bytes = sample.bytes;
            for (Index flips = 1 + random.below(3); flips > 0; --flips) {
                bytes[random.below(static_cast<Index>(bytes.size()))] = static_cast<char>(random.below(256));
            }
            rejected += survives(write_text(folder / sample.name, bytes)) ? 0 : 1;
        }
        EXPECT_GT(rejected, 0) << sample.name;
    }
}

TEST(Damage, TextOfOnlyTheBytesThatMatterIsRejectedOrRead) {
    const TemporaryFolder folder;
    Random random(23);
    const std::string alphabet = "\",;\t\r\n 01.-e#%x";
    for (int repeat = 0; repeat < 600; ++repeat) {
        std::string text =
            random.below(3) == 0 ? "%%MatrixMarket matrix coordinate real general\n2 2 1\n" : "";
        for (Index length = random.below(40); length > 0; --length) {
            text += alphabet[random.below(static_cast<Index>(alphabet.size()))];
        }
        const std::string name = random.below(2) == 0 ? "f.csv" : "f.tsv";
        survives(write_text(folder / name, text));
    }
}

TEST(Damage, DamagedTablesBesideAMatrixAreRejectedOrRead) {
    const TemporaryFolder folder;
    write_text(folder / "matrix.mtx",
               "%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n3 1 2\n2 2 7\n");
    const std::string features = "E1\tA\tGene Expression\nE2\tB\tAntibody\nE3\tA\tGene Expression\n";
    const std::string barcodes = "cell\tlabel\nx\tT\ny\t\"B\"\n";
    for (std::size_t cut = 0; cut <= features.size(); ++cut) {
        write_text(folder / "features.tsv", features.substr(0, cut));
        write_text(folder / "barcodes.tsv", barcodes.substr(0, std::min(cut, barcodes.size())));
        survives(folder.path());
        survives(folder / "matrix.mtx");
    }
}

} // namespace
} // namespace pnmf::test
