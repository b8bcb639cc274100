#include "io/mat_variables.hpp"

#include <pnmf/error.hpp>

/// Stands in for mat_5.cpp in a build without matio.
namespace pnmf::io {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(const fs::path& path) {
    fail("{}: is a MATLAB file of version 5 or 7, which this build of pnmf cannot read because it was made "
         "without the library matio. Save the file as version 7.3 (in MATLAB: save(file, '-v7.3')) or as "
         "CSV, or build pnmf again where matio is installed",
         path.string());
}

} // namespace

std::vector<MatSummary> list_mat_5(const fs::path& path) {
    refuse(path);
}

MatValue load_mat_5(const fs::path& path, const std::string& /*variable*/) {
    refuse(path);
}

} // namespace pnmf::io
