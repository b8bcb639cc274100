#pragma once

#include <pnmf/io/dataset.hpp>

#include <string>
#include <vector>

namespace pnmf::io {

/// What `read_labels` reads, under another name in its messages: "labels", "batches".
std::vector<std::string> read_column(const std::string& what, const std::string& where, const Dataset& data);

} // namespace pnmf::io
