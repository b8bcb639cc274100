#pragma once

#include "io/zarr_array.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace pnmf::zarr {

/// The chunks of one array, read from their files one at a time.
class Chunks {
  public:
    /// InputError when there are more of them than a store may leave out.
    Chunks(std::filesystem::path folder, const Array& array);

    static bool is_text(Element element);
    /// Whether there is a file for each; those without one hold `fill` everywhere.
    bool all_there() const { return all_there_; }
    /// The bytes of one element of a chunk without a file, in the order of bytes of the others.
    std::string fill() const;
    /// Numbers: the place of each chunk that has a file, and its elements, the last axis the fastest.
    void each(const std::function<void(const std::vector<Index>&, const std::string&)>& visit) const;
    /// All texts of the array, the last axis the fastest.
    std::vector<std::string> texts() const;

  private:
    std::filesystem::path file_of(const std::vector<Index>& place) const;
    bool next(std::vector<Index>& place) const;
    std::string read(const std::filesystem::path& file) const;
    std::vector<std::string> texts_in(const std::filesystem::path& file) const;

    std::filesystem::path folder_;
    const Array& array_;
    std::vector<Index> counts_; ///< chunks along each axis
    Index elements_ = 1;        ///< of one chunk
    bool empty_ = false;
    bool all_there_ = true;
};

} // namespace pnmf::zarr
