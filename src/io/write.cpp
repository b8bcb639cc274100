#include <pnmf/io/write.hpp>

#include "files/atomic_file.hpp"
#include "io/text_output.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

namespace pnmf {

namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as little-endian bytes");

/// Version 1.0 of the format: magic, length, a Python dictionary padded so that the values begin at a
/// multiple of 64.
template <class Real>
std::string npy_header(std::span<const Index> shape, bool fortran) {
    std::string dimensions;
    for (const Index extent : shape) {
        dimensions += fmt::format("{}, ", extent);
    }
    if (shape.size() > 1) {
        dimensions.resize(dimensions.size() - 2);
    }
    std::string text = fmt::format("{{'descr': '<f{}', 'fortran_order': {}, 'shape': ({}), }}", sizeof(Real),
                                   fortran ? "True" : "False", dimensions);
    constexpr std::size_t before = 10;
    text.append(63 - (before + text.size()) % 64, ' ');
    text += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    header += static_cast<char>(text.size() & 0xffU);
    header += static_cast<char>(text.size() >> 8U);
    return header + text;
}

template <class Real>
void write_array(const fs::path& path, std::span<const Real> values, std::span<const Index> shape,
                 bool fortran) {
    AtomicFile file(path);
    file.write(npy_header<Real>(shape, fortran));
    file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
    file.commit();
}

/// One line of the file at a time: row i of X, or of its transpose.
class Lines {
  public:
    Lines(const Dataset& data, CellAxis cells) : data_(data), cells_are_rows_(cells == CellAxis::rows) {
        if (const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X);
            sparse != nullptr && !cells_are_rows_) {
            transposed_ = transpose(*sparse);
        }
    }

    Vector line(Index i) const {
        if (const auto* dense = std::get_if<Matrix>(&data_.X)) {
            return cells_are_rows_ ? Vector(dense->col(i)) : Vector(dense->row(i).transpose());
        }
        const auto& columns = transposed_ ? *transposed_ : std::get<SparseMatrix<double>>(data_.X);
        Vector values = Vector::Zero(columns.rows);
        for (auto e = columns.start[i]; e < columns.start[i + 1]; ++e) {
            values[columns.row[e]] = columns.value[e];
        }
        return values;
    }

  private:
    const Dataset& data_;
    bool cells_are_rows_;
    std::optional<SparseMatrix<double>> transposed_;
};

void write_coordinates(const fs::path& path, const SparseMatrix<double>& columns) {
    constexpr double largest = 1e15; // whole numbers up to here are written digit by digit
    const bool whole = std::all_of(columns.value.begin(), columns.value.end(),
                                   [](double x) { return x == std::floor(x) && std::abs(x) < largest; });
    MatrixMarketWriter writer(path, columns.rows, whole);
    writer.append(columns);
    writer.finish();
}

} // namespace

template <class Real>
void write_npy(const fs::path& path, std::span<const Real> values, std::span<const Index> shape) {
    Index count = 1;
    for (const Index extent : shape) {
        count *= extent;
    }
    require(static_cast<Index>(values.size()) == count, "{}: an array of {} values was given {}",
            path.string(), count, values.size());
    write_array(path, values, shape, false);
}

template <class Real>
void write_npy(const fs::path& path, const DenseMatrix<Real>& matrix) {
    const std::array<Index, 2> shape{matrix.rows(), matrix.cols()};
    write_array<Real>(path, {matrix.data(), static_cast<std::size_t>(matrix.size())}, shape, true);
}

template void write_npy(const fs::path&, std::span<const float>, std::span<const Index>);
template void write_npy(const fs::path&, std::span<const double>, std::span<const Index>);
template void write_npy(const fs::path&, const DenseMatrix<float>&);
template void write_npy(const fs::path&, const DenseMatrix<double>&);

void write_table(const fs::path& path, const std::vector<TableColumn>& columns) {
    const auto length = [](const TableColumn& column) {
        return std::visit([](const auto& values) { return values.size(); }, column.values);
    };
    const std::size_t rows = columns.empty() ? 0 : length(columns.front());
    for (const TableColumn& column : columns) {
        require(length(column) == rows, "{}: column '{}' has {} rows, the first one has {}", path.string(),
                column.name, length(column), rows);
    }
    io::TextOutput output(path);
    const char delimiter = io::delimiter_for(path);
    std::string& text = output.text();
    const auto separate = [&](std::size_t c) { text += c + 1 == columns.size() ? '\n' : delimiter; };
    for (std::size_t c = 0; c < columns.size(); ++c) {
        io::append_field(text, columns[c].name, delimiter);
        separate(c);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (const auto* words = std::get_if<std::vector<std::string>>(&columns[c].values)) {
                io::append_field(text, (*words)[r], delimiter);
            } else {
                io::append_number(text, std::get<std::vector<double>>(columns[c].values)[r]);
            }
            separate(c);
        }
        output.pass_on();
    }
    output.commit();
}

void write_delimited(const fs::path& path, const Dataset& data, CellAxis cells) {
    const bool cells_are_rows = cells == CellAxis::rows;
    const auto& row_names = cells_are_rows ? data.cell_names : data.feature_names;
    const auto& column_names = cells_are_rows ? data.feature_names : data.cell_names;
    const char delimiter = io::delimiter_for(path);
    const Lines lines(data, cells);
    io::TextOutput output(path);
    // The word in the corner tells readers that the first column holds names, even when they are numbers.
    output.text() += cells_are_rows ? "cell" : "gene";
    for (const std::string& name : column_names) {
        output.text() += delimiter;
        io::append_field(output.text(), name, delimiter);
    }
    output.text() += '\n';
    for (std::size_t i = 0; i < row_names.size(); ++i) {
        io::append_field(output.text(), row_names[i], delimiter);
        for (const double x : lines.line(static_cast<Index>(i))) {
            output.text() += delimiter;
            io::append_number(output.text(), x);
        }
        output.text() += '\n';
        output.pass_on();
    }
    output.commit();
}

void write_matrix_market(const fs::path& path, const Dataset& data, CellAxis cells) {
    const bool cells_are_rows = cells == CellAxis::rows;
    if (const auto* sparse = std::get_if<SparseMatrix<double>>(&data.X)) {
        write_coordinates(path, cells_are_rows ? transpose(*sparse) : *sparse);
        return;
    }
    const auto& dense = std::get<Matrix>(data.X);
    const Index rows = cells_are_rows ? dense.cols() : dense.rows();
    const Index cols = cells_are_rows ? dense.rows() : dense.cols();
    const Lines columns(data, cells_are_rows ? CellAxis::columns : CellAxis::rows);
    io::TextOutput output(path);
    output.text() += fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", rows, cols);
    for (Index j = 0; j < cols; ++j) {
        for (const double x : columns.line(j)) {
            io::append_number(output.text(), x);
            output.text() += '\n';
        }
        output.pass_on();
    }
    output.commit();
}

} // namespace pnmf
