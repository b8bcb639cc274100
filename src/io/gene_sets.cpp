#include <pnmf/io/annotations.hpp>

#include "io/input_file.hpp"

#include <pnmf/error.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace pnmf {
namespace {

std::vector<std::string> tab_fields(std::string_view line) {
    std::vector<std::string> fields;
    for (;;) {
        const std::size_t tab = line.find('\t');
        fields.emplace_back(line.substr(0, tab));
        if (tab == std::string_view::npos) {
            return fields;
        }
        line.remove_prefix(tab + 1);
    }
}

} // namespace

std::vector<GeneSet> read_gene_sets(const std::filesystem::path& path) {
    const std::string text = io::read_all(path);
    std::vector<GeneSet> sets;
    std::string_view rest = text;
    for (Index number = 1; !rest.empty(); ++number) {
        const std::size_t end = rest.find('\n');
        std::string_view line = rest.substr(0, end);
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        if (line.empty()) {
            continue;
        }
        std::vector<std::string> fields = tab_fields(line);
        require(fields.size() >= 3 && !fields.front().empty(),
                "{}:{}: a gene set is a name, a description and genes, with tabs between them, got {} "
                "field{}",
                path.string(), number, fields.size(), fields.size() == 1 ? "" : "s");
        GeneSet set{.name = std::move(fields.front()), .genes = {}};
        std::unordered_set<std::string> seen;
        for (std::size_t i = 2; i < fields.size(); ++i) {
            if (!fields[i].empty() && seen.insert(fields[i]).second) {
                set.genes.push_back(std::move(fields[i]));
            }
        }
        sets.push_back(std::move(set));
    }
    require(!sets.empty(), "{}: there is no gene set in it", path.string());
    return sets;
}

std::vector<std::vector<Index>> positions_of_sets(const std::vector<GeneSet>& sets,
                                                  const std::vector<std::string>& genes) {
    std::unordered_map<std::string_view, Index> place;
    for (std::size_t i = 0; i < genes.size(); ++i) {
        place.emplace(genes[i], static_cast<Index>(i));
    }
    std::vector<std::vector<Index>> positions;
    for (const GeneSet& set : sets) {
        std::vector<Index> held;
        for (const std::string& gene : set.genes) {
            if (const auto found = place.find(gene); found != place.end()) {
                held.push_back(found->second);
            }
        }
        positions.push_back(std::move(held));
    }
    return positions;
}

} // namespace pnmf
