#include <pnmf/io/h5ad.hpp>

#include "files/atomic_file.hpp"
#include "io/add_to_h5ad.hpp"
#include "io/formats.hpp"
#include "io/h5ad_parts.hpp"
#include "io/sidecar_texts.hpp"
#include "io/trial_read.hpp"

#include <pnmf/error.hpp>

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <utility>

namespace pnmf {

using hdf5::Object;

namespace {

constexpr Index largest_int32 = std::numeric_limits<std::int32_t>::max();
/// Elements to a chunk of an array that grows.
constexpr Index chunk = Index{1} << 17;
/// Their names go into one attribute, for which HDF5 has 64 KB: 16 bytes a name, and those already there.
constexpr std::size_t most_new_columns = 2000;

bool fits_int32(Index features, Index cells) {
    return features == 0 || cells <= largest_int32 / features;
}

} // namespace

struct H5adWriter::State {
    State(const std::filesystem::path& path, const std::vector<std::string>& names, Index announced,
          const AnnDataWriteOptions& options)
        : file(path), root(Object::create_file(file.temporary(), path)), features(std::ssize(names)),
          cells(announced), narrow(fits_int32(features, cells)) {
        io::mark(*root, "anndata", "0.1.0");
        const hdf5::Storage storage{.compress = options.compress, .resizable = true};
        X = root->make_group("X");
        io::mark(*X, "csr_matrix", "0.1.0");
        X->set_attribute("shape", std::vector<std::int64_t>{cells, features});
        // Chunks get the size an array is made with; it shrinks and grows afterwards.
        data = X->create_array<double>("data", {chunk}, storage);
        if (narrow) {
            indices = X->create_array<std::int32_t>("indices", {chunk}, storage);
            offsets = X->create_array<std::int32_t>("indptr", {cells + 1}, storage);
        } else {
            indices = X->create_array<std::int64_t>("indices", {chunk}, storage);
            offsets = X->create_array<std::int64_t>("indptr", {cells + 1}, storage);
        }
        io::write_frame(*root, "var", names, {});
        write_indices(*offsets, 0, {0});
    }

    /// Integers at the type the file has.
    void write_indices(Object& array, Index first, const std::vector<std::int64_t>& values) const {
        const auto count = static_cast<Index>(values.size());
        if (narrow) {
            const std::vector<std::int32_t> small(values.begin(), values.end());
            array.write_rows(first, count, small.data());
        } else {
            array.write_rows(first, count, values.data());
        }
    }

    AtomicFile file;
    std::optional<Object> root;
    std::optional<Object> X;
    std::optional<Object> data;
    std::optional<Object> indices;
    std::optional<Object> offsets;
    Index features = 0;
    Index cells = 0;
    bool narrow = true;
    Index written = 0;
    std::int64_t entries = 0;
};

H5adWriter::H5adWriter(const std::filesystem::path& path, const std::vector<std::string>& feature_names,
                       Index cells, const AnnDataWriteOptions& options)
    : state_(std::make_unique<State>(path, feature_names, cells, options)) {}

H5adWriter::~H5adWriter() = default;
H5adWriter::H5adWriter(H5adWriter&&) noexcept = default;
H5adWriter& H5adWriter::operator=(H5adWriter&&) noexcept = default;

void H5adWriter::append(const SparseMatrix<double>& columns) {
    State& s = *state_;
    require(columns.rows == s.features && s.written + columns.cols <= s.cells,
            "{} features and at most {} more cells were announced, got {} and {}", s.features,
            s.cells - s.written, columns.rows, columns.cols);
    const auto count = static_cast<Index>(columns.nonzeros());
    s.data->resize(s.entries + count);
    s.indices->resize(s.entries + count);
    s.data->write_rows(s.entries, count, columns.value.data());
    s.write_indices(*s.indices, s.entries, {columns.row.begin(), columns.row.end()});
    std::vector<std::int64_t> ends;
    for (Index j = 1; j <= columns.cols; ++j) {
        ends.push_back(s.entries + columns.start[j]);
    }
    s.write_indices(*s.offsets, s.written + 1, ends);
    s.written += columns.cols;
    s.entries += count;
}

void H5adWriter::finish(const std::vector<std::string>& cell_names,
                        const std::vector<TableColumn>& cell_table, const std::vector<TextFile>& beside) {
    State& s = *state_;
    require(s.written == s.cells && std::ssize(cell_names) == s.cells,
            "{} cells were announced, got {} and {} names", s.cells, s.written, cell_names.size());
    s.data->resize(s.entries);
    s.indices->resize(s.entries);
    io::write_frame(*s.root, "obs", cell_names, cell_table);
    for (const char* name : {"obsm", "varm", "obsp", "varp", "layers", "uns"}) {
        io::write_map(*s.root, name, {});
    }
    s.data.reset();
    s.indices.reset();
    s.offsets.reset();
    s.X.reset();
    s.root->close_file();
    s.root.reset();
    io::SidecarTexts(beside).commit_with(s.file);
}

std::int64_t H5adWriter::entries() const {
    return state_->entries;
}

namespace {

/// In a copy of the file, which then takes its place.
void add_to_copy(const std::filesystem::path& path, const std::vector<TableColumn>& columns,
                 const AnnDataMap& entries) {
    const hdf5::Session session;
    io::check_h5ad(Object::open_file(path));
    AtomicFile copy(path);
    std::error_code error;
    std::filesystem::copy_file(path, copy.temporary(), std::filesystem::copy_options::overwrite_existing,
                               error);
    if (error) {
        throw SystemError(fmt::format("{}: cannot be copied: {}", path.string(), error.message()));
    }
    Object root = Object::edit_file(copy.temporary(), path);
    {
        Object obs = root.open("obs");
        io::add_columns(obs, columns);
    }
    if (!entries.empty()) {
        if (!root.contains("uns")) {
            io::write_map(root, "uns", {});
        }
        Object uns = root.open("uns");
        io::add_to_map(uns, entries);
    }
    root.close_file();
    copy.commit();
}

} // namespace

void add_cell_columns(const std::filesystem::path& path, const std::vector<TableColumn>& columns) {
    io::add_to_h5ad(path, columns, {});
}

void io::add_to_h5ad(const std::filesystem::path& path, const std::vector<TableColumn>& columns,
                     const AnnDataMap& uns) {
    require(columns.size() <= most_new_columns, "{}: at most {} columns can be added to obs at once, got {}",
            path.string(), most_new_columns, columns.size());
    // The copy is compared with all of the file.
    const io::TrialRead trial(path, [&path] { Object::manifest_of(path); });
    io::read_tried(path, [&] { add_to_copy(path, columns, uns); });
}

} // namespace pnmf
