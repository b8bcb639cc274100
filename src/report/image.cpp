#include "report/image.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

namespace pnmf::report {
namespace {

/// An image in memory: a row is channels × width.
struct Picture {
    Index height = 0;
    Index width = 0;
    Index channels = 0;
    std::function<Matrix(Index)> row{};
};

/// Of an array height × width × 3 or 4.
std::optional<Picture> picture_of(const AnnDataValue* value) {
    Picture picture;
    if (value == nullptr) {
        return std::nullopt;
    }
    if (const auto* array = std::get_if<NumericArray>(&value->value); array && array->shape.size() == 3) {
        picture = {array->shape[0], array->shape[1], array->shape[2],
                   [array](Index i) { return Matrix(slab_of(*array, i).transpose()); }};
    } else if (const auto* slabs = std::get_if<SlabArray>(&value->value)) {
        picture = {slabs->slabs, slabs->rows, slabs->cols, [slabs](Index i) {
                       return slabs->slab ? Matrix(slabs->slab(i).transpose())
                                          : Matrix(slabs->float_slab(i).transpose().cast<double>());
                   }};
    }
    const bool coloured = picture.channels == 3 || picture.channels == 4;
    return picture.height > 0 && picture.width > 0 && coloured ? std::optional(picture) : std::nullopt;
}

std::optional<double> number_at(const AnnDataMap& map, const std::string& path) {
    const AnnDataValue* value = find(map, path);
    const auto* number = value != nullptr ? std::get_if<double>(&value->value) : nullptr;
    const auto* whole = value != nullptr ? std::get_if<std::int64_t>(&value->value) : nullptr;
    const double result = number != nullptr ? *number : whole != nullptr ? static_cast<double>(*whole) : 0.0;
    return result > 0.0 && std::isfinite(result) ? std::optional(result) : std::nullopt;
}

/// Means of squares of `step` pixels from (left, top) on, 3 × width for each row, from 0 to 255.
std::vector<Matrix> shrunk(const Picture& picture, Index left, Index top, Index width, Index height,
                           Index step) {
    std::vector<Matrix> rows;
    double largest = 0.0;
    for (Index y = 0; y < height; ++y) {
        Matrix sum = Matrix::Zero(3, width);
        for (Index i = 0; i < step; ++i) {
            const Matrix row = picture.row(top + y * step + i);
            for (Index x = 0; x < width; ++x) {
                sum.col(x) += row.block(0, left + x * step, 3, step).rowwise().sum();
            }
        }
        rows.push_back(sum / static_cast<double>(step * step));
        largest = std::max(largest, rows.back().maxCoeff());
    }
    const double unit = largest <= 1.0 ? 255.0 : 1.0; // floats from 0 to 1, or bytes
    for (Matrix& row : rows) {
        row = (unit * row).unaryExpr([](double v) { return std::isfinite(v) ? v : 0.0; });
        row = row.cwiseMax(0.0).cwiseMin(255.0);
    }
    return rows;
}

/// Appends weights · RGB of the means of squares of `side` pixels, as steps along each row.
void add_plane(std::vector<std::uint8_t>& bytes, const std::vector<Matrix>& rows, Index side,
               const Eigen::RowVector3d& weights) {
    const auto height = static_cast<Index>(rows.size());
    for (Index y = 0; y < height; y += side) {
        int before = 0;
        for (Index x = 0; x < rows.front().cols(); x += side) {
            double sum = 0.0;
            Index count = 0;
            for (Index v = y; v < std::min(y + side, height); ++v) {
                for (Index u = x; u < std::min(x + side, rows.front().cols()); ++u, ++count) {
                    sum += weights.dot(rows[static_cast<std::size_t>(v)].col(u));
                }
            }
            const int value = static_cast<int>(std::floor(sum / static_cast<double>(count)));
            bytes.push_back(static_cast<std::uint8_t>((value - before) & 255));
            before = value;
        }
    }
}

} // namespace

AnnDataMap spatial_entries(const StoredResult& result) {
    if (const AnnDataValue* held = find(result.file.uns, "spatial")) {
        const auto* map = std::get_if<AnnDataMap>(&held->value);
        return map != nullptr ? *map : AnnDataMap{};
    }
    if (!std::filesystem::is_regular_file(result.name)) {
        return {};
    }
    AnnDataFile file = read_anndata(
        result.name, {.skip = {"X", "layers", "uns/" + result.key}, .matrices = std::vector<std::string>{}});
    const auto found = file.uns.find("spatial");
    auto* map = found != file.uns.end() ? std::get_if<AnnDataMap>(&found->second.value) : nullptr;
    return map != nullptr ? std::move(*map) : AnnDataMap{};
}

std::optional<PackedImage> packed_image(const AnnDataMap& spatial, const std::string& library,
                                        const std::array<double, 4>& box, Index most_pixels) {
    if (spatial.empty() || (!spatial.contains(library) && spatial.size() > 1)) {
        return std::nullopt;
    }
    const std::string name = spatial.contains(library) ? library : spatial.begin()->first;
    for (const std::string& size : std::vector<std::string>{"hires", "lowres"}) {
        const auto picture = picture_of(find(spatial, name + "/images/" + size));
        const auto scale = number_at(spatial, name + "/scalefactors/tissue_" + size + "_scalef");
        if (!picture || !scale) {
            continue;
        }
        const auto pixel = [&](double place, Index end, bool up) {
            const double at = place * *scale;
            return static_cast<Index>(
                std::clamp(up ? std::ceil(at) : std::floor(at), 0.0, static_cast<double>(end)));
        };
        const Index left = pixel(box[0], picture->width, false);
        const Index top = pixel(box[1], picture->height, false);
        const Index wide = pixel(box[2], picture->width, true) - left;
        const Index high = pixel(box[3], picture->height, true) - top;
        Index step = 1;
        while ((wide / step) * (high / step) > most_pixels) {
            ++step;
        }
        PackedImage image{.width = wide / step, .height = high / step};
        if (image.width < 1 || image.height < 1) {
            return std::nullopt;
        }
        image.box = {static_cast<double>(left) / *scale, static_cast<double>(top) / *scale,
                     static_cast<double>(left + image.width * step) / *scale,
                     static_cast<double>(top + image.height * step) / *scale};
        const std::vector<Matrix> rows = shrunk(*picture, left, top, image.width, image.height, step);
        add_plane(image.bytes, rows, 1, Eigen::RowVector3d(1, 2, 1) / 16.0);
        add_plane(image.bytes, rows, 2, Eigen::RowVector3d(1, 0, -1) / 8.0);
        add_plane(image.bytes, rows, 2, Eigen::RowVector3d(-1, 2, -1) / 16.0);
        return image;
    }
    return std::nullopt;
}

} // namespace pnmf::report
