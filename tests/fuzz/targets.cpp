#include "fuzz/targets.hpp"

#include "io/formats.hpp"
#include "io/table.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/results/checkpoint.hpp>
#include <pnmf/results/options_json.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/solvers/memory_plan.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace pnmf::fuzz {
namespace {

namespace fs = std::filesystem;

/// A file that holds the bytes while this lives, in memory where the system has a place for such files: HDF5
/// wants one with a path.
class ScratchFile {
  public:
    explicit ScratchFile(std::string_view bytes) {
        std::error_code missing;
        const fs::path folder =
            fs::is_directory("/dev/shm", missing) ? fs::path("/dev/shm") : fs::temp_directory_path();
        path_ = (folder / "pnmf-fuzz-XXXXXX").string();
        const int descriptor = ::mkostemp(path_.data(), O_CLOEXEC);
        while (!bytes.empty()) {
            const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
            if (written <= 0) {
                std::abort();
            }
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
        ::close(descriptor);
    }
    ~ScratchFile() { ::unlink(path_.c_str()); }
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;
    fs::path path() const { return path_; }

  private:
    std::string path_;
};

/// What every reader promises about what it returns.
void expect_sound(const Dataset& data) {
    const bool named =
        std::ssize(data.cell_names) == data.cells() && std::ssize(data.feature_names) == data.features();
    if (!named) {
        std::abort();
    }
    if (const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X)) {
        try {
            check_structure(*sparse);
        } catch (const InputError&) {
            std::abort();
        }
    }
}

void read_as(io::Format format, std::string_view bytes) {
    const ScratchFile file(bytes);
    const ReadOptions options{};
    switch (format) {
    case io::Format::delimited:
        return expect_sound(io::read_delimited(file.path(), options));
    case io::Format::matrix_market:
        return expect_sound(io::read_matrix_market(file.path(), options));
    case io::Format::npy:
        return expect_sound(io::read_npy(file.path(), options));
    case io::Format::mat:
        return expect_sound(io::read_mat(file.path(), options));
    case io::Format::h5ad:
        return expect_sound(io::read_h5ad(file.path(), options));
    case io::Format::tenx_h5:
        return expect_sound(io::read_tenx_h5(file.path(), options));
    case io::Format::tenx_folder:
        return;
    }
}

template <io::Format format>
void read_format(std::string_view bytes) {
    read_as(format, bytes);
}

void read_checkpoint(std::string_view bytes) {
    const ScratchFile file(bytes);
    // Its own fingerprint, so that the rest of it is read too.
    load_start<double>(file.path(), checkpoint_fingerprint(file.path()), {});
}

void read_result(std::string_view bytes) {
    const ScratchFile file(bytes);
    const StoredResult result = read_stored_result(file.path());
    result.H(0);
}

void read_labels_of(std::string_view bytes) {
    const ScratchFile file(bytes);
    const io::TextTable table = io::read_table(file.path());
    Dataset data;
    data.X = Matrix(0, 2);
    data.cell_names = {"a", "b"};
    read_labels(file.path().string(), data);
}

void read_options(std::string_view bytes) {
    fit_options_from_json(std::string(bytes));
}

void read_size(std::string_view bytes) {
    parse_size(std::string(bytes));
}

constexpr std::array<Target, 11> all{{{"delimited", read_format<io::Format::delimited>},
                                      {"matrix_market", read_format<io::Format::matrix_market>},
                                      {"npy", read_format<io::Format::npy>},
                                      {"mat", read_format<io::Format::mat>},
                                      {"h5ad", read_format<io::Format::h5ad>},
                                      {"tenx_h5", read_format<io::Format::tenx_h5>},
                                      {"checkpoint", read_checkpoint},
                                      {"result", read_result},
                                      {"labels", read_labels_of},
                                      {"options", read_options},
                                      {"size", read_size}}};

} // namespace

std::span<const Target> targets() {
    return all;
}

bool accepts(const Target& target, std::string_view bytes) {
    try {
        target.read(bytes);
        return true;
    } catch (const InputError& e) {
        if (std::getenv("PNMF_FUZZ_SAY") != nullptr) {
            std::fprintf(stderr, "%s\n", e.what());
        }
        return false;
    } catch (const SystemError&) { // HDF5 found no memory for a size that makes no sense
        return false;
    }
}

} // namespace pnmf::fuzz
