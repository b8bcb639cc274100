#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace pnmf::io {

/// The bytes of a file, inflated on the way when it is gzip (also of several members).
/// InputError names the file when it cannot be opened, or when its gzip data are cut or corrupt; SystemError
/// when its disk cannot be read.
///
/// zlib's `gzread` is not used: it takes a member whose first bytes are damaged for the end of the file and
/// says nothing, and files of many members (bgzip's) would lose their rest
/// (docs/decisions/0010-text-readers.md).
class InputFile {
  public:
    explicit InputFile(const std::filesystem::path& path);
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    /// The next bytes; fewer than asked for only at the end of the file.
    std::size_t read(char* to, std::size_t bytes);

    /// Passes over the next bytes, without reading them where the file is not gzip. Returns how many there
    /// were; fewer than asked for only at the end of the file.
    std::uint64_t skip(std::uint64_t bytes);

    /// The most bytes that the file can hold when inflated: no header may announce more.
    std::uint64_t size_bound() const;
    std::string name() const { return path_.string(); }

  private:
    struct Gzip;
    std::size_t read_raw(char* to, std::size_t bytes);
    std::size_t inflate_some(char* to, std::size_t bytes);
    std::uint64_t seek_over(std::uint64_t bytes);
    bool next_member();

    std::filesystem::path path_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
    std::unique_ptr<Gzip> gzip_;
    std::string peeked_; ///< bytes read to see what the file is, given again by `read_raw`
};

/// The whole file, inflated.
std::string read_all(const std::filesystem::path& path);

} // namespace pnmf::io
