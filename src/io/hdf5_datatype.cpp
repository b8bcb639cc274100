#include "io/hdf5_guard.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <vector>

namespace pnmf::hdf5 {
namespace {

static_assert(std::endian::native == std::endian::little, "HDF5 keeps its words little-endian");

using Bytes = std::span<const unsigned char>;

template <class Word>
Word word_at(Bytes bytes, std::size_t at) {
    Word word{};
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
}

std::size_t padded(std::size_t size) {
    return (size + 7) / 8 * 8;
}

// The parts of a type's description that matter here: class and version, bits of the class, size of a value.
constexpr std::size_t type_header = 8;
enum class Class : unsigned { integer = 0, real = 1, bits = 4, enumeration = 8, variable = 9, array = 10 };

Class class_of(Bytes type) {
    return static_cast<Class>(type[0] & 0x0FU);
}

/// Whether the bits that matter of an integer or floating-point number lie inside it.
bool number_is_sound(Bytes type) {
    const bool real = class_of(type) == Class::real;
    if (type.size() < type_header + (real ? 12 : 4)) {
        return false;
    }
    const std::uint64_t bits = std::uint64_t{8} * word_at<std::uint32_t>(type, 4);
    const auto inside = [&](unsigned first, unsigned count) { return count > 0 && first + count <= bits; };
    const unsigned offset = word_at<std::uint16_t>(type, type_header);
    const unsigned precision = word_at<std::uint16_t>(type, type_header + 2);
    return inside(offset, precision) && (!real || (inside(type[type_header + 4], type[type_header + 5]) &&
                                                   inside(type[type_header + 6], type[type_header + 7])));
}

/// The names of an enumeration, each ended by a zero, up to version 2 padded; returns where they end.
std::optional<std::size_t> names_end(Bytes type, std::size_t at, unsigned count, unsigned version) {
    for (unsigned member = 0; member < count; ++member) {
        const auto name = type.subspan(at);
        const auto zero = std::find(name.begin(), name.end(), 0);
        if (zero == name.end()) {
            return std::nullopt;
        }
        const auto length = static_cast<std::size_t>(zero - name.begin()) + 1;
        at += version < 3 ? padded(length) : length;
        if (at > type.size()) {
            return std::nullopt;
        }
    }
    return at;
}

bool enumeration_is_sound(Bytes type) {
    constexpr std::size_t integer_bytes = type_header + 4;
    const Bytes base = type.subspan(type_header);
    const auto size = word_at<std::uint32_t>(type, 4);
    if (base.size() < integer_bytes || class_of(base) != Class::integer || !number_is_sound(base) ||
        size > 8 || word_at<std::uint32_t>(base, 4) != size) {
        return false;
    }
    const unsigned count = word_at<std::uint16_t>(type, 1);
    const unsigned version = type[0] / 16U;
    const auto values = names_end(type, type_header + integer_bytes, count, version);
    return values && std::size_t{count} * size <= type.size() - *values;
}

/// Whether the type described at the start of `type` can be what it says.
bool type_is_sound(Bytes type) {
    if (type.size() < type_header) {
        return false;
    }
    const unsigned version = type[0] / 16U;
    switch (class_of(type)) {
    case Class::integer:
    case Class::real:
    case Class::bits:
        return number_is_sound(type);
    case Class::enumeration:
        return enumeration_is_sound(type);
    case Class::variable:
        return type_is_sound(type.subspan(type_header));
    case Class::array: {
        if (version < 2 || type.size() <= type_header) {
            return false;
        }
        const std::size_t axes = type[type_header];
        const std::size_t before = type_header + (version == 2 ? 4 + 8 * axes : 1 + 4 * axes);
        return before <= type.size() && type_is_sound(type.subspan(before));
    }
    default:
        return true;
    }
}

/// The type inside an attribute: versions 1 to 3 differ in their head and in what is padded.
bool attribute_is_sound(Bytes attribute) {
    constexpr std::size_t head = 8;
    constexpr unsigned char shared = 1;
    if (attribute.size() < head || attribute[0] < 1 || attribute[0] > 3) {
        return true; // HDF5 rejects it
    }
    const unsigned version = attribute[0];
    if (version > 1 && (attribute[1] & shared) != 0) {
        return true; // the type stands elsewhere
    }
    const std::size_t name = word_at<std::uint16_t>(attribute, 2);
    const std::size_t size = word_at<std::uint16_t>(attribute, 4);
    const std::size_t at = head + (version == 3 ? 1 : 0) + (version == 1 ? padded(name) : name);
    return at <= attribute.size() && size <= attribute.size() - at &&
           type_is_sound(attribute.subspan(at, size));
}

/// Part of a file; empty when the file does not have it.
std::vector<unsigned char> read_part(std::ifstream& in, std::uint64_t file_size, std::uint64_t at,
                                     std::uint64_t size) {
    if (at > file_size || size > file_size - at) {
        return {};
    }
    std::vector<unsigned char> bytes(size);
    in.seekg(static_cast<std::streamoff>(at));
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
    return in ? bytes : std::vector<unsigned char>();
}

struct Block {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
};

/// Looks through the messages of one block of a header; adds the blocks that go on elsewhere.
bool messages_are_sound(Bytes bytes, std::vector<Block>& blocks) {
    constexpr std::size_t head = 8;
    constexpr std::uint16_t datatype = 3;
    constexpr std::uint16_t attribute = 12;
    constexpr std::uint16_t continuation = 16;
    constexpr unsigned char shared = 2;
    while (bytes.size() >= head) {
        const auto kind = word_at<std::uint16_t>(bytes, 0);
        const std::size_t size = word_at<std::uint16_t>(bytes, 2);
        const bool elsewhere = (bytes[4] & shared) != 0;
        bytes = bytes.subspan(head);
        if (size > bytes.size()) {
            return true; // HDF5 rejects it
        }
        const Bytes message = bytes.first(size);
        if (!elsewhere && ((kind == datatype && !type_is_sound(message)) ||
                           (kind == attribute && !attribute_is_sound(message)))) {
            return false;
        }
        if (kind == continuation && size >= 16) {
            blocks.push_back({word_at<std::uint64_t>(message, 0), word_at<std::uint64_t>(message, 8)});
        }
        bytes = bytes.subspan(size);
    }
    return true;
}

} // namespace

bool types_are_sound(const std::string& file, std::uint64_t base, std::uint64_t address) {
    constexpr std::uint64_t head = 16;
    constexpr std::size_t most_blocks = 10000; // they could name one another in a circle
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    const auto end = in.tellg();
    if (end < 0 || static_cast<std::uint64_t>(end) < base) {
        return true;
    }
    const std::uint64_t file_size = static_cast<std::uint64_t>(end) - base;
    const auto part = [&](const Block& block) {
        const bool inside = block.address <= file_size && block.size <= file_size - block.address;
        return inside ? read_part(in, static_cast<std::uint64_t>(end), base + block.address, block.size)
                      : std::vector<unsigned char>();
    };
    const auto first = part({address, head});
    if (first.empty() || first[0] != 1) {
        return true;
    }
    std::vector<Block> blocks{{address + head, word_at<std::uint32_t>(first, 8)}};
    for (std::size_t b = 0; b < blocks.size() && b < most_blocks; ++b) {
        if (!messages_are_sound(part(blocks[b]), blocks)) {
            return false;
        }
    }
    return true;
}

} // namespace pnmf::hdf5
