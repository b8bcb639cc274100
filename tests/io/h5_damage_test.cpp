#include "io/h5_files.hpp"
#include "io/mat.hpp"
#include "support/paths.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/linalg/random.hpp>

#include <fstream>
#include <iterator>
#include <string_view>

namespace pnmf {
namespace {

using namespace test;

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Reads what may be damaged: it must be read or rejected. Anything else ends the test.
bool survives(const std::filesystem::path& path, const std::string& bytes, const ReadOptions& options) {
    std::ofstream(path, std::ios::binary) << bytes;
    try {
        read_dataset(path, options);
        return true;
    } catch (const InputError&) {
        return false;
    } catch (const SystemError& e) { // HDF5 found no memory for a size that was damaged
        EXPECT_NE(std::string_view(e.what()).find("a damaged file asks for too much"),
                  std::string_view::npos);
        return false;
    }
}

struct Damaged {
    const char* name;
    ReadOptions options;
};

const std::vector<Damaged>& files() {
    static const std::vector<Damaged> list{{"csr.h5ad", {}},
                                           {"csr_gzip.h5ad", {}},
                                           {"dense.h5ad", {}},
                                           {"large_shuffled.h5ad", {}},
                                           {"large_piece_int.h5ad", {}},
                                           {"plain.h5ad", {}},
                                           {"old_csr.h5ad", {}},
                                           {"tenx_v3.h5", {}},
                                           {"several_v5.mat", {.variable = "X"}},
                                           {"several_v5.mat", {.variable = "S"}},
                                           {"several_v7.mat", {.variable = "S"}},
                                           {"several_v73.mat", {.variable = "X"}}};
    return list;
}

class Damage : public H5Files {};

TEST_F(Damage, AFileCutAnywhereIsReadOrRejected) {
    const TemporaryFolder folder;
    for (const auto& [name, options] : files()) {
        const std::string whole = bytes_of(h5_file(name));
        const auto target = folder / name;
        ASSERT_TRUE(survives(target, whole, options)) << name;
        const std::size_t step = std::max<std::size_t>(whole.size() / 50, 1);
        for (std::size_t size = 0; size < whole.size(); size += step) {
            const bool read = survives(target, whole.substr(0, size), options);
            // HDF5 knows its size. Version 5 of MATLAB does not: later variables may be gone.
            EXPECT_TRUE(!read || std::string_view(name).ends_with(".mat")) << name << " cut at " << size;
        }
    }
}

TEST_F(Damage, AFileWithWrongBytesIsReadOrRejected) {
    const TemporaryFolder folder;
    Random random(1);
    for (const auto& [name, options] : files()) {
        const std::string whole = bytes_of(h5_file(name));
        int rejected = 0;
        for (int trial = 0; trial < 50; ++trial) {
            std::string wrong = whole;
            for (int flips = 1 + trial % 3; flips > 0; --flips) {
                wrong[static_cast<std::size_t>(random.below(static_cast<Index>(whole.size())))] ^=
                    static_cast<char>(1 + random.below(255));
            }
            rejected += survives(folder / name, wrong, options) ? 0 : 1;
        }
        EXPECT_GT(rejected, 0) << name;
    }
}

TEST_F(Damage, AnyWrongByteInTheDescriptionOfTruthValuesIsReadOrRejected) {
    // HDF5 1.10 copies as many bytes as the description says: docs/decisions/0140.
    const TemporaryFolder folder;
    const std::string whole = bytes_of(h5_file("dense.h5ad"));
    int found = 0;
    int rejected = 0;
    for (std::size_t at = whole.find("FALSE"); at != std::string::npos; at = whole.find("FALSE", at + 1)) {
        ++found;
        for (std::size_t place = at - 28; place < at + 20; ++place) {
            for (const int flip : {0x01, 0x10, 0xFF}) {
                std::string wrong = whole;
                wrong[place] = static_cast<char>(wrong[place] ^ flip);
                rejected += survives(folder / "wrong.h5ad", wrong, {}) ? 0 : 1;
            }
        }
    }
    EXPECT_GT(found, 0);
    EXPECT_GT(rejected, 12 * found);
}

} // namespace
} // namespace pnmf
