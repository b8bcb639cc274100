#pragma once

#include <pnmf/linalg/pca.hpp>
#include <pnmf/types.hpp>

#include <optional>
#include <string>
#include <vector>

namespace pnmf {

struct Dataset;

/// Slices of tissue whose places have been moved apart (`separate_samples`).
struct Slices {
    std::vector<std::string> names;
    std::vector<Index> of_cell; ///< position in `names`
    std::vector<double> moved;  ///< of each slice: how far, along the first coordinate
};

/// Where distances between cells come from when not from X itself: tree, scales, neighbours and graphs are
/// made there, while X is factorised.
struct Space {
    std::string name;   ///< "pca:30", or "obsm:KEY"
    Matrix coordinates; ///< a column for each cell, as X has them: on a process that holds some, of these
    /// Of `pca`: how other cells get their coordinates. None for coordinates that a file brought along.
    std::optional<PrincipalComponents> components{};
    std::optional<Slices> slices{};
    bool downwards = false; ///< of places in an image: the second coordinate counts its rows from above
};

/// What a user asks for: "none", "pca:N" or "obsm:KEY". InputError for other words.
struct SpaceChoice {
    enum class Kind { none, components, stored } kind = Kind::none;
    Index components = 0; ///< N of "pca:N"
    std::string key{};    ///< KEY of "obsm:KEY"
};
SpaceChoice space_choice(const std::string& text);

/// Where each process has the coordinates of its own cells: those of all cells on the first process, for
/// those who store them. The values stay where they are. All processes call it.
void gather_space(Dataset& data);

} // namespace pnmf
