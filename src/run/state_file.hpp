#pragma once

#include "files/atomic_file.hpp"
#include "files/checksum.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>
#include <vector>

/// What a run saves on its way: values in the machine's byte order, counts and lengths in 64 bits, and at the
/// end the checksum of all before it.
namespace pnmf {

/// Writes such a file. What goes wrong is thrown by `commit` alone: other processes still send what they
/// have.
class StateWriter {
  public:
    /// Without a path, as on processes that only send, nothing is written.
    explicit StateWriter(const std::filesystem::path* path) {
        if (path != nullptr) {
            attempt([&] { file_.emplace(*path); });
        }
    }

    void bytes(const void* data, std::size_t size) {
        if (file_) {
            checksum_ = add_to_checksum(checksum_, data, size);
            attempt([&] { file_->write({static_cast<const char*>(data), size}); });
        }
    }

    template <class Value>
    void value(const Value& value) {
        bytes(&value, sizeof value);
    }

    /// Items, behind their count.
    template <class Values>
    void list(const Values& values) {
        value(static_cast<std::int64_t>(values.size()));
        bytes(values.data(), values.size() * sizeof(typename Values::value_type));
    }

    void commit() {
        if (file_) {
            attempt([&] {
                const std::uint64_t checksum = checksum_;
                file_->write({reinterpret_cast<const char*>(&checksum), sizeof checksum});
                file_->commit();
            });
        }
        if (error_) {
            std::rethrow_exception(error_);
        }
    }

  private:
    template <class Do>
    void attempt(const Do& body) {
        try {
            body();
        } catch (const SystemError&) {
            error_ = std::current_exception();
            file_.reset();
        }
    }

    std::optional<AtomicFile> file_;
    std::exception_ptr error_;
    std::uint32_t checksum_ = 0;
};

/// Reads it; InputError where it is missing, cut short or damaged.
class StateReader {
  public:
    explicit StateReader(const std::filesystem::path& path) : path_(path), in_(path, std::ios::binary) {
        std::error_code error;
        left_ = std::filesystem::file_size(path, error);
        require(in_ && !error, "{}: there is no checkpoint to resume", path.string());
    }

    void bytes(void* data, std::size_t size) {
        require(size <= left_, "{}: the checkpoint is cut short", path_.string());
        left_ -= size;
        in_.read(static_cast<char*>(data), static_cast<std::streamsize>(size));
        if (!in_) { // its size was looked at before
            throw SystemError(fmt::format("{}: the checkpoint cannot be read", path_.string()));
        }
        checksum_ = add_to_checksum(checksum_, data, size);
    }

    template <class Value>
    Value value() {
        Value result{};
        bytes(&result, sizeof result);
        return result;
    }

    /// Bytes that count for the checksum alone.
    void skip(std::size_t size) {
        require(size <= left_, "{}: the checkpoint is cut short", path_.string());
        std::vector<char> buffer(std::min<std::size_t>(size, std::size_t{1} << 22U));
        while (size > 0) {
            const std::size_t part = std::min(size, buffer.size());
            bytes(buffer.data(), part);
            size -= part;
        }
    }

    /// A count of items of `size` bytes each, which must fit into what is left of the file.
    std::int64_t count(std::size_t size) {
        const auto result = value<std::int64_t>();
        expect(result >= 0 && static_cast<std::uint64_t>(result) <= left_ / std::max<std::size_t>(size, 1));
        return result;
    }

    /// Items, behind their count.
    template <class Values>
    void list(Values& values) {
        using Item = typename Values::value_type;
        values.resize(static_cast<std::size_t>(count(sizeof(Item))));
        bytes(values.data(), values.size() * sizeof(Item));
    }

    /// What holds of every checkpoint.
    void expect(bool holds) const { require(holds, "{}: the checkpoint is damaged", path_.string()); }

    const std::filesystem::path& path() const { return path_; }
    /// Whether so many items of so many bytes can follow.
    bool fits(std::int64_t count, std::int64_t bytes) const {
        return bytes == 0 || static_cast<std::uint64_t>(count) <= left_ / static_cast<std::uint64_t>(bytes);
    }

    void finish() {
        const std::uint64_t expected = checksum_;
        const auto found = value<std::uint64_t>();
        require(found == expected && left_ == 0, "{}: the checkpoint is damaged: its checksum does not match",
                path_.string());
    }

  private:
    std::filesystem::path path_;
    std::ifstream in_;
    std::uintmax_t left_ = 0;
    std::uint32_t checksum_ = 0;
};

} // namespace pnmf
