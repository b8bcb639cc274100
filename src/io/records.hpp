#pragma once

#include <pnmf/types.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pnmf::io {

/// A field of a record. Quotes are outside of `text`; quotes inside a quoted field are still doubled.
struct Field {
    std::string_view text;
    bool quoted = false;

    std::string value() const;
};

/// Delimited text, cut into records: a line each, unless a quoted field holds a line end.
///
/// A byte-order mark is skipped, lines may end in CR LF, lines of nothing but spaces are passed over, and so
/// are lines that begin with '#' before the first record. A quote counts only at the beginning of a field
/// (RFC 4180). The delimiter is the one of the file's ending (',' for .csv, tab for .tsv, .txt and others)
/// when the first record has it; else whichever of tab, ',' and ';' it has most.
struct Records {
    std::string name;
    std::shared_ptr<const std::string> text; ///< what the records are views of
    char delimiter = '\t';
    std::vector<std::string_view> records;
    std::vector<Index> lines; ///< where each record begins, from 1
    std::vector<Index> blank; ///< for each line that was passed over, the records before it
    Index comments = 0;       ///< lines skipped at the top because of '#'
};

Records read_records(const std::filesystem::path& path);

/// The fields of record r. InputError names file and line when a quote is not closed or text follows a
/// closing one.
void split_record(const Records& records, Index r, std::vector<Field>& fields);

} // namespace pnmf::io
