#include "io/hdf5_guard.hpp"
#include "io/hdf5_native.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unordered_map>

namespace pnmf::hdf5 {

namespace {

static_assert(std::endian::native == std::endian::little, "HDF5 keeps its words little-endian");

template <class Word>
Word word_at(const char* bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// What an element of variable length is in the file: its length, and the heap and place in it that hold it.
struct Reference {
    static constexpr std::size_t bytes = 16;

    explicit Reference(const char* at)
        : length(word_at<std::uint32_t>(at)), heap(word_at<std::uint64_t>(at + 4)),
          place(word_at<std::uint32_t>(at + 12)) {}

    std::uint32_t length;
    std::uint64_t heap;
    std::uint32_t place;
};

/// HDF5's global heaps, each read when first asked for.
class Heaps {
  public:
    Heaps(const std::string& name, std::uint64_t base)
        : in_(name, std::ios::binary), base_(base), file_size_(std::filesystem::file_size(name)) {}

    std::optional<std::string> text(const Reference& reference) {
        constexpr auto undefined = std::numeric_limits<std::uint64_t>::max();
        if (reference.length == 0 || reference.heap == 0 || reference.heap == undefined) {
            return std::string();
        }
        const auto found = heaps_.find(reference.heap);
        const Heap& heap =
            found != heaps_.end() ? found->second : heaps_[reference.heap] = load(reference.heap);
        const auto piece = heap.pieces.find(reference.place);
        if (piece == heap.pieces.end() || piece->second.second < reference.length) {
            return std::nullopt;
        }
        const char* begin = heap.bytes.data() + piece->second.first;
        return std::string(begin, strnlen(begin, reference.length));
    }

  private:
    struct Heap {
        std::vector<char> bytes;
        std::unordered_map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>>
            pieces; ///< offset and length
    };

    /// Without pieces when there is no heap at this address.
    Heap load(std::uint64_t address) {
        constexpr std::uint64_t header = 16;
        Heap heap;
        if (address > file_size_ - base_ || file_size_ - base_ - address < header) {
            return heap;
        }
        std::array<char, header> first{};
        in_.clear();
        in_.seekg(static_cast<std::streamoff>(base_ + address));
        in_.read(first.data(), first.size());
        const auto size = word_at<std::uint64_t>(first.data() + 8);
        if (!in_ || std::memcmp(first.data(), "GCOL\1", 5) != 0 || size < header ||
            size > file_size_ - base_ - address) {
            return heap;
        }
        heap.bytes.resize(size);
        in_.seekg(static_cast<std::streamoff>(base_ + address));
        in_.read(heap.bytes.data(), static_cast<std::streamsize>(size));
        if (!in_) {
            return heap;
        }
        for (std::uint64_t at = header; at + header <= size;) {
            const auto place = word_at<std::uint16_t>(heap.bytes.data() + at);
            const auto length = word_at<std::uint64_t>(heap.bytes.data() + at + 8);
            at += header;
            // Place 0 is the memory left.
            if (place == 0 || length > size - at) {
                break;
            }
            heap.pieces.emplace(place, std::pair(at, length));
            at += (length + 7) / 8 * 8;
        }
        return heap;
    }

    std::ifstream in_;
    std::uint64_t base_;
    std::uint64_t file_size_;
    std::unordered_map<std::uint64_t, Heap> heaps_;
};

/// A conversion that leaves the words of the file as they are.
herr_t keep_words(hid_t from, hid_t to, H5T_cdata_t* data, size_t, size_t, size_t, void*, void*, hid_t) {
    if (data->command == H5T_CONV_INIT) {
        data->need_bkg = H5T_BKG_NO;
        return H5Tis_variable_str(from) > 0 && H5Tget_size(from) == Reference::bytes &&
                       H5Tget_size(to) == Reference::bytes
                   ? 0
                   : -1;
    }
    return 0;
}

/// Makes HDF5 know that conversion, from text of variable length to `words`, for a while.
class WordsConversion {
  public:
    explicit WordsConversion(hid_t text, hid_t words) : text_(text), words_(words) {
        H5Tregister(H5T_PERS_SOFT, name, text_, words_, keep_words);
    }
    ~WordsConversion() { H5Tunregister(H5T_PERS_SOFT, name, text_, words_, keep_words); }
    WordsConversion(const WordsConversion&) = delete;
    WordsConversion& operator=(const WordsConversion&) = delete;

  private:
    static constexpr const char* name = "pnmf words";
    hid_t text_;
    hid_t words_;
};

} // namespace

std::optional<std::vector<std::string>>
read_variable_texts(hid_t file, const std::string& name, hid_t file_type, Index count, const ReadAs& read) {
    const Session session;
    const Handle words(H5Tcreate(H5T_OPAQUE, Reference::bytes), H5Tclose);
    H5Tset_tag(words.get(), "words of text of variable length");
    std::vector<char> bytes(static_cast<std::size_t>(count) * Reference::bytes);
    {
        const WordsConversion conversion(file_type, words.get());
        if (!read(words.get(), bytes.data())) {
            return std::nullopt;
        }
    }
    const std::uint64_t base = base_of(file);
    std::error_code error;
    if (base > std::filesystem::file_size(name, error) || error) {
        return std::nullopt;
    }
    Heaps heaps(name, base);
    std::vector<std::string> texts;
    texts.reserve(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
        auto text = heaps.text(Reference(bytes.data() + static_cast<std::size_t>(i) * Reference::bytes));
        if (!text) {
            return std::nullopt;
        }
        texts.push_back(std::move(*text));
    }
    return texts;
}

} // namespace pnmf::hdf5
