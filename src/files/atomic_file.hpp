#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

namespace pnmf {

/// A file that appears whole or not at all.
///
/// Bytes go to a temporary file in the target's folder. `finish` brings it to the disk and reads it back: its
/// checksum must be that of what was written. `take_name` renames it, which replaces an older file in one
/// step; the older one is kept under another name until this object ends, so that `undo` can bring it back.
/// Without `take_name` the temporary file is removed and the target is untouched.
///
/// A library that wants a path writes to `temporary()` instead of calling `write`, and checks what it wrote
/// itself. Each failure is a SystemError that names the target; a target that is a folder or a device is an
/// InputError.
class AtomicFile {
  public:
    /// The first `head` bytes are left for `write_head`.
    explicit AtomicFile(const std::filesystem::path& target, std::size_t head = 0);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    const std::filesystem::path& temporary() const { return temporary_; }
    void write(std::string_view bytes);
    /// The beginning of the file, as many bytes as were announced; to be called once, before `finish`.
    void write_head(std::string_view bytes);

    void finish();
    void take_name();
    /// What stood there before stands there again, as far as the machine lets us.
    void undo() noexcept;
    /// `finish`, then `take_name`.
    void commit();

  private:
    void flush();
    void write_all(std::string_view bytes, bool at_beginning);
    void check_bytes() const;

    std::filesystem::path target_;
    std::filesystem::path temporary_;
    std::filesystem::path earlier_; ///< another name of the file that is replaced; empty where it has none
    std::vector<char> buffer_;
    std::uint32_t head_checksum_ = 0;
    std::uint32_t checksum_ = 0; ///< of what follows the head
    std::uint64_t head_size_;
    std::uint64_t size_ = 0; ///< without the head
    int descriptor_ = -1;
    bool replaces_ = false;
    bool wrote_ = false; ///< by `write`
    bool named_ = false;
};

/// Files that belong together: all take their names, or none does.
void commit_together(const std::vector<AtomicFile*>& files);

/// Whether this is the name of a temporary file that a killed program left beside the file `name`.
bool is_left_behind(std::string_view candidate, std::string_view name);

} // namespace pnmf
