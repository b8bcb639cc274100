#include "io/zarr_chunks.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace pnmf::zarr {

namespace fs = std::filesystem;

namespace {

bool is_file(const fs::path& file) {
    std::error_code error;
    return fs::exists(fs::symlink_status(file, error));
}

std::uint32_t little_number(const std::string& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 4; i-- > 0;) {
        number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
    }
    return number;
}

void append_utf8(std::string& text, std::uint32_t letter) {
    const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
    if (letter < 0x80) {
        put(letter);
    } else if (letter < 0x800) {
        put(0xc0U | letter >> 6U);
        put(0x80U | (letter & 0x3fU));
    } else if (letter < 0x10000) {
        put(0xe0U | letter >> 12U);
        put(0x80U | (letter >> 6U & 0x3fU));
        put(0x80U | (letter & 0x3fU));
    } else {
        put(0xf0U | letter >> 18U);
        put(0x80U | (letter >> 12U & 0x3fU));
        put(0x80U | (letter >> 6U & 0x3fU));
        put(0x80U | (letter & 0x3fU));
    }
}

/// One text of fixed length, without the zeros behind it.
std::string fixed_text(const fs::path& file, const Array& array, const char* bytes) {
    if (array.element == Element::byte_text) {
        std::string text(bytes, array.bytes);
        text.resize(std::min(text.find_last_not_of('\0') + 1, text.size()));
        return text;
    }
    std::string text;
    std::size_t zeros = 0;
    for (std::size_t i = 0; i < array.bytes; i += 4) {
        std::uint32_t letter = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            letter = letter << 8U | static_cast<unsigned char>(bytes[i + (array.big_endian ? j : 3 - j)]);
        }
        require(letter < 0x110000 && (letter < 0xd800 || letter > 0xdfff),
                "{}: is damaged: {} is no character", file.string(), letter);
        if (letter == 0) {
            ++zeros;
            continue;
        }
        text.append(zeros, '\0');
        zeros = 0;
        append_utf8(text, letter);
    }
    return text;
}

/// The codec vlen-utf8: their number, then for each its length and its bytes; numbers of four bytes, the
/// lowest first.
std::vector<std::string> variable_texts(const fs::path& file, const std::string& bytes, Index count) {
    require(bytes.size() >= 4 && static_cast<Index>(little_number(bytes, 0)) == count,
            "{}: is damaged: it must hold {} texts", file.string(), count);
    std::vector<std::string> texts;
    std::size_t at = 4;
    for (Index i = 0; i < count; ++i) {
        require(bytes.size() - at >= 4 && bytes.size() - at - 4 >= little_number(bytes, at),
                "{}: is cut off in text {} of {}", file.string(), i + 1, count);
        const std::size_t length = little_number(bytes, at);
        texts.push_back(bytes.substr(at + 4, length));
        at += 4 + length;
    }
    return texts;
}

/// The element at `from`, in chunks whose first axis runs fastest, for each place in the usual order.
template <class Visit>
void in_usual_order(const std::vector<Index>& chunk, const Visit& visit) {
    std::vector<Index> step(chunk.size(), 1);
    for (std::size_t axis = 1; axis < chunk.size(); ++axis) {
        step[axis] = step[axis - 1] * chunk[axis - 1];
    }
    std::vector<Index> place(chunk.size(), 0);
    Index from = 0;
    for (bool more = true; more;) {
        visit(from);
        more = false;
        for (std::size_t axis = chunk.size(); axis-- > 0;) {
            from += step[axis];
            if (++place[axis] < chunk[axis]) {
                more = true;
                break;
            }
            from -= step[axis] * chunk[axis];
            place[axis] = 0;
        }
    }
}

double real_fill(const fs::path& folder, const Json& fill) {
    if (fill.is_number() || fill.is_boolean()) {
        return fill.is_boolean() ? (fill.get<bool>() ? 1.0 : 0.0) : fill.get<double>();
    }
    const std::string word = fill.is_string() ? fill.get<std::string>() : "";
    const double infinity = std::numeric_limits<double>::infinity();
    if (word == "NaN" || word == "Infinity" || word == "-Infinity") {
        return word == "NaN"        ? std::numeric_limits<double>::quiet_NaN()
               : word == "Infinity" ? infinity
                                    : -infinity;
    }
    fail("{}: the fill_value {} is not understood", folder.string(),
         fill.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// std::bit_cast, which the standard library of the page does not have.
template <class Bits, class Number>
Bits bits_of(Number number) {
    static_assert(sizeof(Bits) == sizeof(Number));
    Bits bits{};
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

/// Bits of an IEEE number of two bytes. Values between two of its numbers are cut.
std::uint64_t half_bits(double value) {
    const auto bits = bits_of<std::uint32_t>(static_cast<float>(value));
    const std::uint32_t sign = bits >> 16U & 0x8000U;
    const auto exponent = static_cast<int>(bits >> 23U & 0xffU) - 112;
    const std::uint32_t fraction = bits & 0x7fffffU;
    if (exponent >= 31) {
        return sign | 0x7c00U | ((bits & 0x7fffffffU) > 0x7f800000U ? 0x200U : 0U);
    }
    if (exponent <= 0) {
        return exponent < -10 ? sign : sign | (fraction | 0x800000U) >> static_cast<unsigned>(14 - exponent);
    }
    return sign | static_cast<std::uint32_t>(exponent) << 10U | fraction >> 13U;
}

} // namespace

Chunks::Chunks(fs::path folder, const Array& array) : folder_(std::move(folder)), array_(array) {
    constexpr Index most = Index{1} << 22;
    Index count = 1;
    for (std::size_t i = 0; i < array.shape.size(); ++i) {
        counts_.push_back(array.shape[i] == 0 ? 0 : (array.shape[i] - 1) / array.chunk[i] + 1);
        empty_ = empty_ || counts_.back() == 0;
        elements_ *= array.chunk[i];
    }
    for (const Index one : counts_) {
        require(empty_ || one <= most / count, "{}: has more than {} chunks", folder_.string(), most);
        count *= empty_ ? 1 : one;
    }
    if (!empty_ && array.element != Element::unknown) {
        std::vector<Index> place(counts_.size(), 0);
        do {
            all_there_ = all_there_ && is_file(file_of(place));
        } while (all_there_ && next(place));
    }
}

bool Chunks::is_text(Element element) {
    return element == Element::text || element == Element::utf32_text || element == Element::byte_text;
}

fs::path Chunks::file_of(const std::vector<Index>& place) const {
    std::string name = array_.prefix;
    for (const Index one : place) {
        name += name.empty() ? "" : std::string(1, array_.separator);
        name += std::to_string(one);
    }
    return folder_ / (name.empty() ? "0" : name);
}

bool Chunks::next(std::vector<Index>& place) const {
    for (std::size_t axis = place.size(); axis-- > 0;) {
        if (++place[axis] < counts_[axis]) {
            return true;
        }
        place[axis] = 0;
    }
    return false;
}

std::string Chunks::read(const fs::path& file) const {
    constexpr std::uintmax_t most_stored = std::uintmax_t{1} << 31U;
    // A codec makes nothing smaller than this; a file of a few bytes must not take gigabytes.
    constexpr std::size_t most_of_a_byte = 100'000;
    std::string stored = read_part(file, most_stored);
    const std::size_t possible = (std::size_t{64} << 20U) + most_of_a_byte * stored.size();
    require(!is_text(array_.element) || elements_ <= (Index{1} << 22) + 64 * array_.size(),
            "{}: must not hold {} texts for an array of {}", file.string(), elements_, array_.size());
    if (array_.element == Element::text) {
        return decompress(file, std::move(stored), array_.codecs,
                          std::min<std::size_t>(possible, most_stored));
    }
    const std::size_t size = static_cast<std::size_t>(elements_) * array_.bytes;
    require(size <= possible, "{}: has {} bytes, too few for a chunk of {}", file.string(), stored.size(),
            size);
    std::string bytes = decompress(file, std::move(stored), array_.codecs, size);
    require(bytes.size() == size, "{}: must hold a chunk of {} bytes, got {}", file.string(), size,
            bytes.size());
    return bytes;
}

std::string Chunks::fill() const {
    const auto whole = [&]() -> std::uint64_t {
        const Json& fill = array_.fill;
        if (fill.is_null() || (fill.is_string() && fill.get_ref<const std::string&>().empty())) {
            return 0;
        }
        if (array_.element == Element::real) {
            const double value = real_fill(folder_, fill);
            return array_.bytes == 8   ? bits_of<std::uint64_t>(value)
                   : array_.bytes == 4 ? bits_of<std::uint32_t>(static_cast<float>(value))
                                       : half_bits(value);
        }
        if (fill.is_number_unsigned()) {
            return fill.get<std::uint64_t>();
        }
        if (fill.is_number_integer()) {
            return static_cast<std::uint64_t>(fill.get<std::int64_t>());
        }
        const double value = real_fill(folder_, fill);
        constexpr double most = 9e18;
        require(std::abs(value) < most, "{}: the fill_value {} is no whole number", folder_.string(), value);
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    }();
    std::string bytes;
    for (std::size_t i = 0; i < array_.bytes; ++i) {
        const std::size_t place = array_.big_endian ? array_.bytes - 1 - i : i;
        bytes += static_cast<char>(whole >> 8U * place & 0xffU);
    }
    return bytes;
}

void Chunks::each(const std::function<void(const std::vector<Index>&, const std::string&)>& visit) const {
    std::vector<Index> place(counts_.size(), 0);
    for (bool more = !empty_; more; more = next(place)) {
        const fs::path file = file_of(place);
        if (!is_file(file)) {
            continue;
        }
        std::string bytes = read(file);
        if (array_.element == Element::boolean) {
            for (char& byte : bytes) {
                byte = byte != 0 ? '\1' : '\0';
            }
        }
        if (array_.columns_first && array_.chunk.size() > 1) {
            std::string turned;
            turned.reserve(bytes.size());
            in_usual_order(array_.chunk, [&](Index from) {
                turned.append(bytes, static_cast<std::size_t>(from) * array_.bytes, array_.bytes);
            });
            bytes = std::move(turned);
        }
        visit(place, bytes);
    }
}

std::vector<std::string> Chunks::texts_in(const fs::path& file) const {
    const std::string bytes = read(file);
    std::vector<std::string> texts;
    if (array_.element == Element::text) {
        texts = variable_texts(file, bytes, elements_);
    } else {
        for (std::size_t at = 0; at < bytes.size(); at += array_.bytes) {
            texts.push_back(fixed_text(file, array_, bytes.data() + at));
        }
    }
    if (array_.columns_first && array_.chunk.size() > 1) {
        std::vector<std::string> turned;
        in_usual_order(array_.chunk, [&](Index from) {
            turned.push_back(std::move(texts[static_cast<std::size_t>(from)]));
        });
        return turned;
    }
    return texts;
}

std::vector<std::string> Chunks::texts() const {
    std::string fill = array_.fill.is_string() ? array_.fill.get<std::string>() : "";
    if (array_.element == Element::byte_text && fill.find_first_not_of("A=") == std::string::npos) {
        fill.clear(); // zeros, in base 64
    }
    constexpr std::size_t longest = 15;
    require(all_there_ || (fill.size() <= longest && (array_.element != Element::byte_text || fill.empty())),
            "{}: the fill_value {} is not understood", folder_.string(), fill);
    fill = all_there_ ? "" : fill;
    std::vector<std::string> all(static_cast<std::size_t>(array_.size()), fill);
    std::vector<Index> place(counts_.size(), 0);
    for (bool more = !empty_; more; more = next(place)) {
        const fs::path file = file_of(place);
        if (!is_file(file)) {
            continue;
        }
        std::vector<std::string> texts = texts_in(file);
        // The place of each text in the array; those beyond an end are left out.
        std::vector<Index> within(array_.chunk.size(), 0);
        for (std::string& text : texts) {
            Index to = 0;
            bool inside = true;
            for (std::size_t axis = 0; axis < within.size(); ++axis) {
                const Index here = place[axis] * array_.chunk[axis] + within[axis];
                inside = inside && here < array_.shape[axis];
                to = to * array_.shape[axis] + here;
            }
            if (inside) {
                all[static_cast<std::size_t>(to)] = std::move(text);
            }
            for (std::size_t axis = within.size(); axis-- > 0;) {
                if (++within[axis] < array_.chunk[axis]) {
                    break;
                }
                within[axis] = 0;
            }
        }
    }
    return all;
}

} // namespace pnmf::zarr
