#include "io/zarr_array.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>

namespace pnmf::zarr {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_axes = 32; ///< HDF5's limit
/// blosc and NumPy's codecs hold no larger one.
constexpr Index most_chunk_bytes = (Index{1} << 31) - 1;
/// Planned for one text: what points to it, and its length.
constexpr std::size_t bytes_of_text = 32;

Json json_of(const fs::path& file) {
    constexpr std::uintmax_t most = std::uintmax_t{64} << 20U;
    try {
        Json json = Json::parse(read_part(file, most));
        require(json.is_object(), "{}: must hold a JSON object", file.string());
        return json;
    } catch (const Json::exception& e) {
        fail("{}: is damaged: it is no JSON ({})", file.string(), e.what());
    }
}

std::vector<Index> sizes_of(const fs::path& file, const Json& list, Index least) {
    require(list.is_array() && list.size() <= most_axes,
            "{}: the shape and the chunks must be lists of at most {} numbers", file.string(), most_axes);
    std::vector<Index> sizes;
    for (const Json& one : list) {
        require(one.is_number_integer(), "{}: the shape and the chunks must be lists of whole numbers",
                file.string());
        sizes.push_back(one.get<Index>());
        require(sizes.back() >= least, "{}: the shape and the chunks must not have the number {}",
                file.string(), sizes.back());
    }
    return sizes;
}

/// A product of sizes; InputError when it is beyond `most`.
Index product_of(const fs::path& file, const std::vector<Index>& sizes, Index most) {
    if (std::count(sizes.begin(), sizes.end(), 0) > 0) {
        return 0;
    }
    Index product = 1;
    for (const Index size : sizes) {
        require(size <= most / product, "{}: the shape or the chunks are larger than {} bytes", file.string(),
                most);
        product *= size;
    }
    return product;
}

/// Widths that HDF5 and NumPy share.
void set_number(Array& array, Element element, std::size_t bytes) {
    const bool known = element == Element::real ? bytes == 2 || bytes == 4 || bytes == 8
                                                : bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    array.element = known ? element : Element::unknown;
    array.bytes = known ? bytes : 1;
}

/// NumPy's word for a type: "<f4", "|b1", "<U20", "|O".
void set_type_2(const fs::path& file, const Json& type, const Json& filters, Array& array) {
    if (!type.is_string()) {
        return; // records
    }
    const auto word = type.get<std::string>();
    std::size_t bytes = 0;
    const char* const end = word.data() + word.size();
    if (word == "|O") {
        const bool texts =
            filters.is_array() && filters.size() == 1 && filters[0].value("id", "") == "vlen-utf8";
        array.element = texts ? Element::text : Element::unknown;
        array.bytes = bytes_of_text;
        return;
    }
    if (word.size() < 3 || std::string_view("<>|").find(word[0]) == std::string_view::npos) {
        fail("{}: no type is called '{}'", file.string(), word);
    }
    if (const auto found = std::from_chars(word.data() + 2, end, bytes);
        found.ec != std::errc{} || found.ptr != end) {
        return; // "<M8[ns]"
    }
    require(filters.is_null() || (filters.is_array() && filters.empty()),
            "{}: filters such as {} are not read here", file.string(), filters.dump());
    array.big_endian = word[0] == '>';
    constexpr std::size_t longest = std::size_t{1} << 24U; // of one text, in characters
    switch (word[1]) {
    case 'b':
        array.element = bytes == 1 ? Element::boolean : Element::unknown;
        break;
    case 'i':
        set_number(array, Element::signed_integer, bytes);
        break;
    case 'u':
        set_number(array, Element::unsigned_integer, bytes);
        break;
    case 'f':
        set_number(array, Element::real, bytes);
        break;
    case 'U':
    case 'S':
        require(bytes <= longest, "{}: texts of {} characters are not read here", file.string(), bytes);
        array.element = word[1] == 'U' ? Element::utf32_text : Element::byte_text;
        array.bytes = std::max<std::size_t>(bytes, 1) * (word[1] == 'U' ? 4 : 1);
        break;
    default:
        break;
    }
}

Array array_2(const fs::path& file, const Json& json) {
    require(json.value("zarr_format", 0) == 2, "{}: must be of format 2", file.string());
    Array array;
    array.shape = sizes_of(file, json.at("shape"), 0);
    array.chunk = sizes_of(file, json.at("chunks"), 0);
    set_type_2(file, json.at("dtype"), json.value("filters", Json()), array);
    const auto order = json.value("order", "C");
    require(order == "C" || order == "F", "{}: the order must be C or F, got '{}'", file.string(), order);
    array.columns_first = order == "F";
    const auto separator = json.value("dimension_separator", ".");
    require(separator == "." || separator == "/", "{}: the dimension_separator must be '.' or '/', got '{}'",
            file.string(), separator);
    array.separator = separator.front();
    if (const Json compressor = json.value("compressor", Json()); !compressor.is_null()) {
        array.codecs.push_back(compressor.at("id").get<std::string>());
    }
    array.fill = json.value("fill_value", Json());
    return array;
}

/// "name", or {"name": …, "configuration": …}.
std::string name_in(const Json& named) {
    return named.is_string() ? named.get<std::string>() : named.at("name").get<std::string>();
}
Json configuration_in(const Json& named) {
    return named.is_object() ? named.value("configuration", Json::object()) : Json::object();
}

void set_type_3(const fs::path& file, const Json& type, Array& array) {
    const std::string name = name_in(type);
    const auto width = [&](std::size_t letters) {
        std::size_t bits = 0;
        const char* const end = name.data() + name.size();
        const auto found = std::from_chars(name.data() + letters, end, bits);
        return found.ec == std::errc{} && found.ptr == end ? bits / 8 : 0;
    };
    if (name == "bool") {
        array.element = Element::boolean;
    } else if (name == "string") {
        array.element = Element::text;
        array.bytes = bytes_of_text;
    } else if (name == "fixed_length_utf32" || name == "null_terminated_bytes" ||
               name == "fixed_length_ascii") {
        const bool wide = name == "fixed_length_utf32";
        const Json configuration = configuration_in(type);
        const auto bytes = configuration.contains("length_bits")
                               ? configuration.at("length_bits").get<std::int64_t>() / 8
                               : configuration.value("length_bytes", std::int64_t{0});
        require(bytes > 0 && bytes < std::int64_t{1} << 26 && (!wide || bytes % 4 == 0),
                "{}: texts of {} bytes are not read here", file.string(), bytes);
        array.element = wide ? Element::utf32_text : Element::byte_text;
        array.bytes = static_cast<std::size_t>(bytes);
    } else if (name.starts_with("int")) {
        set_number(array, Element::signed_integer, width(3));
    } else if (name.starts_with("uint")) {
        set_number(array, Element::unsigned_integer, width(4));
    } else if (name.starts_with("float")) {
        set_number(array, Element::real, width(5));
    }
}

/// The codecs of format 3: transpose perhaps, one that makes bytes, then those that compress.
void set_codecs_3(const fs::path& file, const Json& codecs, Array& array) {
    require(codecs.is_array(), "{}: the codecs must be a list", file.string());
    for (const Json& codec : codecs) {
        const std::string name = name_in(codec);
        const Json configuration = configuration_in(codec);
        if (name == "bytes") {
            array.big_endian = configuration.value("endian", "little") == "big";
        } else if (name == "transpose") {
            const auto order = configuration.at("order").get<std::vector<Index>>();
            std::vector<Index> plain(array.shape.size());
            for (std::size_t i = 0; i < plain.size(); ++i) {
                plain[i] = static_cast<Index>(i);
            }
            const bool reversed = std::equal(order.rbegin(), order.rend(), plain.begin(), plain.end());
            require(reversed || order == plain,
                    "{}: axes are read here as they are or in reverse, not transposed otherwise",
                    file.string());
            array.columns_first = reversed && plain.size() > 1;
        } else if (name == "vlen-utf8" && array.element == Element::text) {
            continue;
        } else if (array.element == Element::unknown && !is_compressor(name)) {
            continue; // not read at all
        } else {
            require(name != "sharding_indexed",
                    "{}: chunks in shards (sharding_indexed) are not read here; write the store "
                    "without shards",
                    file.string());
            array.codecs.insert(array.codecs.begin(), name);
        }
    }
}

Array array_3(const fs::path& file, const Json& json) {
    Array array;
    array.shape = sizes_of(file, json.at("shape"), 0);
    const Json& grid = json.at("chunk_grid");
    require(name_in(grid) == "regular", "{}: only regular chunks are read here", file.string());
    array.chunk = sizes_of(file, grid.at("configuration").at("chunk_shape"), 0);
    set_type_3(file, json.at("data_type"), array);
    set_codecs_3(file, json.at("codecs"), array);
    const Json names = json.value("chunk_key_encoding", Json("default"));
    const bool plain = name_in(names) == "v2";
    require(plain || name_in(names) == "default", "{}: chunks named as '{}' are not read here", file.string(),
            name_in(names));
    if (!plain) {
        array.prefix.push_back('c');
    }
    const auto separator = configuration_in(names).value("separator", plain ? "." : "/");
    require(separator == "." || separator == "/", "{}: the separator must be '.' or '/', got '{}'",
            file.string(), separator);
    array.separator = separator.front();
    const Json transformers = json.value("storage_transformers", Json::array());
    require(transformers.empty(), "{}: storage transformers are not read here", file.string());
    array.fill = json.value("fill_value", Json());
    return array;
}

void check(const fs::path& file, const Array& array) {
    require(array.shape.size() == array.chunk.size(), "{}: the shape has {} axes, the chunks have {}",
            file.string(), array.shape.size(), array.chunk.size());
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
        require(array.chunk[i] > 0 || array.shape[i] == 0, "{}: a chunk must not be empty", file.string());
    }
    const auto bytes = static_cast<Index>(array.bytes);
    constexpr Index most_bytes = Index{1} << 46; // 64 TiB
    product_of(file, array.shape, most_bytes / bytes);
    product_of(file, array.chunk, most_chunk_bytes / bytes);
    for (const std::string& codec : array.codecs) {
        require(is_compressor(codec),
                "{}: chunks compressed by '{}' are not read here; zlib, gzip, zstd and blosc are",
                file.string(), codec);
    }
}

/// `make(json)`, where what JSON's reader does not find is the file's fault.
template <class Make>
auto understood(const fs::path& file, const Make& make) {
    const Json json = json_of(file);
    try {
        return make(json);
    } catch (const Json::exception& e) {
        fail("{}: an entry is missing or of another kind ({})", file.string(), e.what());
    }
}

bool is_there(const fs::path& file) {
    std::error_code error;
    return fs::exists(fs::symlink_status(file, error));
}

} // namespace

Index Array::size() const {
    return product_of({}, shape, std::numeric_limits<Index>::max());
}

std::string read_part(const fs::path& file, std::uintmax_t most) {
    std::error_code error;
    require(fs::is_regular_file(fs::symlink_status(file, error)),
            "{}: must be a file, not a folder, link or device", file.string());
    const std::uintmax_t size = fs::file_size(file, error);
    require(!error && size <= most, "{}: must have at most {} bytes", file.string(), most);
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::ifstream stream(file, std::ios::binary);
    stream.read(bytes.data(), static_cast<std::streamsize>(size));
    require(stream.gcount() == static_cast<std::streamsize>(size), "{}: cannot be read", file.string());
    return bytes;
}

std::optional<Node> read_node(const fs::path& folder) {
    Node node;
    fs::path file = folder / "zarr.json";
    if (is_there(file)) {
        understood(file, [&](const Json& json) {
            require(json.value("zarr_format", 0) == 3, "{}: must be of format 3", file.string());
            const auto kind = json.at("node_type").get<std::string>();
            require(kind == "group" || kind == "array", "{}: must be a group or an array, got '{}'",
                    file.string(), kind);
            if (kind == "array") {
                node.array = array_3(file, json);
            }
            node.attributes = json.value("attributes", Json::object());
        });
    } else {
        file = folder / ".zarray";
        if (is_there(file)) {
            node.array = understood(file, [&](const Json& json) { return array_2(file, json); });
        } else if (!is_there(folder / ".zgroup")) {
            return std::nullopt;
        }
        if (is_there(folder / ".zattrs")) {
            node.attributes = json_of(folder / ".zattrs");
        }
    }
    if (node.array) {
        check(file, *node.array);
    }
    require(node.attributes.is_object(), "{}: the attributes must be a JSON object", folder.string());
    return node;
}

} // namespace pnmf::zarr
