#include "fuzz/targets.hpp"

#include "io/formats.hpp"
#include "io/table.hpp"

#include <pnmf/error.hpp>
#include <pnmf/io/annotations.hpp>
#include <pnmf/io/dataset.hpp>
#include <pnmf/io/h5ad.hpp>
#include <pnmf/results/result_file.hpp>
#include <pnmf/results/stored_result.hpp>
#include <pnmf/run/checkpoint.hpp>
#include <pnmf/solvers/memory_plan.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace pnmf::fuzz {
namespace {

namespace fs = std::filesystem;

/// Where PNMF_FUZZ_FOLDER says, or in memory where the system has a place for such files.
const fs::path& memory_folder() {
    static const fs::path folder = [] {
        if (const char* const named = std::getenv("PNMF_FUZZ_FOLDER")) {
            return fs::path(named);
        }
        std::error_code missing;
        return fs::is_directory("/dev/shm", missing) ? fs::path("/dev/shm") : fs::temp_directory_path();
    }();
    return folder;
}

/// A file that holds the bytes while this lives, in memory where the system has a place for such files: HDF5
/// wants one with a path.
class ScratchFile {
  public:
    explicit ScratchFile(std::string_view bytes) {
        path_ = (memory_folder() / "pnmf-fuzz-XXXXXX").string();
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

/// A folder of its own, the same way.
class ScratchFolder {
  public:
    ScratchFolder() {
        std::string name = (memory_folder() / "pnmf-fuzz-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            std::abort();
        }
        path_ = name;
    }
    ~ScratchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
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

Dataset read_file(io::Format format, const fs::path& file) {
    const ReadOptions options{};
    switch (format) {
    case io::Format::delimited:
        return io::read_delimited(file, options);
    case io::Format::matrix_market:
        return io::read_matrix_market(file, options);
    case io::Format::npy:
        return io::read_npy(file, options);
    case io::Format::mat:
        return io::read_mat(file, options);
    case io::Format::h5ad:
    case io::Format::h5mu:
    case io::Format::zarr:
        return io::read_h5ad(file, options);
    case io::Format::loom:
        return io::read_loom(file, options);
    case io::Format::tenx_h5:
        return io::read_tenx_h5(file, options);
    case io::Format::tenx_folder:
        break;
    }
    return io::read_tenx_folder(file, options);
}

template <io::Format format>
void read_format(std::string_view bytes) {
    const ScratchFile file(bytes);
    expect_sound(read_file(format, file.path()));
}

/// Three files in a folder, one after the other in the bytes, with a line "==" between them.
void read_tenx_folder(std::string_view bytes) {
    const ScratchFolder folder;
    for (const char* const name : {"matrix.mtx", "features.tsv", "barcodes.tsv"}) {
        constexpr std::string_view between = "\n==\n";
        const auto end = bytes.find(between);
        std::ofstream(folder.path() / name, std::ios::binary) << bytes.substr(0, end);
        bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + between.size());
    }
    expect_sound(io::read_tenx_folder(folder.path(), {}));
}

/// Files of a Zarr store one after the other: a line with name and size, then the bytes. What a line names
/// that is no name inside of the store ends it.
void read_zarr(std::string_view bytes) {
    const ScratchFolder folder;
    while (!bytes.empty()) {
        const std::string line(bytes.substr(0, bytes.find('\n')));
        bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
        const std::size_t blank = line.find(' ');
        const fs::path name = line.substr(0, blank);
        if (blank == std::string::npos || name.empty() || name.is_absolute() || line.find('\0') < blank ||
            line.find("..") < blank) {
            break;
        }
        const auto size =
            std::min<std::size_t>(bytes.size(), std::strtoul(line.c_str() + blank, nullptr, 10));
        std::error_code refused; // a file stands where a folder should
        fs::create_directories((folder.path() / name).parent_path(), refused);
        std::ofstream(folder.path() / name, std::ios::binary) << bytes.substr(0, size);
        bytes.remove_prefix(size);
    }
    expect_sound(io::read_h5ad(folder.path(), {}));
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

void read_gene_sets_of(std::string_view bytes) {
    const ScratchFile file(bytes);
    read_gene_sets(file.path());
}

constexpr std::array<Target, 16> all{{{"delimited", read_format<io::Format::delimited>},
                                      {"matrix_market", read_format<io::Format::matrix_market>},
                                      {"npy", read_format<io::Format::npy>},
                                      {"mat", read_format<io::Format::mat>},
                                      {"h5ad", read_format<io::Format::h5ad>},
                                      {"h5mu", read_format<io::Format::h5mu>},
                                      {"loom", read_format<io::Format::loom>},
                                      {"tenx_h5", read_format<io::Format::tenx_h5>},
                                      {"checkpoint", read_checkpoint},
                                      {"result", read_result},
                                      {"labels", read_labels_of},
                                      {"options", read_options},
                                      {"size", read_size},
                                      {"tenx_folder", read_tenx_folder},
                                      {"zarr", read_zarr},
                                      {"gene_sets", read_gene_sets_of}}};

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

std::optional<Dataset> values_in(const Target& target, const fs::path& file) {
    static const std::map<std::string_view, io::Format> formats{{"delimited", io::Format::delimited},
                                                                {"npy", io::Format::npy},
                                                                {"matrix_market", io::Format::matrix_market},
                                                                {"mat", io::Format::mat},
                                                                {"h5ad", io::Format::h5ad},
                                                                {"loom", io::Format::loom},
                                                                {"tenx_h5", io::Format::tenx_h5}};
    const auto format = formats.find(target.name);
    if (format == formats.end()) {
        return std::nullopt;
    }
    try {
        return read_file(format->second, file);
    } catch (const InputError&) {
        return std::nullopt;
    } catch (const SystemError&) {
        return std::nullopt;
    }
}

} // namespace pnmf::fuzz
