#pragma once

#include <pnmf/io/dataset.hpp>
#include <pnmf/io/write.hpp>
#include <pnmf/linalg/sparse.hpp>
#include <pnmf/types.hpp>

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace pnmf {

/// Numbers in row-major order, as NumPy has them: the last axis runs fastest.
struct NumericArray {
    std::vector<Index> shape; ///< one axis or more; the product is the number of values
    /// Integers of any width are read as 64 bits.
    std::variant<std::vector<double>, std::vector<float>, std::vector<std::int64_t>,
                 std::vector<std::int32_t>>
        values;

    bool operator==(const NumericArray&) const = default;
};

/// The entries of a vector or matrix as an array of one or two axes.
NumericArray numeric_array(const std::vector<double>& values);
NumericArray numeric_array(const std::vector<std::int64_t>& values);
NumericArray numeric_array(const Matrix& matrix);

/// Slab t of an array of three axes: the matrix `array[t]` of NumPy. 0 ≤ t < shape[0].
Matrix slab_of(const NumericArray& array, Index t);

/// An array of three axes that is written one slab at a time and never held whole: `array[t]` is `slab(t)`,
/// rows × cols, asked for once each, in ascending order. One of the two functions is given; it decides
/// whether doubles or floats are stored.
struct SlabArray {
    Index slabs = 0;
    Index rows = 0;
    Index cols = 0;
    std::function<Matrix(Index)> slab{};
    std::function<DenseMatrix<float>(Index)> float_slab{};
    bool compress = false; ///< gzip
};

struct AnnDataValue;
using AnnDataMap = std::map<std::string, AnnDataValue>;

/// One entry of `uns`: a map of further entries, a scalar, text, texts, or numbers.
struct AnnDataValue {
    std::variant<AnnDataMap, double, std::int64_t, bool, std::string, std::vector<std::string>, NumericArray,
                 SlabArray>
        value;

    AnnDataValue() = default;
    AnnDataValue(AnnDataMap map) : value(std::move(map)) {}
    AnnDataValue(double number) : value(number) {}
    AnnDataValue(bool truth) : value(truth) {}
    template <std::integral Integer>
    AnnDataValue(Integer integer) : value(static_cast<std::int64_t>(integer)) {}
    AnnDataValue(std::string text) : value(std::move(text)) {}
    AnnDataValue(const char* text) : value(std::string(text)) {}
    AnnDataValue(std::vector<std::string> texts) : value(std::move(texts)) {}
    AnnDataValue(NumericArray array) : value(std::move(array)) {}
    AnnDataValue(SlabArray array) : value(std::move(array)) {}
};

/// The entry at a path such as "pnmf/H"; null when there is none.
const AnnDataValue* find(const AnnDataMap& map, const std::string& path);

/// What a .h5ad file holds, as far as pnmf knows it: n cells (`obs`), p features (`var`).
struct AnnDataFile {
    /// X and layers are features × cells in memory and cells × features in the file: the same bytes.
    std::optional<std::variant<Matrix, SparseMatrix<double>>> X;
    std::map<std::string, std::variant<Matrix, SparseMatrix<double>>> layers;
    std::vector<std::string> cell_names;    ///< n, the index of `obs`
    std::vector<std::string> feature_names; ///< p, the index of `var`
    std::vector<TableColumn> cell_table;
    std::vector<TableColumn> feature_table;
    std::map<std::string, Matrix> obsm; ///< n × anything
    std::map<std::string, Matrix> varm; ///< p × anything
    AnnDataMap uns;
    /// Written, not read: an .h5ad file of these cells and perhaps more, whose obsm, varm, obsp, layers, raw
    /// and uns are copied where this file has nothing of that name. Empty: none.
    std::filesystem::path kept_from{};
    std::vector<std::string> notices; ///< what was not read, a sentence each; not written
};

struct AnnDataWriteOptions {
    bool compress = false; ///< gzip for X, layers, obsm and varm
};

/// Writes a file that AnnData 0.8 and later read without a warning and write back unchanged.
///
/// It appears whole or not at all. Text with repeated values becomes categories, as AnnData makes them.
/// InputError when shapes and names disagree, SystemError when the disk refuses.
void write_anndata(const std::filesystem::path& path, const AnnDataFile& file,
                   const AnnDataWriteOptions& options = {});

/// Adds columns to `obs` of an existing file, replacing those of the same name; all else stays as it is.
/// The changed file takes the old one's place whole or not at all. At most 2,000 columns at once: HDF5 keeps
/// the list of their names in 64 KB.
void add_cell_columns(const std::filesystem::path& path, const std::vector<TableColumn>& columns);

/// Writes a data set alone: X, names and tables.
void write_h5ad(const std::filesystem::path& path, const Dataset& data,
                const AnnDataWriteOptions& options = {});

/// Writes all that is in an .h5ad file, such as a result, as a Zarr store: a folder of that name, which must
/// not be there. Format 2, compressed by zlib. It appears whole or not at all.
void write_zarr(const std::filesystem::path& store, const std::filesystem::path& file);

struct AnnDataReadOptions {
    /// Entries to leave out, by their path in the file: "X", "uns/pnmf/W".
    std::vector<std::string> skip{};
    /// Of obsm and varm only these entries, such as "X_pnmf"; nothing: all.
    std::optional<std::vector<std::string>> matrices{};
};

/// Reads all of a .h5ad file that AnnDataFile can hold; `notices` says what else there was.
/// Encodings of AnnData 0.7 and later. InputError names the place when the file is damaged.
AnnDataFile read_anndata(const std::filesystem::path& path, const AnnDataReadOptions& options = {});

/// Whether the file has an array of this name ("uns/pnmf/W"). InputError when the file cannot be read.
bool has_array(const std::filesystem::path& path, const std::string& array);

/// The shape of an array in the file, such as "uns/pnmf/W"; InputError when there is none.
std::vector<Index> array_shape(const std::filesystem::path& path, const std::string& array);

/// The size of one number of an array in the file: 4 for floats.
Index array_element_bytes(const std::filesystem::path& path, const std::string& array);

/// Slab t, 0 ≤ t < shape[0], of an array of three axes; the rest of it stays in the file.
Matrix read_slab(const std::filesystem::path& path, const std::string& array, Index t);

/// Writes a .h5ad file block of cells by block, so that X need never be in memory: what `write_h5ad` writes
/// of the whole. The file appears whole, at `finish`, or not at all.
class H5adWriter {
  public:
    /// `cells` is the number that will come. Indices have 32 bits where that many cells cannot have more than
    /// 2³¹ − 1 entries, else 64.
    H5adWriter(const std::filesystem::path& path, const std::vector<std::string>& feature_names, Index cells,
               const AnnDataWriteOptions& options = {});
    ~H5adWriter();
    H5adWriter(H5adWriter&&) noexcept;
    H5adWriter& operator=(H5adWriter&&) noexcept;

    /// The next cells, features × cells of the block.
    void append(const SparseMatrix<double>& columns);
    /// InputError unless as many cells came as were announced, and have names. `beside`: files that take
    /// their names together with this one, or not at all.
    void finish(const std::vector<std::string>& cell_names, const std::vector<TableColumn>& cell_table,
                const std::vector<TextFile>& beside = {});

    std::int64_t entries() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace pnmf
