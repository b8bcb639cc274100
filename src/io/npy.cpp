#include "cells/processes.hpp"
#include "io/formats.hpp"
#include "io/input_file.hpp"

#include <pnmf/error.hpp>

#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <limits>
#include <optional>

namespace pnmf::io {

namespace {

static_assert(std::endian::native == std::endian::little,
              "arrays are read and written as little-endian bytes");

struct NpyHeader {
    std::string type;
    bool fortran = false;
    std::vector<std::int64_t> shape;
};

/// What follows `'key':` in the header's dictionary.
std::string_view entry(std::string_view header, std::string_view key, const std::string& file) {
    std::size_t at = header.find(fmt::format("'{}'", key));
    if (at != std::string_view::npos) {
        at = header.find(':', at + key.size() + 2);
    }
    require(at != std::string_view::npos, "{}: the header of the array has no '{}'", file, key);
    std::string_view rest = header.substr(at + 1);
    while (!rest.empty() && rest.front() == ' ') {
        rest.remove_prefix(1);
    }
    return rest;
}

std::vector<std::int64_t> parse_shape(std::string_view text, const std::string& file) {
    require(text.starts_with('('), "{}: the header of the array has a shape that is no tuple", file);
    std::vector<std::int64_t> shape;
    std::optional<std::int64_t> number;
    for (const char c : text.substr(1)) {
        if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            number = 10 * number.value_or(0) + (c - '0');
            require(*number < std::numeric_limits<std::int32_t>::max(), "{}: at most {} rows and columns",
                    file, std::numeric_limits<std::int32_t>::max());
        } else if (c == ',' || c == ')') {
            if (number) {
                shape.push_back(*number);
                number.reset();
            }
            if (c == ')') {
                return shape;
            }
        } else {
            require(c == ' ', "{}: the header of the array has a shape that is no tuple of numbers", file);
        }
    }
    fail("{}: the header of the array has a shape without an end", file);
}

NpyHeader read_header(InputFile& file) {
    const std::string name = file.name();
    std::array<char, 12> start{};
    require(file.read(start.data(), 8) == 8 && std::memcmp(start.data(), "\x93NUMPY", 6) == 0,
            "{}: not a .npy file, or cut off", name);
    const int version = start[6];
    require(version >= 1 && version <= 3, "{}: version {} of .npy, 1 to 3 are known", name, version);
    const std::size_t width = version == 1 ? 2 : 4;
    std::uint32_t length = 0;
    require(file.read(start.data() + 8, width) == width, "{}: cut off inside the header", name);
    std::memcpy(&length, start.data() + 8, width);
    require(length <= file.size_bound(), "{}: cut off inside the header", name);
    std::string text(length, '\0');
    require(file.read(text.data(), length) == length, "{}: cut off inside the header", name);
    NpyHeader header;
    const std::string_view type = entry(text, "descr", name);
    require(type.starts_with('\''), "{}: the array has records as values, numbers are expected", name);
    header.type = type.substr(1, type.find('\'', 1) - 1);
    const std::string_view order = entry(text, "fortran_order", name);
    header.fortran = order.starts_with("True");
    require(header.fortran || order.starts_with("False"), "{}: fortran_order is neither True nor False",
            name);
    header.shape = parse_shape(entry(text, "shape", name), name);
    return header;
}

/// How values lie in the file: `majors` lines of `minors` numbers each.
struct Layout {
    std::int64_t majors = 0;
    std::int64_t minors = 0;
    bool majors_are_cells = false;
};

/// Reads the values of some cells into X. What is between them in the file is passed over: where cells are
/// not the lines of the file, a piece of each line is read.
template <class Value>
void read_values(InputFile& file, const Layout& layout, const CellRange& cells, Matrix& X) {
    const CellRange all_majors{0, layout.majors, layout.majors};
    const CellRange all_minors{0, layout.minors, layout.minors};
    const CellRange& majors = layout.majors_are_cells ? cells : all_majors;
    const CellRange& minors = layout.majors_are_cells ? all_minors : cells;
    const auto pass = [&](std::int64_t values) {
        const std::uint64_t bytes = static_cast<std::uint64_t>(values) * sizeof(Value);
        require(bytes == 0 || file.skip(bytes) == bytes, "{}: cut off inside the values", file.name());
    };
    std::vector<Value> line(static_cast<std::size_t>(minors.count));
    const std::size_t bytes = line.size() * sizeof(Value);
    pass(majors.first * layout.minors);
    for (std::int64_t m = 0; m < majors.count; ++m) {
        pass(minors.first);
        require(file.read(reinterpret_cast<char*>(line.data()), bytes) == bytes,
                "{}: cut off inside the values", file.name());
        for (std::int64_t k = 0; k < minors.count; ++k) {
            (layout.majors_are_cells ? X(k, m) : X(m, k)) =
                static_cast<double>(line[static_cast<std::size_t>(k)]);
        }
        pass(layout.minors - minors.past());
    }
    pass((layout.majors - majors.past()) * layout.minors);
}

struct Type {
    const char* name;
    std::size_t size;
    void (*read)(InputFile&, const Layout&, const CellRange&, Matrix&);
};

constexpr std::array<Type, 11> types = {{{"<f8", 8, read_values<double>},
                                         {"<f4", 4, read_values<float>},
                                         {"<i8", 8, read_values<std::int64_t>},
                                         {"<i4", 4, read_values<std::int32_t>},
                                         {"<i2", 2, read_values<std::int16_t>},
                                         {"|i1", 1, read_values<std::int8_t>},
                                         {"<u8", 8, read_values<std::uint64_t>},
                                         {"<u4", 4, read_values<std::uint32_t>},
                                         {"<u2", 2, read_values<std::uint16_t>},
                                         {"|u1", 1, read_values<std::uint8_t>},
                                         {"|b1", 1, read_values<std::uint8_t>}}};

} // namespace

Dataset read_npy(const std::filesystem::path& path, const ReadOptions& options) {
    InputFile file(path);
    const NpyHeader header = read_header(file);
    const Type* type = nullptr;
    for (const Type& candidate : types) {
        if (header.type == candidate.name) {
            type = &candidate;
        }
    }
    require(type != nullptr, "{}: values of the type '{}'; little-endian f4, f8, and integers are read",
            file.name(), header.type);
    require(header.shape.size() == 2, "{}: a matrix has 2 dimensions, this array has {}", file.name(),
            header.shape.size());
    const std::int64_t rows = header.shape[0];
    const std::int64_t columns = header.shape[1];
    // Before anything goes over the other one: it may claim any length.
    require(rows > 0 && columns > 0, "{}: the matrix is empty, {} x {} values", file.name(), rows, columns);
    // Dimensions are below 2³¹, so the product fits.
    require(static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(columns) <=
                file.size_bound() / type->size,
            "{}: cut off: {} x {} values of the type '{}' do not fit into it", file.name(), rows, columns,
            header.type);
    const bool cells_are_rows = options.cells.value_or(CellAxis::rows) == CellAxis::rows;
    const Layout layout =
        header.fortran ? Layout{columns, rows, !cells_are_rows} : Layout{rows, columns, cells_are_rows};
    const Index cells = cells_are_rows ? rows : columns;
    Dataset data;
    if (options.local && all_processes().count() > 1) {
        data.local = local_range(cells, all_processes());
    }
    const CellRange held = data.local.value_or(CellRange{0, cells, cells});
    Matrix X(cells_are_rows ? columns : rows, held.count);
    type->read(file, layout, held, X);
    char extra = 0;
    require(file.read(&extra, 1) == 0, "{}: bytes follow the {} x {} values", file.name(), rows, columns);
    data.X = std::move(X);
    name_missing(path.string(), data);
    return data;
}

} // namespace pnmf::io
