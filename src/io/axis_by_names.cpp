#include "io/formats.hpp"

#include <algorithm>
#include <regex>

namespace pnmf::io {
namespace {

Index matches(const std::vector<std::string>& names, const std::regex& pattern) {
    constexpr std::size_t longest = 64; // of a gene or a cell
    return std::count_if(names.begin(), names.end(), [&](const std::string& name) {
        return name.size() <= longest && std::regex_search(name, pattern);
    });
}

/// Numbers of Ensembl, FlyBase and TAIR, genes of the mitochondria and of ribosomes, "gene7". Few genes of a
/// list are of such a family.
bool name_genes(const std::vector<std::string>& names) {
    static const std::regex gene(
        "^(ens[a-z]*g\\d+.*|fbgn\\d+|at[1-5mc]g\\d+.*|gene[_-]?\\d+|rp[ls]\\d{1,2}[a-z]{0,2}|"
        "mt-(co|nd|atp|rnr)\\d.*|mt-cyt?b)$",
        std::regex::icase);
    return matches(names, gene) >= 3;
}

bool half_match(const std::vector<std::string>& names, const std::regex& pattern) {
    return 2 * matches(names, pattern) >= std::ssize(names);
}

/// Barcodes as 10x writes them, numbers of public archives, "cell7".
bool name_cells(const std::vector<std::string>& names) {
    static const std::regex cell("[ACGT]{14,18}-\\d|^(cell[_-]?|GSM|SRR|ERR|DRR)\\d+");
    return half_match(names, cell);
}

/// A sequence may be a cell, and as well a guide or a tag.
bool may_name_cells(const std::vector<std::string>& names) {
    static const std::regex sequence("[ACGT]{8}");
    return name_cells(names) || half_match(names, sequence);
}

} // namespace

bool names_say_swapped(const Dataset& data) {
    const bool as_read = may_name_cells(data.cell_names) || name_genes(data.feature_names);
    return !as_read && (name_cells(data.feature_names) || name_genes(data.cell_names));
}

} // namespace pnmf::io
