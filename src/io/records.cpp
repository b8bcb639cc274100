#include "io/records.hpp"

#include "io/input_file.hpp"
#include "io/numbers.hpp"
#include "io/text_output.hpp"

#include <pnmf/error.hpp>

#include <algorithm>

namespace pnmf::io {

namespace {

/// The end of the line that begins at `begin`: the place of its '\n', or the end of the text.
std::size_t line_end(std::string_view text, std::size_t begin) {
    return std::min(text.find('\n', begin), text.size());
}

/// The end of the record that begins at `begin`, passing over line ends inside quoted fields.
std::size_t record_end(std::string_view text, std::size_t begin, char delimiter) {
    std::size_t at = begin;
    bool field_begins = true;
    while (at < text.size() && text[at] != '\n') {
        if (field_begins && text[at] == '"') {
            // A doubled quote closes and opens again, which comes to the same.
            at = text.find('"', at + 1);
            while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == '"') {
                at = text.find('"', at + 2);
            }
            if (at == std::string_view::npos) {
                return text.size();
            }
        }
        field_begins = text[at] == delimiter;
        ++at;
    }
    return std::min(at, text.size());
}

char choose_delimiter(std::string_view first_line, char usual) {
    if (first_line.find(usual) != std::string_view::npos) {
        return usual;
    }
    char best = usual;
    std::ptrdiff_t most = 0;
    for (const char candidate : {'\t', ',', ';'}) {
        const auto count = std::count(first_line.begin(), first_line.end(), candidate);
        if (count > most) {
            most = count;
            best = candidate;
        }
    }
    return best;
}

} // namespace

std::string Field::value() const {
    std::string result(text);
    if (quoted) {
        for (std::size_t at = result.find('"'); at != std::string::npos; at = result.find('"', at + 1)) {
            result.erase(at, 1);
        }
    }
    return result;
}

Records read_records(const std::filesystem::path& path) {
    Records result;
    result.name = path.string();
    result.text = std::make_shared<const std::string>(read_all(path));
    const std::string_view text = *result.text;
    std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
    Index line = 1;
    while (at < text.size() && text[at] == '#') {
        at = line_end(text, at) + 1;
        ++line;
        ++result.comments;
    }
    at = std::min(at, text.size());
    const bool plain = text.find('"', at) == std::string_view::npos;
    bool first = true;
    while (at < text.size()) {
        std::size_t end = line_end(text, at);
        std::string_view record = text.substr(at, end - at);
        if (trim(record).empty() && record.find('\t') == std::string_view::npos) {
            at = end + 1;
            ++line;
            result.blank.push_back(std::ssize(result.records));
            continue;
        }
        if (first) {
            result.delimiter = choose_delimiter(record, delimiter_for(path));
            first = false;
        }
        if (!plain) {
            end = record_end(text, at, result.delimiter);
            record = text.substr(at, end - at);
        }
        const Index begins = line;
        line += plain ? 1 : 1 + std::count(record.begin(), record.end(), '\n');
        if (record.ends_with('\r')) {
            record.remove_suffix(1);
        }
        result.records.push_back(record);
        result.lines.push_back(begins);
        at = end + 1;
    }
    return result;
}

void split_record(const Records& records, Index r, std::vector<Field>& fields) {
    fields.clear();
    const std::string_view record = records.records[r];
    const char delimiter = records.delimiter;
    std::size_t at = 0;
    while (true) {
        std::size_t end = 0;
        if (at < record.size() && record[at] == '"') {
            end = record.find('"', at + 1);
            while (end != std::string_view::npos && end + 1 < record.size() && record[end + 1] == '"') {
                end = record.find('"', end + 2);
            }
            require(end != std::string_view::npos, "{}:{}: a quote is opened and never closed", records.name,
                    records.lines[r]);
            fields.push_back({.text = record.substr(at + 1, end - at - 1), .quoted = true});
            ++end;
            require(end == record.size() || record[end] == delimiter,
                    "{}:{}: text follows a closing quote: '{}'", records.name, records.lines[r],
                    word_at(record.substr(end)));
        } else {
            end = std::min(record.find(delimiter, at), record.size());
            fields.push_back({.text = record.substr(at, end - at), .quoted = false});
        }
        if (end == record.size()) {
            return;
        }
        at = end + 1;
    }
}

} // namespace pnmf::io
