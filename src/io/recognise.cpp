#include "io/formats.hpp"
#include "io/hdf5_handle.hpp"
#include "io/input_file.hpp"
#include "io/trial_read.hpp"
#include "io/zarr.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// ".mtx" for "matrix.MTX.gz": the ending without case and without ".gz".
std::string ending(const fs::path& path) {
    const fs::path name = lower(path.filename().string());
    return name.extension() == ".gz" ? name.stem().extension().string() : name.extension().string();
}

bool is_text(std::string_view bytes) {
    return std::none_of(bytes.begin(), bytes.end(), [](char c) { return c == '\0'; });
}

Format recognise_hdf5(const fs::path& path) {
    if (ending(path) == ".h5ad") {
        return Format::h5ad;
    }
    return read_after_trial(path, [&] {
        const auto root = hdf5::Object::open_file(path);
        if (root.contains("obs") && root.contains("var")) {
            return root.contains("mod") ? Format::h5mu : Format::h5ad;
        }
        return root.contains("row_attrs") && root.contains("col_attrs") ? Format::loom : Format::tenx_h5;
    });
}

} // namespace

Format recognise(const fs::path& path) {
    std::error_code error;
    require(fs::exists(path, error), "{}: no such file or folder", path.string());
    if (fs::is_directory(path, error)) {
        require(zarr::is_store(path) || ending(path) != ".zarr",
                "{}: must be a Zarr store, but neither zarr.json nor .zgroup is in it", path.string());
        return zarr::is_store(path) ? Format::zarr : Format::tenx_folder;
    }
    // The format is found out first, then the file is read from its beginning.
    require(fs::is_regular_file(path, error),
            "{}: must be a file; what comes through a pipe or from a device must be saved in one first",
            path.string());
    std::array<char, 1024> first{};
    const std::size_t size = InputFile(path).read(first.data(), first.size());
    const std::string_view bytes(first.data(), size);
    require(size > 0, "{}: the file is empty", path.string());
    if (bytes.starts_with("\x93NUMPY")) {
        return Format::npy;
    }
    // "MATLAB 5.0 MAT-file", or "MATLAB 7.3 MAT-file", which is HDF5 after 512 bytes.
    if (bytes.starts_with("MATLAB ") && bytes.substr(0, 116).find("MAT-file") != std::string_view::npos) {
        return Format::mat;
    }
    require(!bytes.starts_with("PK\x03\x04"),
            "{}: a ZIP archive: unpack it (a Zarr store is read from its folder), or save a table as .csv",
            path.string());
    const std::string end = ending(path);
    const bool should_be_hdf5 =
        end == ".h5ad" || end == ".h5mu" || end == ".loom" || end == ".h5" || end == ".hdf5";
    // It may begin behind a block of the user's.
    if (bytes.starts_with("\x89HDF") || (should_be_hdf5 && hdf5::is_hdf5_file(path))) {
        return end == ".mat" ? Format::mat : recognise_hdf5(path);
    }
    if (bytes.starts_with("%%MatrixMarket") || lower(std::string(bytes.substr(0, 14))) == "%%matrixmarket") {
        return Format::matrix_market;
    }
    // The reader of the format that the ending names can say best what is wrong with the first bytes.
    require(!should_be_hdf5, "{}: not an HDF5 file, or cut off", path.string());
    if (end == ".mtx") {
        return Format::matrix_market;
    }
    if (end == ".npy") {
        return Format::npy;
    }
    if (end == ".mat") {
        return Format::mat;
    }
    require(
        end != ".rds" && end != ".rdata" && end != ".rda",
        "{}: an object of R, which the R package takes as it is; for a file that all read, write an .h5ad "
        "or .mtx in R",
        path.string());
    require(is_text(bytes),
            "{}: not a format that is read here (.h5ad, .zarr, .h5mu, .loom, 10x folder or .h5, .mtx, .csv, "
            ".tsv, .npy, .mat)",
            path.string());
    return Format::delimited;
}

namespace {

/// The one table of formats that are read: another one is a row here, a line of `recognise` and a reader.
struct FormatRow {
    Format format;
    const char* key;
    const char* name;
    Dataset (*read)(const fs::path&, const ReadOptions&);
};
constexpr std::array formats{FormatRow{Format::h5ad, "h5ad", "AnnData (.h5ad)", read_h5ad},
                             FormatRow{Format::h5mu, "h5mu", "MuData (.h5mu)", read_h5ad},
                             FormatRow{Format::zarr, "zarr", "AnnData (.zarr)", read_h5ad},
                             FormatRow{Format::loom, "loom", "Loom (.loom)", read_loom},
                             FormatRow{Format::tenx_h5, "10x-h5", "10x HDF5", read_tenx_h5},
                             FormatRow{Format::tenx_folder, "10x-folder", "10x folder", read_tenx_folder},
                             FormatRow{Format::matrix_market, "mtx", "MatrixMarket", read_matrix_market},
                             FormatRow{Format::delimited, "text", "delimited text", read_delimited},
                             FormatRow{Format::npy, "npy", "NumPy array (.npy)", read_npy},
                             FormatRow{Format::mat, "mat", "MATLAB (.mat)", read_mat}};

const FormatRow& row_of(Format format) {
    return *std::find_if(formats.begin(), formats.end(),
                         [&](const auto& row) { return row.format == format; });
}

} // namespace

const char* format_name(Format format) {
    return row_of(format).name;
}

const char* format_key(Format format) {
    return row_of(format).key;
}

Dataset read_as(Format format, const fs::path& path, const ReadOptions& options) {
    return row_of(format).read(path, options);
}

CellAxis default_axis(Format format) {
    return is_anndata(format) || format == Format::npy ? CellAxis::rows : CellAxis::columns;
}

} // namespace pnmf::io
