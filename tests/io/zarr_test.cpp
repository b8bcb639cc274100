#include "io/files.hpp"
#include "io/h5_files.hpp"
#include "io/hdf5_handle.hpp"
#include "io/zarr.hpp"
#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>

#include <gmock/gmock.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace pnmf {
namespace {

namespace fs = std::filesystem;

using namespace test;
using testing::AllOf;
using testing::HasSubstr;

const fs::path stores(PNMF_ZARR_STORES);

/// Stores that zarr_store.py made, and the files it made them of.
class Zarr : public H5Files {
  protected:
    void SetUp() override {
        H5Files::SetUp();
        if (!IsSkipped() && !fs::exists(stores / "types.h5ad")) {
            GTEST_SKIP() << "no Python to make the Zarr stores with";
        }
    }
};

fs::path file_of(const fs::path& store) {
    const std::string name = store.filename().string();
    const std::string file = name.substr(0, name.find('.')) + ".h5ad";
    return fs::exists(stores / file) ? stores / file : h5_file(file);
}

fs::path copy_of(const fs::path& store, const TemporaryFolder& folder, const std::string& name = "x.zarr") {
    fs::remove_all(folder / name);
    fs::copy(store, folder / name, fs::copy_options::recursive);
    return folder / name;
}

void replace_in(const fs::path& file, const std::string& from, const std::string& to) {
    std::string text = read_text(file);
    ASSERT_NE(text.find(from), std::string::npos) << file << ": " << text;
    text.replace(text.find(from), from.size(), to);
    test::write_text(file, text);
}

TEST_F(Zarr, AStoreHoldsWhatTheFileOfHdf5Holds) {
    int seen = 0;
    for (const fs::directory_entry& store : fs::directory_iterator(stores)) {
        if (store.is_directory()) {
            const auto there = hdf5::Object::manifest_of(store.path());
            EXPECT_EQ(hdf5::Object::manifest_of(file_of(store.path())).first_difference(there), std::nullopt)
                << store.path();
            ++seen;
        }
    }
    EXPECT_GE(seen, 20);
}

TEST_F(Zarr, ADataSetIsTheSameFromEither) {
    for (const char* name : {"csr.2.zlib.zarr", "csr.3.gzip.zarr", "layers.2.zarr", "layers.3.zarr"}) {
        const Dataset data = read_dataset(stores / name);
        const Dataset same = read_dataset(file_of(stores / name));
        EXPECT_EQ(dense(data), dense(same)) << name;
        EXPECT_EQ(data.cell_names, same.cell_names);
        EXPECT_EQ(data.feature_names, same.feature_names);
        EXPECT_EQ(texts(column(data.cell_table, "label")), texts(column(same.cell_table, "label")));
        EXPECT_EQ(data.input.format, "zarr");
    }
    EXPECT_EQ(file_facts(stores / "layers.2.zarr").layers, file_facts(h5_file("layers.h5ad")).layers);
}

TEST_F(Zarr, WhatIsWrittenHoldsAllOfTheFile) {
    const TemporaryFolder folder;
    for (const fs::path& file : {stores / "types.h5ad", h5_file("layers.h5ad"), h5_file("csr_gzip.h5ad"),
                                 h5_file("large_double.h5ad")}) {
        const fs::path store = folder / (file.stem().string() + ".zarr");
        write_zarr(store, file);
        EXPECT_EQ(hdf5::Object::manifest_of(store).first_difference(hdf5::Object::manifest_of(file)),
                  std::nullopt)
            << file;
    }
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 4) << "nothing else is left";
}

TEST_F(Zarr, AFileThatIsNoStoreLeavesNothing) {
    const TemporaryFolder folder;
    EXPECT_THAT(input_error([&] { write_zarr(folder / "x.zarr", h5_file("old_csr.h5ad")); }),
                HasSubstr("AnnData 0.7"));
    EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST_F(Zarr, AStoreThatChangesIsReadAnew) {
    const TemporaryFolder folder;
    const fs::path store = copy_of(stores / "csr.2.none.zarr", folder);
    EXPECT_EQ(dense(read_dataset(store)), dense(read_dataset(h5_file("csr.h5ad"))));
    copy_of(stores / "dense_bool.2.zarr", folder);
    EXPECT_EQ(dense(read_dataset(store)), dense(read_dataset(h5_file("dense_bool.h5ad"))));
}

TEST_F(Zarr, WhatIsNotReadIsNamed) {
    const TemporaryFolder folder;
    const fs::path two = copy_of(stores / "csr.2.none.zarr", folder, "two.zarr");
    const fs::path three = copy_of(stores / "csr.3.none.zarr", folder, "three.zarr");
    const auto complaint = [](const fs::path& store) { return input_error([&] { read_dataset(store); }); };

    replace_in(two / "X/data/.zarray", R"("compressor": null)", R"("compressor": {"id": "lzma"})");
    EXPECT_THAT(complaint(two), AllOf(HasSubstr("two.zarr/X/data/.zarray"), HasSubstr("'lzma'")));
    replace_in(two / "X/data/.zarray", R"({"id": "lzma"})", "null");
    replace_in(two / "X/data/.zarray", R"("filters": null)", R"("filters": [{"id": "delta"}])");
    EXPECT_THAT(complaint(two), AllOf(HasSubstr("X/data/.zarray"), HasSubstr("delta")));

    replace_in(three / "X/data/zarr.json", R"({"name": "bytes")", R"({"name": "sharding_indexed")");
    EXPECT_THAT(complaint(three), AllOf(HasSubstr("three.zarr/X/data/zarr.json"), HasSubstr("shards")));

    fs::create_directory(folder / "empty.zarr");
    EXPECT_THAT(complaint(folder / "empty.zarr"), HasSubstr("must be a Zarr store"));
    const fs::path array = copy_of(stores / "csr.2.none.zarr/obs/depth", folder, "array.zarr");
    EXPECT_THAT(complaint(array), HasSubstr("must be a Zarr group"));
}

TEST_F(Zarr, ALinkIsNotFollowed) {
    const TemporaryFolder folder;
    const fs::path store = copy_of(stores / "csr.2.none.zarr", folder);
    fs::rename(store / "X", folder / "X");
    fs::create_directory_symlink(folder / "X", store / "X");
    EXPECT_THAT(input_error([&] { read_dataset(store); }), AllOf(HasSubstr("x.zarr/X"), HasSubstr("links")));
    fs::remove(store / "X");
    fs::rename(folder / "X", store / "X");
    for (const fs::directory_entry& chunk : fs::directory_iterator(store / "X/data")) {
        if (chunk.path().filename() != ".zarray" && chunk.path().filename() != ".zattrs") {
            fs::rename(chunk.path(), folder / "chunk");
            fs::create_symlink(folder / "chunk", chunk.path());
            break;
        }
    }
    EXPECT_THAT(input_error([&] { read_dataset(store); }),
                AllOf(HasSubstr("x.zarr/X/data"), HasSubstr("link")));
}

TEST_F(Zarr, ASizeIsCheckedBeforeMemoryIsTaken) {
    const TemporaryFolder folder;
    const std::string array = R"({"zarr_format": 2, "shape": [SHAPE], "chunks": [CHUNK], "dtype": "<f8",
        "compressor": null, "fill_value": 0, "order": "C", "filters": null})";
    for (const auto& [shape, chunk, complaint] :
         {std::array{"1000000000000", "1000", "more than a store of"},
          std::array{"9223372036854775807, 9223372036854775807", "1, 1", "larger than"},
          std::array{"1000", "100000000", "too few for a chunk"},
          std::array{"1000", "1000000000", "larger than"}, std::array{"30000000", "1", "chunks"},
          std::array{"3", "0", "must not be empty"}, std::array{"-3", "1", "must not have the number -3"},
          std::array{"3", "1, 1", "2"}, std::array{"3", "3", "must hold a chunk of 24 bytes, got 5"}}) {
        const fs::path store = copy_of(stores / "csr.2.none.zarr", folder);
        fs::remove_all(store / "X");
        std::string text = array;
        text.replace(text.find("SHAPE"), 5, shape);
        text.replace(text.find("CHUNK"), 5, chunk);
        fs::create_directory(store / "X");
        test::write_text(store / "X/.zarray", text);
        test::write_text(store / "X/0", "12345");
        EXPECT_THAT(input_error([&] { read_dataset(store); }),
                    AllOf(HasSubstr("x.zarr/X"), HasSubstr(complaint)))
            << shape;
    }
}

TEST_F(Zarr, ADamagedStoreIsReadOrRefusedWithItsName) {
    const TemporaryFolder folder;
    std::mt19937 random(7);
    int refused = 0;
    for (const char* name : {"csr.2.none.zarr", "csr.2.blosc.zarr", "csr.3.gzip.zarr", "csr.3.zstd.zarr"}) {
        if (!fs::exists(stores / name)) {
            continue; // where Python has not that library
        }
        const fs::path store = copy_of(stores / name, folder);
        std::vector<fs::path> files;
        for (const fs::directory_entry& one : fs::recursive_directory_iterator(store)) {
            if (one.is_regular_file()) {
                files.push_back(one.path());
            }
        }
        std::sort(files.begin(), files.end());
        for (int round = 0; round < 30; ++round) {
            const fs::path& file = files[random() % files.size()];
            const std::string whole = read_text(file);
            std::string damaged = whole;
            if (round % 3 == 0 || whole.empty()) {
                damaged.resize(whole.empty() ? 0 : random() % whole.size());
            } else {
                damaged[random() % whole.size()] = static_cast<char>(random());
            }
            test::write_text(file, damaged);
            try {
                zarr::hdf5_of(store);
                if (round % 10 == 0) { // by the readers of HDF5 too
                    read_dataset(store);
                }
            } catch (const InputError& error) {
                EXPECT_THAT(error.what(), HasSubstr("x.zarr"));
                ++refused;
            }
            test::write_text(file, whole);
        }
    }
    EXPECT_GT(refused, 30);
}

} // namespace
} // namespace pnmf
