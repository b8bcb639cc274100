#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <vector>

namespace pnmf::io {

/// A file that appears whole or not at all.
///
/// Bytes go to a temporary file in the target's folder; `commit` brings it to the disk and renames it, which
/// replaces an older file in one step. Without `commit` the temporary file is removed and the target is
/// untouched. A library that wants a path writes to `temporary()` instead of calling `write`. Each failure is
/// a SystemError that names the target; a target that is a folder or a device is an InputError.
class AtomicFile {
  public:
    explicit AtomicFile(const std::filesystem::path& target);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    const std::filesystem::path& temporary() const { return temporary_; }
    void write(std::string_view bytes);
    void commit();

  private:
    void flush();

    std::filesystem::path target_;
    std::filesystem::path temporary_;
    std::vector<char> buffer_;
    int descriptor_ = -1;
    bool committed_ = false;
};

} // namespace pnmf::io
