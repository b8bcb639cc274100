#include "io/h5ad_parts.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace pnmf::io {

namespace {

using hdf5::Element;
using hdf5::Object;

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

bool is_list(const Object& element) {
    return element.is_dataset() && element.shape().size() == 1 && element.element() != Element::other;
}

/// A list of any kind as texts.
std::vector<std::string> read_as_texts(const Object& list) {
    if (list.element() == Element::text) {
        return list.read_texts();
    }
    std::vector<std::string> texts;
    const Element kind = list.element();
    if (kind == Element::real) {
        for (const double value : list.read<double>()) {
            texts.push_back(fmt::format("{}", value));
        }
    } else {
        for (const std::int64_t value : list.read<std::int64_t>()) {
            texts.push_back(kind == Element::boolean ? (value != 0 ? "True" : "False")
                                                     : fmt::format("{}", value));
        }
    }
    return texts;
}

void fill_categorical(const Object& codes, const Object& categories, TableColumn& column) {
    if (!is_list(codes) || codes.element() != Element::integer) {
        codes.reject("codes of categories must be a list of integers");
    }
    if (!is_list(categories)) {
        categories.reject("categories must be a list");
    }
    column.categorical = true;
    column.categories = read_as_texts(categories);
    std::vector<std::string> texts;
    const auto known = static_cast<std::int64_t>(column.categories.size());
    for (const std::int64_t code : codes.read<std::int64_t>()) {
        if (code < -1 || code >= known) {
            codes.reject(fmt::format("has the code {}, but there are {} categories", code, known));
        }
        texts.push_back(code < 0 ? std::string() : column.categories[static_cast<std::size_t>(code)]);
    }
    column.values = std::move(texts);
}

void fill_list(const Object& list, TableColumn& column) {
    switch (list.element()) {
    case Element::text:
        column.values = list.read_texts();
        return;
    case Element::integer:
        column.number = NumberType::integer;
        break;
    case Element::boolean:
        column.number = NumberType::boolean;
        break;
    default:
        break;
    }
    column.values = list.read<double>();
}

/// Values beside a mask that is set where one is missing.
void fill_nullable(const Object& group, TableColumn& column) {
    const Object values = group.open("values");
    if (!is_list(values)) {
        values.reject("must be a list");
    }
    fill_list(values, column);
    if (!group.contains("mask")) {
        return;
    }
    const auto mask = group.open("mask").read<std::int8_t>();
    std::visit(
        [&](auto& list) {
            if (mask.size() != list.size()) {
                group.reject(fmt::format("has {} values and a mask of {}", list.size(), mask.size()));
            }
            for (std::size_t i = 0; i < mask.size(); ++i) {
                if (mask[i] != 0) {
                    if constexpr (std::is_same_v<decltype(list), std::vector<double>&>) {
                        list[i] = missing;
                    } else {
                        list[i].clear();
                    }
                }
            }
        },
        column.values);
}

/// False when the column is of a kind that a table here does not hold.
bool fill_column(const Object& element, TableColumn& column) {
    if (element.is_dataset()) {
        if (!is_list(element)) {
            return false;
        }
        if (element.has_attribute("categories")) {
            const Object categories = element.reference_attribute("categories");
            const auto ordered = categories.integers_attribute("ordered");
            column.ordered = ordered && ordered->front() != 0;
            fill_categorical(element, categories, column);
        } else {
            fill_list(element, column);
        }
        return true;
    }
    const std::string encoding = encoding_of(element);
    if (encoding == "categorical") {
        const auto ordered = element.integers_attribute("ordered");
        column.ordered = ordered && ordered->front() != 0;
        fill_categorical(element.open("codes"), element.open("categories"), column);
        return true;
    }
    if (encoding.starts_with("nullable-")) {
        fill_nullable(element, column);
        return true;
    }
    return false;
}

std::vector<std::string> read_index(const Object& frame) {
    const auto name = frame.text_attribute("_index");
    if (!name) {
        frame.reject("a data frame must have the attribute '_index'");
    }
    const Object index = frame.open(*name);
    if (is_list(index)) {
        return read_as_texts(index);
    }
    TableColumn column;
    if (index.is_group() && fill_column(index, column) &&
        std::holds_alternative<std::vector<std::string>>(column.values)) {
        return std::get<std::vector<std::string>>(std::move(column.values));
    }
    index.reject("the index of a data frame must be a list of names");
}

Index length(const TableColumn& column) {
    return std::visit([](const auto& list) { return static_cast<Index>(list.size()); }, column.values);
}

void write_numbers(Object& frame, const TableColumn& column, const std::vector<double>& numbers) {
    const auto rows = static_cast<Index>(numbers.size());
    const auto all = [&](auto condition) { return std::all_of(numbers.begin(), numbers.end(), condition); };
    constexpr double exact = 9007199254740992.0; // 2⁵³
    if (column.number == NumberType::boolean && all([](double x) { return x == 0.0 || x == 1.0; })) {
        Object array = frame.write_truths(column.name, {numbers.begin(), numbers.end()});
        mark(array, "array", "0.2.0");
    } else if (column.number == NumberType::integer &&
               all([](double x) { return std::abs(x) <= exact && std::floor(x) == x; })) {
        const std::vector<std::int64_t> integers(numbers.begin(), numbers.end());
        Object array = frame.write_array(column.name, {rows}, integers.data());
        mark(array, "array", "0.2.0");
    } else {
        Object array = frame.write_array(column.name, {rows}, numbers.data());
        mark(array, "array", "0.2.0");
    }
}

/// Codes as the smallest integers that hold them, as pandas has them.
void write_codes(Object& group, const std::vector<std::int32_t>& codes, std::size_t categories) {
    const auto rows = static_cast<Index>(codes.size());
    if (categories < 128) {
        const std::vector<std::int8_t> small(codes.begin(), codes.end());
        Object array = group.write_array("codes", {rows}, small.data());
        mark(array, "array", "0.2.0");
    } else if (categories < 32768) {
        const std::vector<std::int16_t> small(codes.begin(), codes.end());
        Object array = group.write_array("codes", {rows}, small.data());
        mark(array, "array", "0.2.0");
    } else {
        Object array = group.write_array("codes", {rows}, codes.data());
        mark(array, "array", "0.2.0");
    }
}

void write_categories(Object& frame, const TableColumn& column, const std::vector<std::string>& texts,
                      const std::vector<std::string>& categories) {
    std::unordered_map<std::string, std::int32_t> code_of;
    for (const std::string& category : categories) {
        code_of.emplace(category, static_cast<std::int32_t>(code_of.size()));
    }
    require(code_of.size() == categories.size(), "the column '{}' lists a category twice", column.name);
    std::vector<std::int32_t> codes;
    for (const std::string& text : texts) {
        const auto found = code_of.find(text);
        require(found != code_of.end() || text.empty(),
                "the column '{}' has the value '{}', which is none of its {} categories", column.name, text,
                categories.size());
        codes.push_back(found == code_of.end() ? -1 : found->second);
    }
    Object group = frame.make_group(column.name);
    mark(group, "categorical", "0.2.0");
    group.set_truth_attribute("ordered", column.ordered);
    write_codes(group, codes, categories.size());
    Object list = group.write_texts("categories", categories);
    mark(list, "string-array", "0.2.0");
}

void write_column(Object& frame, const TableColumn& column) {
    if (const auto* numbers = std::get_if<std::vector<double>>(&column.values)) {
        write_numbers(frame, column, *numbers);
        return;
    }
    const auto& texts = std::get<std::vector<std::string>>(column.values);
    if (column.categorical && !column.categories.empty()) {
        write_categories(frame, column, texts, column.categories);
        return;
    }
    const std::set<std::string> distinct(texts.begin(), texts.end());
    if (column.categorical || distinct.size() < texts.size()) {
        write_categories(frame, column, texts, {distinct.begin(), distinct.end()});
        return;
    }
    Object list = frame.write_texts(column.name, texts);
    mark(list, "string-array", "0.2.0");
}

} // namespace

DataFrame read_frame(const Object& frame, std::vector<std::string>& notices) {
    if (!frame.is_group()) {
        frame.reject("must be a data frame as AnnData 0.7 and later write it (open the file with a current "
                     "AnnData and "
                     "save it again)");
    }
    DataFrame table;
    table.names = read_index(frame);
    const auto rows = static_cast<Index>(table.names.size());
    if (!frame.has_attribute("column-order")) {
        return table;
    }
    for (const std::string& name : frame.texts_attribute("column-order")) {
        const Object element = frame.open(name);
        TableColumn column;
        column.name = name;
        if (!fill_column(element, column)) {
            notices.push_back(
                fmt::format("{}: left out, a column of this kind is not understood", element.where()));
            continue;
        }
        if (length(column) != rows) {
            element.reject(
                fmt::format("must have {} values, as many as the index, got {}", rows, length(column)));
        }
        table.columns.push_back(std::move(column));
    }
    return table;
}

void write_frame(Object& parent, const std::string& name, const std::vector<std::string>& names,
                 const std::vector<TableColumn>& columns) {
    std::vector<std::string> order;
    std::unordered_set<std::string> seen{"_index"};
    for (const TableColumn& column : columns) {
        require(!column.name.empty() && seen.insert(column.name).second,
                "the table {} must have columns of different names other than '_index', got '{}'", name,
                column.name);
        require(length(column) == static_cast<Index>(names.size()),
                "the column '{}' of {} must have {} values, got {}", column.name, name, names.size(),
                length(column));
        order.push_back(column.name);
    }
    Object frame = parent.make_group(name);
    mark(frame, "dataframe", "0.2.0");
    frame.set_attribute("_index", std::string("_index"));
    frame.set_attribute("column-order", order);
    Object index = frame.write_texts("_index", names);
    mark(index, "string-array", "0.2.0");
    for (const TableColumn& column : columns) {
        write_column(frame, column);
    }
}

void add_columns(Object& frame, const std::vector<TableColumn>& columns) {
    const Index rows = std::ssize(read_index(frame));
    std::vector<std::string> order;
    if (frame.has_attribute("column-order")) {
        order = frame.texts_attribute("column-order");
        frame.remove_attribute("column-order");
    }
    for (const TableColumn& column : columns) {
        require(length(column) == rows, "the column '{}' of {} must have {} values, got {}", column.name,
                frame.where(), rows, length(column));
        std::erase(order, column.name);
        if (frame.contains(column.name)) {
            frame.remove(column.name);
        }
        write_column(frame, column);
        order.push_back(column.name);
    }
    frame.set_attribute("column-order", order);
}

} // namespace pnmf::io
