#include "io/table.hpp"

#include "io/numbers.hpp"
#include "io/records.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cctype>

namespace pnmf::io {

void TextTable::take_header() {
    for (auto& column : columns) {
        header.push_back(column.front());
        column.erase(column.begin());
    }
}

void TextTable::count_blank_lines(const std::vector<Index>& counts) {
    const auto wanted = [&](Index count) {
        return std::find(counts.begin(), counts.end(), count) != counts.end();
    };
    if (wanted(rows()) || !wanted(rows() + std::ssize(blank))) {
        return;
    }
    for (auto place = blank.rbegin(); place != blank.rend(); ++place) {
        for (auto& column : columns) {
            column.insert(column.begin() + *place, "");
        }
    }
    blank.clear();
}

TextTable read_table(const std::filesystem::path& path) {
    const Records records = read_records(path);
    TextTable table;
    table.name = records.name;
    table.blank = records.blank;
    std::vector<Field> fields;
    const auto count = static_cast<Index>(records.records.size());
    for (Index r = 0; r < count; ++r) {
        split_record(records, r, fields);
        if (r == 0) {
            table.columns.resize(fields.size());
        } else if (r == 1 && fields.size() == table.columns.size() + 1) {
            table.columns.insert(table.columns.begin(), std::vector<std::string>{""});
            table.short_header = true;
        }
        require(fields.size() == table.columns.size(), "{}:{}: expected {} columns, got {}", records.name,
                records.lines[r], table.columns.size(), fields.size());
        for (std::size_t c = 0; c < fields.size(); ++c) {
            table.columns[c].push_back(fields[c].value());
        }
    }
    return table;
}

namespace {

/// "007" and "+1" are numbers, but not the way a number is written.
bool written_as_number(std::string_view text, double& value) {
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    const bool padded =
        digits.size() > 1 && digits[0] == '0' && std::isdigit(static_cast<unsigned char>(digits[1])) != 0;
    return !padded && !text.starts_with('+') && parse_number(text, value);
}

} // namespace

TableColumn make_column(std::string name, std::vector<std::string> values) {
    std::vector<double> numbers(values.size());
    bool numeric = !values.empty();
    for (std::size_t i = 0; numeric && i < values.size(); ++i) {
        numeric = written_as_number(values[i], numbers[i]);
    }
    if (numeric) {
        return {.name = std::move(name), .values = std::move(numbers)};
    }
    return {.name = std::move(name), .values = std::move(values)};
}

} // namespace pnmf::io
