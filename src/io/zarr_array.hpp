#pragma once

#include <pnmf/types.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pnmf::zarr {

using Json = nlohmann::ordered_json;

/// What the elements of an array are. `unknown`: nothing that is read here, such as dates or records.
enum class Element { boolean, signed_integer, unsigned_integer, real, text, utf32_text, byte_text, unknown };

/// What a store says about an array, checked.
struct Array {
    std::vector<Index> shape; ///< empty for a scalar
    std::vector<Index> chunk; ///< elements of a chunk along each axis, at least 1
    Element element = Element::unknown;
    std::size_t bytes = 1; ///< of one element; of `text`, which has any length, what is planned for one
    bool big_endian = false;
    bool columns_first = false;      ///< in a chunk the first axis runs fastest
    std::vector<std::string> codecs; ///< what chunks were compressed by, the last one first
    std::string prefix;              ///< of the names of chunks: "c" in format 3
    char separator = '.';            ///< between the numbers in them
    Json fill;                       ///< the value of chunks that are not there

    Index size() const; ///< number of elements
};

/// A group or an array.
struct Node {
    std::optional<Array> array;
    Json attributes = Json::object();
};

/// What the folder is; nothing when it is no part of a store. InputError names the file that is damaged.
std::optional<Node> read_node(const std::filesystem::path& folder);

/// The bytes of a regular file; InputError when it is something else or larger than `most`.
std::string read_part(const std::filesystem::path& file, std::uintmax_t most);

/// A chunk as it was before `codecs` compressed it. InputError, with the name of `file`, when that gives more
/// than `most` bytes, or fails.
std::string decompress(const std::filesystem::path& file, std::string bytes,
                       const std::vector<std::string>& codecs, std::size_t most);

/// The names of codecs that compress, in the words of Zarr.
bool is_compressor(std::string_view name);

} // namespace pnmf::zarr
