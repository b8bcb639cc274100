#include "io/formats.hpp"
#include "io/numbers.hpp"
#include "io/records.hpp"
#include "missing.hpp"

#include <pnmf/error.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace pnmf::io {

namespace {

/// What the first rows and columns of the text are.
///
/// The first record is a header when it has one field less than the next one, when its first field is empty
/// or says what the names below it are ("gene", "cell", …), when any other field is not a number, or when it
/// alone is quoted. The first column holds names when the header is a field short, when the header's first
/// field is empty or such a word, or when it is not a number in the first record of values.
struct Layout {
    bool header = false;
    bool short_header = false;
    bool row_names = false;
    std::size_t columns = 0; ///< of numbers
};

bool says_names(const Field& corner) {
    constexpr std::array<std::string_view, 20> words = {
        "",        "cell",     "cells",       "gene",   "genes",   "feature",   "features",
        "barcode", "barcodes", "id",          "index",  "name",    "names",     "symbol",
        "cell_id", "gene_id",  "gene_symbol", "sample", "samples", "unnamed: 0"};
    std::string text(trim(corner.text));
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// Neither a number nor what stands where one is missing.
bool is_word(const Field& field) {
    double ignored = 0.0;
    return !is_missing(field.text) && !parse_number(field.text, ignored);
}

Layout find_layout(const Records& records) {
    std::vector<Field> first;
    std::vector<Field> second;
    split_record(records, 0, first);
    const bool single = records.records.size() < 2;
    if (!single) {
        split_record(records, 1, second);
    }
    const auto all_quoted = [](const std::vector<Field>& fields) {
        return fields.size() > 1 &&
               std::all_of(fields.begin() + 1, fields.end(), [](const Field& f) { return f.quoted; });
    };
    Layout layout;
    layout.short_header = second.size() == first.size() + 1;
    const bool corner = first.size() > 1 && says_names(first.front());
    layout.header = layout.short_header || corner || (first.size() == 1 && is_word(first.front())) ||
                    std::any_of(first.begin() + 1, first.end(), is_word) ||
                    (all_quoted(first) && !all_quoted(second) && !single);
    require(!layout.header || !single, "{}:{}: a header is all there is, no row of values follows",
            records.name, records.lines[0]);
    const std::vector<Field>& values = layout.header ? second : first;
    layout.row_names = layout.short_header || corner || (values.size() > 1 && is_word(values.front()));
    layout.columns = values.size() - (layout.row_names ? 1 : 0);
    return layout;
}

double number_in(const Records& records, Index r, const Field& field, std::size_t column) {
    double value = 0.0;
    if (parse_number(field.text, value)) {
        return value;
    }
    require(!trim(field.text).empty(), "{}:{}:{}: the field is empty, a number is expected", records.name,
            records.lines[r], column + 1);
    std::string with_point(field.text);
    std::replace(with_point.begin(), with_point.end(), ',', '.');
    fail("{}:{}:{}: expected a number, got '{}'; {}", records.name, records.lines[r], column + 1,
         field.text.substr(0, 40),
         parse_number(with_point, value) ? "a number has a decimal point here, not a comma"
                                         : "only the first row and the first column may be names; what else "
                                           "is known of the cells, such as "
                                           "labels, belongs into a table of its own");
}

std::string describe(const Records& records, const Layout& layout) {
    const char* delimiter = records.delimiter == '\t'  ? "tab"
                            : records.delimiter == ',' ? "comma"
                                                       : "semicolon";
    std::string text = fmt::format("{}: delimited by {}, {} header, {} row names", records.name, delimiter,
                                   layout.header ? "with a" : "no", layout.row_names ? "with" : "no");
    if (records.comments > 0) {
        text += fmt::format(", {} lines of comment skipped", records.comments);
    }
    return text;
}

} // namespace

Dataset read_delimited(const std::filesystem::path& path, const ReadOptions& options) {
    const Records records = read_records(path);
    require(!records.records.empty(), "{}: the file holds no values", records.name);
    const Layout layout = find_layout(records);
    const Index first = layout.header ? 1 : 0;
    const auto rows = static_cast<Index>(records.records.size()) - first;
    const auto columns = static_cast<Index>(layout.columns);
    const std::size_t names = layout.row_names ? 1 : 0;
    const bool cells_are_rows = options.cells.value_or(CellAxis::columns) == CellAxis::rows;

    Matrix X(cells_are_rows ? columns : rows, cells_are_rows ? rows : columns);
    std::vector<std::string> row_names(layout.row_names ? static_cast<std::size_t>(rows) : 0);
    constexpr Index block = 64;
    std::vector<std::optional<std::string>> complaints(static_cast<std::size_t>((rows + block - 1) / block));
    parallel_blocks(rows, block, [&](Index begin, Index end) {
        std::vector<Field> fields;
        try {
            for (Index i = begin; i < end; ++i) {
                const Index r = first + i;
                split_record(records, r, fields);
                require(fields.size() == layout.columns + names, "{}:{}: expected {} columns, got {}",
                        records.name, records.lines[r], layout.columns + names, fields.size());
                if (layout.row_names) {
                    row_names[i] = fields.front().value();
                }
                for (Index c = 0; c < columns; ++c) {
                    const std::size_t column = names + static_cast<std::size_t>(c);
                    const double value = number_in(records, r, fields[column], column);
                    (cells_are_rows ? X(c, i) : X(i, c)) = value;
                }
            }
        } catch (const InputError& e) {
            complaints[begin / block] = e.what();
        }
    });
    // Blocks run side by side; the first complaint in the file is the one to make.
    for (const auto& complaint : complaints) {
        if (complaint) {
            throw InputError(*complaint);
        }
    }

    Dataset data;
    data.X = std::move(X);
    std::vector<std::string> column_names;
    if (layout.header) {
        std::vector<Field> fields;
        split_record(records, 0, fields);
        const std::size_t skip = layout.short_header ? 0 : names;
        require(fields.size() == layout.columns + skip, "{}:{}: expected {} columns, got {}", records.name,
                records.lines[0], layout.columns + skip, fields.size());
        for (std::size_t c = skip; c < fields.size(); ++c) {
            column_names.push_back(fields[c].value());
        }
    }
    data.cell_names = std::move(cells_are_rows ? row_names : column_names);
    data.feature_names = std::move(cells_are_rows ? column_names : row_names);
    name_missing(path.string(), data);
    data.notices.push_back(describe(records, layout));
    return data;
}

} // namespace pnmf::io
