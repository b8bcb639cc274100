#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace pnmf::hdf5 {

/// What a file holds: a checksum of the values of each dataset and attribute, by its path ("/obs/label", and
/// "/obs/label@encoding-type" for an attribute).
///
/// One is kept while a file is written, another made from what is read back. HDF5 writes much of a dataset
/// when it is closed, and tells of a failure there to nobody who can do something about it; so a file is
/// believed only when both are the same.
class Manifest {
  public:
    /// Values that follow those the path has already.
    void add_bytes(const std::string& path, const void* bytes, std::size_t size);
    void add_texts(const std::string& path, std::span<const std::string> texts);
    /// The path and everything below it.
    void forget(const std::string& path);
    /// The first path that is not the same in both; none when both are the same.
    std::optional<std::string> first_difference(const Manifest& other) const;

  private:
    struct Entry {
        std::uint32_t checksum = 0;
        std::uint64_t size = 0;
        bool operator==(const Entry&) const = default;
    };
    std::map<std::string, Entry> entries_;
};

} // namespace pnmf::hdf5
