#include "io/beside.hpp"
#include "io/formats.hpp"
#include "io/line_blocks.hpp"
#include "io/numbers.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <limits>
#include <optional>

namespace pnmf::io {

namespace {

enum class Symmetry { general, symmetric, skew };

/// What the banner and the line of sizes announce.
struct Header {
    std::string file;
    bool coordinate = true;
    bool pattern = false;
    Symmetry symmetry = Symmetry::general;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t entries = 0; ///< lines of a coordinate file, values of an array file
};

/// Where a block of lines went wrong. Blocks are parsed side by side; the first in the file is reported.
struct Complaint {
    Index line = 0;
    std::string what;
};

struct Entries {
    Triplets<double> triplets;  ///< coordinate
    std::vector<double> values; ///< array
    std::optional<Complaint> complaint;
};

std::vector<std::string> words_of(std::string_view line) {
    std::vector<std::string> words;
    while (!(line = trim(line)).empty()) {
        const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
        words.emplace_back(line.substr(0, end));
        line.remove_prefix(end);
    }
    return words;
}

void read_banner(std::string_view line, Header& header) {
    std::string text(line);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::vector<std::string> words = words_of(text);
    const std::string& file = header.file;
    require(words.size() == 5 && words[0] == "%%matrixmarket" && words[1] == "matrix",
            "{}:1: expected '%%MatrixMarket matrix FORMAT FIELD SYMMETRY', got '{}'", file,
            line.substr(0, 80));
    require(words[2] == "coordinate" || words[2] == "array",
            "{}:1: the format must be coordinate or array, got {}", file, words[2]);
    require(words[3] != "complex", "{}:1: the values are complex; they must be real, integer or pattern",
            file);
    require(words[3] == "real" || words[3] == "double" || words[3] == "integer" ||
                words[3] == "unsigned-integer" || words[3] == "pattern",
            "{}:1: the values must be real, integer or pattern, got {}", file, words[3]);
    require(words[4] == "general" || words[4] == "symmetric" || words[4] == "skew-symmetric",
            "{}:1: the symmetry must be general, symmetric or skew-symmetric, got {}", file, words[4]);
    header.coordinate = words[2] == "coordinate";
    header.pattern = words[3] == "pattern";
    require(header.coordinate || !header.pattern, "{}:1: an array cannot be a pattern, it has no values",
            file);
    header.symmetry = words[4] == "general"     ? Symmetry::general
                      : words[4] == "symmetric" ? Symmetry::symmetric
                                                : Symmetry::skew;
}

void read_sizes(std::string_view line, Index number, Header& header) {
    const std::vector<std::string> words = words_of(line);
    const std::size_t expected = header.coordinate ? 3 : 2;
    std::array<std::int64_t, 3> sizes{};
    bool good = words.size() == expected;
    for (std::size_t i = 0; good && i < expected; ++i) {
        const std::string text = words[i] + '\n';
        NumberCursor cursor(text);
        good = cursor.whole(sizes[i]) && *cursor.position() == '\n';
    }
    require(good, "{}:{}: expected {}, got '{}'", header.file, number,
            header.coordinate ? "the numbers of rows, columns and entries"
                              : "the numbers of rows and columns",
            trim(line).substr(0, 80));
    header.rows = sizes[0];
    header.cols = sizes[1];
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    require(header.rows <= most && header.cols <= most, "{}:{}: at most {} rows and columns, got {} x {}",
            header.file, number, most, header.rows, header.cols);
    const bool square = header.rows == header.cols;
    require(header.symmetry == Symmetry::general || square,
            "{}:{}: a symmetric matrix must be square, got {} x {}", header.file, number, header.rows,
            header.cols);
    if (header.coordinate) {
        header.entries = sizes[2];
        check_extent(fmt::format("{}:{}", header.file, number), header.rows, header.cols, header.entries);
    } else if (header.symmetry == Symmetry::general) {
        header.entries = header.rows * header.cols;
    } else {
        const std::int64_t n = header.rows;
        header.entries = header.symmetry == Symmetry::symmetric ? n * (n + 1) / 2 : n * (n - 1) / 2;
    }
}

/// Reads up to the line of sizes and leaves in `block` what comes after it.
Header read_header(const std::string& file, LineBlocks& blocks, LineBlock& block) {
    Header header;
    header.file = file;
    bool banner = false;
    while (blocks.next(block)) {
        std::size_t begin = 0;
        while (begin < block.text.size()) {
            const std::size_t end = block.text.find('\n', begin);
            const std::string_view line = std::string_view(block.text).substr(begin, end - begin);
            const Index number = block.first_line++;
            begin = end + 1;
            if (!banner) {
                read_banner(line, header);
                banner = true;
            } else if (!trim(line).empty() && trim(line).front() != '%') {
                read_sizes(line, number, header);
                block.text.erase(0, begin);
                return header;
            }
        }
    }
    fail("{}: the file ends before the line of sizes", file);
}

/// `at` points into the text of the block.
Complaint complain(const LineBlock& block, const char* at, std::string what) {
    const auto line = std::count(block.text.data(), at, '\n');
    return {.line = block.first_line + line, .what = std::move(what)};
}

void parse_coordinates(const LineBlock& block, const Header& header, Entries& entries) {
    auto& [row, col, value] = entries.triplets;
    const std::size_t guess = block.text.size() / 8;
    row.reserve(guess);
    col.reserve(guess);
    value.reserve(guess);
    for (NumberCursor cursor(block.text); !cursor.done(); cursor.advance()) {
        const char* const line = cursor.position();
        if (!cursor.more_on_line() || *cursor.position() == '%') {
            while (*cursor.position() != '\n') {
                cursor.advance();
            }
            continue;
        }
        std::int64_t i = 0;
        std::int64_t j = 0;
        double x = 1.0;
        const bool good = cursor.whole(i) && cursor.more_on_line() && cursor.whole(j) &&
                          (header.pattern || (cursor.more_on_line() && cursor.real(x))) &&
                          !cursor.more_on_line();
        if (!good) {
            const std::string_view text(line,
                                        std::find(line, block.text.data() + block.text.size(), '\n') - line);
            entries.complaint =
                complain(block, line,
                         fmt::format("expected {}, got '{}'",
                                     header.pattern ? "a row and a column" : "a row, a column and a value",
                                     trim(text).substr(0, 60)));
            return;
        }
        if (i < 1 || i > header.rows || j < 1 || j > header.cols) {
            entries.complaint =
                complain(block, line,
                         fmt::format("row {}, column {} lies outside the matrix of {} rows and {} columns", i,
                                     j, header.rows, header.cols));
            return;
        }
        row.push_back(static_cast<std::int32_t>(i - 1));
        col.push_back(static_cast<std::int32_t>(j - 1));
        value.push_back(x);
    }
}

void parse_values(const LineBlock& block, Entries& entries) {
    entries.values.reserve(block.text.size() / 4);
    for (NumberCursor cursor(block.text); !cursor.done(); cursor.advance()) {
        while (cursor.more_on_line()) {
            const char* const begin = cursor.position();
            if (*begin == '%') {
                while (*cursor.position() != '\n') {
                    cursor.advance();
                }
                continue;
            }
            double x = 0.0;
            if (!cursor.real(x)) {
                const std::string_view rest(begin, block.text.data() + block.text.size() - begin);
                entries.complaint =
                    complain(block, begin, fmt::format("expected a number, got '{}'", word_at(rest)));
                return;
            }
            entries.values.push_back(x);
        }
    }
}

/// Takes blocks as they come, as many at a time as there are threads, and hands their entries on in the
/// file's order.
template <class Take>
void parse_blocks(LineBlocks& blocks, LineBlock first, const Header& header, const Take& take) {
    std::vector<LineBlock> batch;
    batch.push_back(std::move(first));
    do {
        const auto threads = static_cast<std::size_t>(thread_count());
        for (LineBlock block; batch.size() < threads && blocks.next_if_ready(block);) {
            batch.push_back(std::move(block));
        }
        std::vector<Entries> parsed(batch.size());
        parallel_for(static_cast<Index>(batch.size()), [&](Index b) {
            if (header.coordinate) {
                parse_coordinates(batch[b], header, parsed[b]);
            } else {
                parse_values(batch[b], parsed[b]);
            }
        });
        for (const Entries& entries : parsed) {
            take(entries);
            if (entries.complaint) {
                fail("{}:{}: {}", header.file, entries.complaint->line, entries.complaint->what);
            }
        }
        batch.resize(1);
    } while (blocks.next(batch.front()));
}

void check_count(const Header& header, std::int64_t found, bool more) {
    require(found == header.entries && !more, "{}: announces {} {}, but has {}{}", header.file,
            header.entries, header.coordinate ? "entries" : "values", more ? "more than " : "", found);
}

/// A file cannot hold more entries than its size allows: found out before memory is asked for.
void check_size(const Header& header, std::uint64_t size_bound) {
    const std::uint64_t smallest = !header.coordinate ? 2 : header.pattern ? 4 : 6;
    require(static_cast<std::uint64_t>(header.entries) <= size_bound / smallest + 1,
            "{}: announces {} {}, but the file is too short for them", header.file, header.entries,
            header.coordinate ? "entries" : "values");
}

bool strictly_ascending(const std::vector<std::int32_t>& major, const std::vector<std::int32_t>& minor) {
    for (std::size_t e = 1; e < major.size(); ++e) {
        if (major[e] < major[e - 1] || (major[e] == major[e - 1] && minor[e] <= minor[e - 1])) {
            return false;
        }
    }
    return true;
}

/// Entries that already stand in the order of compressed columns need no sorting.
SparseMatrix<double> from_sorted(Index rows, Index cols, const std::vector<std::int32_t>& col,
                                 std::vector<std::int32_t> row, std::vector<double> value) {
    SparseMatrix<double> matrix;
    matrix.rows = rows;
    matrix.cols = cols;
    matrix.start.assign(static_cast<std::size_t>(cols) + 1, 0);
    for (const std::int32_t j : col) {
        ++matrix.start[static_cast<std::size_t>(j) + 1];
    }
    for (Index j = 0; j < cols; ++j) {
        matrix.start[j + 1] += matrix.start[j];
    }
    matrix.row = std::move(row);
    matrix.value = std::move(value);
    return matrix;
}

/// Sparse columns of the entries; transposed when cells are the rows of the file.
SparseMatrix<double> assemble(const Header& header, Triplets<double> entries, bool transposed,
                              Dataset& data) {
    Index rows = header.rows;
    Index cols = header.cols;
    if (transposed) {
        std::swap(rows, cols);
        std::swap(entries.row, entries.col);
    }
    const auto count = static_cast<std::int64_t>(entries.row.size());
    if (strictly_ascending(entries.col, entries.row)) {
        return from_sorted(rows, cols, entries.col, std::move(entries.row), std::move(entries.value));
    }
    if (strictly_ascending(entries.row, entries.col)) {
        return transpose(
            from_sorted(cols, rows, entries.row, std::move(entries.col), std::move(entries.value)));
    }
    SparseMatrix<double> matrix = to_columns(rows, cols, entries);
    if (const std::int64_t repeated = count - matrix.nonzeros(); repeated > 0) {
        data.notices.push_back(fmt::format("{}: {} entries repeat a place given before; they were added up",
                                           header.file, repeated));
    }
    return matrix;
}

SparseMatrix<double> read_coordinates(LineBlocks& blocks, LineBlock rest, const Header& header,
                                      bool transposed, Dataset& data) {
    check_size(header, blocks.size_bound());
    Triplets<double> all;
    const bool mirrored = header.symmetry != Symmetry::general;
    const double sign = header.symmetry == Symmetry::skew ? -1.0 : 1.0;
    // A gzip file may announce far more than it holds and still pass for long enough: grow for those.
    const auto buffer =
        static_cast<std::size_t>(std::min(header.entries, std::int64_t{1} << 26U) * (mirrored ? 2 : 1));
    all.row.reserve(buffer);
    all.col.reserve(buffer);
    all.value.reserve(buffer);
    std::int64_t found = 0;
    parse_blocks(blocks, std::move(rest), header, [&](const Entries& entries) {
        const auto& [row, col, value] = entries.triplets;
        found += static_cast<std::int64_t>(row.size());
        if (found > header.entries) {
            check_count(header, header.entries, true);
        }
        all.row.insert(all.row.end(), row.begin(), row.end());
        all.col.insert(all.col.end(), col.begin(), col.end());
        all.value.insert(all.value.end(), value.begin(), value.end());
        for (std::size_t e = 0; mirrored && e < row.size(); ++e) {
            if (row[e] != col[e]) {
                all.row.push_back(col[e]);
                all.col.push_back(row[e]);
                all.value.push_back(sign * value[e]);
            }
        }
    });
    check_count(header, found, false);
    return assemble(header, std::move(all), transposed, data);
}

Matrix read_array(LineBlocks& blocks, LineBlock rest, const Header& header) {
    check_size(header, blocks.size_bound());
    Matrix matrix = Matrix::Zero(header.rows, header.cols);
    Index i = header.symmetry == Symmetry::skew ? 1 : 0;
    Index j = 0;
    std::int64_t found = 0;
    parse_blocks(blocks, std::move(rest), header, [&](const Entries& entries) {
        for (const double x : entries.values) {
            if (found == header.entries) {
                check_count(header, found, true);
            }
            ++found;
            matrix(i, j) = x;
            if (header.symmetry != Symmetry::general) {
                matrix(j, i) = header.symmetry == Symmetry::skew ? -x : x;
            }
            if (++i == header.rows) {
                ++j;
                i = header.symmetry == Symmetry::general ? 0
                                                         : j + (header.symmetry == Symmetry::skew ? 1 : 0);
            }
        }
    });
    check_count(header, found, false);
    return matrix;
}

} // namespace

Dataset read_matrix_market_alone(const std::filesystem::path& path, const ReadOptions& options) {
    LineBlocks blocks(path);
    LineBlock rest;
    const Header header = read_header(path.string(), blocks, rest);
    const bool transposed = options.cells.value_or(CellAxis::columns) == CellAxis::rows;
    Dataset data;
    if (header.coordinate) {
        data.X = read_coordinates(blocks, std::move(rest), header, transposed, data);
    } else {
        Matrix matrix = read_array(blocks, std::move(rest), header);
        if (transposed) {
            matrix.transposeInPlace();
        }
        data.X = std::move(matrix);
    }
    return data;
}

Dataset read_matrix_market(const std::filesystem::path& path, const ReadOptions& options) {
    Dataset data = read_matrix_market_alone(path, options);
    attach_sidecar_tables(data, path);
    name_missing(path.string(), data);
    return data;
}

} // namespace pnmf::io
