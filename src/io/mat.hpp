#pragma once

#include <pnmf/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf {

/// Numbers in column-major order, as MATLAB has them: the first axis runs fastest.
struct MatArray {
    std::vector<Index> shape; ///< two axes or more
    std::vector<double> values;
};

/// A variable of a MATLAB file, version 5 to 7 or 7.3: real numbers of any type, any number of axes, not
/// sparse. InputError when the file is damaged or has no such variable (the message lists those it has).
MatArray read_mat_array(const std::filesystem::path& path, const std::string& variable);

} // namespace pnmf
