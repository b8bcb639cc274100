#pragma once

#include <pnmf/types.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace pnmf {

struct GeneSet {
    std::string name;
    std::vector<std::string> genes; ///< each once
};

/// Reads a .gmt file, plain or gzip: a set on each line, its name, a description that is not kept, and its
/// genes, with tabs between them. Empty lines are passed over. InputError names the line that is no set.
std::vector<GeneSet> read_gene_sets(const std::filesystem::path& path);

/// The positions of each set's genes among `genes`; those that are not there are left out. Letters must
/// agree as they are: human and mouse genes differ by case alone.
std::vector<std::vector<Index>> positions_of_sets(const std::vector<GeneSet>& sets,
                                                  const std::vector<std::string>& genes);

} // namespace pnmf
