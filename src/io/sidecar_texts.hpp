#pragma once

#include "files/atomic_file.hpp"

#include <pnmf/io/write.hpp>

#include <deque>
#include <vector>

namespace pnmf::io {

/// Texts in temporary files, which take their names together with another file.
class SidecarTexts {
  public:
    explicit SidecarTexts(const std::vector<TextFile>& files);
    /// Gives all of them their names, and `other` its own; or none.
    void commit_with(AtomicFile& other);
    void commit();

  private:
    std::vector<AtomicFile*> all();

    std::deque<AtomicFile> files_;
};

} // namespace pnmf::io
