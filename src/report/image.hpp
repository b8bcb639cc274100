#pragma once

#include <pnmf/results/stored_result.hpp>
#include <pnmf/types.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pnmf::report {

/// A photograph of a tissue as a page carries it.
///
/// Bytes: lightness (R + 2G + B)/16 of each pixel; then, each averaged over squares of two by two, (R − B)/8
/// and (2G − R − B)/16. Within a row there is the step from the pixel before, modulo 256. They compress to
/// about a fifth of the pixels of a section of tissue; of 256 shades of a colour 64 stay.
struct PackedImage {
    Index width = 0;
    Index height = 0;
    std::array<double, 4> box{}; ///< left, top, right and bottom edge, in the unit of the places
    std::vector<std::uint8_t> bytes{};
};

/// `uns/spatial` of Scanpy and Squidpy: with the result, or in its file, into which a fit has just copied it.
/// Empty when there is none.
AnnDataMap spatial_entries(const StoredResult& result);

/// The image of a library (`images/hires`, else `lowres`) in the box left, top, right, bottom of places,
/// made smaller by whole numbers until it has at most `most_pixels`. The only library where `library` is
/// not the name of one. Nothing when there is no image, no scale for it, or none of it is in the box.
std::optional<PackedImage> packed_image(const AnnDataMap& spatial, const std::string& library,
                                        const std::array<double, 4>& box, Index most_pixels);

} // namespace pnmf::report
