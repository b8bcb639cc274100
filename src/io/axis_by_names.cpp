#include "io/formats.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace pnmf::io {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Whether a name begins with one of these words, in any case, and a number follows.
template <std::size_t count>
bool is_numbered(std::string_view name, const std::array<std::string_view, count>& words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        const bool begins = name.size() > word.size() &&
                            std::equal(word.begin(), word.end(), name.begin(), [](char a, char b) {
                                return a == std::tolower(static_cast<unsigned char>(b));
                            });
        return begins && is_digit(name[word.size()]);
    });
}

/// A barcode of twelve bases or more, a number of a public archive, "cell7".
bool names_cell(std::string_view name) {
    std::size_t bases = 0;
    for (const char c : name) {
        bases = std::string_view("ACGT").find(c) != std::string_view::npos ? bases + 1 : 0;
        if (bases == 12) {
            return true;
        }
    }
    return is_numbered(name,
                       std::array<std::string_view, 7>{"cell", "cell_", "cell-", "gsm", "srr", "err", "drr"});
}

/// An Ensembl number, a gene of the mitochondria or of ribosomes, "gene7".
bool names_gene(std::string_view name) {
    return is_numbered(name, std::array<std::string_view, 7>{"ensg", "ensmusg", "gene", "gene_", "gene-",
                                                             "rpl", "rps"}) ||
           name.starts_with("MT-") || name.starts_with("mt-");
}

bool name_cells(const std::vector<std::string>& names) {
    return 2 * std::count_if(names.begin(), names.end(), names_cell) >= std::ssize(names);
}

/// Few genes of a list are of a known family.
bool name_genes(const std::vector<std::string>& names) {
    return std::count_if(names.begin(), names.end(), names_gene) >= 3;
}

} // namespace

bool names_say_swapped(const Dataset& data) {
    const bool as_read = name_cells(data.cell_names) || name_genes(data.feature_names);
    return !as_read && (name_cells(data.feature_names) || name_genes(data.cell_names));
}

} // namespace pnmf::io
