#include "devices/cuda/cuda_pairs.hpp"
#include "devices/cuda/pair_search.hpp"

#include <pnmf/linalg/random.hpp>
#include <pnmf/parallel.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace pnmf {
namespace {

constexpr Index most_float_dimensions = 128; // above, products take longer than looking through them
constexpr Index cells_of_item = 64;
constexpr Index cells_that_tell = 256;
constexpr std::int64_t staged_bytes = std::int64_t{64} << 20U;
constexpr double margin = 1e-9;    // canonical distances are rounded too, by far less
constexpr double smallest = 1e-30; // of scaled coordinates: products below the range of float

/// To the nearest number with 10 bits after the leading one.
float to_tf32(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>((bits + 0xfffU + (bits >> 13U & 1U)) & ~0x1fffU);
}

/// To the nearest number that half precision has, for numbers of at most 2¹⁵ in size: 10 bits after the
/// leading one, and none below 2⁻²⁴.
float to_half(float value) {
    constexpr float smallest_normal = 0x1p-14F;
    if (std::abs(value) >= smallest_normal) {
        return to_tf32(value);
    }
    constexpr float above = 0.75F; // floats of this size are multiples of 2⁻²⁴
    const float sum = above + value;
    return sum - above;
}

float rounded(float value, cuda::PairNumbers numbers) {
    return numbers == cuda::PairNumbers::half   ? to_half(value)
           : numbers == cuda::PairNumbers::tf32 ? to_tf32(value)
                                                : value;
}

/// Bounds on the key D² of a pair of cells a, b from products of rounded coordinates ã, b̃.
///
/// With g the product as the device computes it, c such that 2|g − ⟨ã, b̃⟩| and all rounding of the sums
/// below are at most c(‖ã‖² + ‖b̃‖²), r = ‖a − ã‖, and any η > 0,
///
///     (1 − η)(lower_a + lower_b − 2g)  ≤  D²  ≤  (1 + η)(upper_a + upper_b − 2g) ,
///     lower = (1 − c)‖ã‖² − 2r²/η ,   upper = (1 + c)‖ã‖² + 2r²/η ,
///
/// since D and ‖ã − b̃‖ differ by at most r_a + r_b, and (x ± y)² lies within (1 ± η)(x² ± y²/η).
struct PairRounding {
    cuda::PairNumbers numbers = cuda::PairNumbers::single;
    double eta = 0.0;
    double c = 0.0;

    PairRounding(Index dimensions, cuda::PairNumbers how) : numbers(how) {
        const bool tensor_cores = how != cuda::PairNumbers::single;
        eta = tensor_cores ? 5e-4 : 1e-6;
        // A sum of q terms in float loses at most q·2⁻²⁴ of their sizes; tensor cores cut where others round,
        // and cut each term to the exponent of the largest.
        const double unit = tensor_cores ? 0x1p-22 : 0x1p-23;
        c = static_cast<double>(dimensions + 8) * unit + 0x1p-20;
    }
};

/// The mean of all cells, and a power of two above all coordinates: moving and scaling the cells changes no
/// order, and leaves a float the digits that differ.
struct Frame {
    Vector centre;
    double scale = 1.0;

    explicit Frame(const Points& points) : centre(Vector::Zero(points.dimensions())) {
        const Index n = points.count();
        double largest = 0.0;
        if (points.is_sparse()) {
            const SparseView<double> X = points.columns();
            for (std::int64_t e = 0; e < X.start[n]; ++e) {
                centre[X.row[e]] += X.value[e] / static_cast<double>(n);
                largest = std::max(largest, std::abs(X.value[e]));
            }
        } else {
            for (Index j = 0; j < n; ++j) {
                centre += points.dense().col(j) / static_cast<double>(n);
                largest = std::max(largest, points.dense().col(j).cwiseAbs().maxCoeff());
            }
        }
        const double above = largest + centre.cwiseAbs().maxCoeff();
        scale = above > 0.0 ? std::exp2(-std::ceil(std::log2(above))) : 1.0;
    }

    void put(const Points& points, Index cell, Vector& written) const {
        points.coordinates(cell, written);
        written = (written - centre) * scale;
    }
};

/// Few coordinates stay in float. Of many, half precision is taken where it rounds hardly more than TF32
/// does: not where most coordinates are very small beside the largest. A few cells tell.
cuda::PairNumbers numbers_for(const Points& points, const Frame& frame) {
    if (points.dimensions() <= most_float_dimensions) {
        return cuda::PairNumbers::single;
    }
    double lost_by_tf32 = 0.0;
    double lost_by_half = 0.0;
    Vector written(points.dimensions());
    for (const Index cell : evenly_spaced(cells_that_tell, points.count())) {
        frame.put(points, cell, written);
        for (const double value : written) {
            const auto single = static_cast<float>(value);
            lost_by_tf32 += std::pow(value - static_cast<double>(to_tf32(single)), 2);
            lost_by_half += std::pow(value - static_cast<double>(to_half(single)), 2);
        }
    }
    return lost_by_half <= 1.1 * lost_by_tf32 ? cuda::PairNumbers::half : cuda::PairNumbers::tf32;
}

class CudaPairSearcher final : public PairSearcher {
  public:
    explicit CudaPairSearcher(const Points& points)
        : points_(points), frame_(points), rounding_(points.dimensions(), numbers_for(points, frame_)),
          unit_(1.0 / (frame_.scale * frame_.scale)), lower_(points.count()), upper_(points.count()),
          pairs_(points.dimensions(), points.count(), rounding_.numbers) {
        put_cells();
    }

    Index most() const override { return cuda::DevicePairs::most; }

    SearchedLists search(const PairQuery& query) override {
        const auto queries = std::ssize(query.cells);
        cuda::PairSelection wanted{.keep = 32,
                                   .farthest = query.farthest,
                                   .grouped = !query.group.empty(),
                                   .reach = query.reach,
                                   .among = query.among};
        while (wanted.keep < query.count) {
            wanted.keep *= 2;
        }
        if (wanted.grouped) {
            pairs_.set_groups(query.group);
        }
        SearchedLists lists;
        lists.count = wanted.keep;
        lists.cell.resize(static_cast<std::size_t>(queries * lists.count));
        lists.bound.resize(lists.cell.size());
        lists.beyond.resize(static_cast<std::size_t>(queries));
        lists.reach.resize(query.reach ? lists.beyond.size() : 0);
        std::vector<cuda::Entry> entries;
        std::vector<float> reach;
        for (Index first = 0; first < queries; first += cuda::DevicePairs::queries_at_once) {
            const Index count = std::min<Index>(cuda::DevicePairs::queries_at_once, queries - first);
            const auto cells =
                query.cells.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
            pairs_.search(cells, wanted, entries, reach);
            parallel_blocks(count, cells_of_item, [&](Index begin, Index end) {
                for (Index q = begin; q < end; ++q) {
                    put_list(cells[q], first + q, query.farthest, entries.data() + q * lists.count, lists);
                    if (query.reach) {
                        lists.reach[first + q] = upper_key(cells[q], reach[q]);
                    }
                }
            });
        }
        return lists;
    }

  private:
    double lower_key(Index cell, double key) const {
        return std::max(0.0, (1.0 - rounding_.eta) * (1.0 - margin) * (lower_[cell] + key)) * unit_;
    }
    double upper_key(Index cell, double key) const {
        return std::max(0.0, (1.0 + rounding_.eta) * (1.0 + margin) * (upper_[cell] + key)) * unit_;
    }

    void put_list(Index cell, Index query, bool farthest, const cuda::Entry* entries,
                  SearchedLists& lists) const {
        constexpr double infinity = std::numeric_limits<double>::infinity();
        double last = 0.0;
        for (Index r = 0; r < lists.count; ++r) {
            const Index at = query * lists.count + r;
            if (entries[r] == cuda::nobody) {
                lists.cell[at] = -1;
                last = farthest ? -infinity : infinity;
            } else {
                const auto key = static_cast<double>(cuda::key_of_entry(entries[r]));
                lists.cell[at] = cuda::cell_of_entry(entries[r]);
                last = farthest ? upper_key(cell, -key) : lower_key(cell, key);
            }
            lists.bound[at] = last;
        }
        lists.beyond[query] = last;
    }

    /// Rounds a cell into `out`, which has the padded length, and finds its bounds.
    void put_cell(Index cell, Vector& written, float* out) {
        const Index p = points_.dimensions();
        frame_.put(points_, cell, written);
        double square = 0.0;
        double error = 0.0;
        for (Index f = 0; f < p; ++f) {
            out[f] = rounded(static_cast<float>(written[f]), rounding_.numbers);
            const auto stored = static_cast<double>(out[f]);
            square += stored * stored;
            error += (written[f] - stored) * (written[f] - stored);
        }
        error += 0x1p-96 * square; // what the subtraction of the centre lost
        const double apart = 2.0 / rounding_.eta * error + smallest;
        lower_[cell] = (1.0 - rounding_.c) * square - apart;
        upper_[cell] = (1.0 + rounding_.c) * square + apart;
    }

    void put_cells() {
        const Index n = points_.count();
        const std::int64_t length = (points_.dimensions() + cuda::DevicePairs::padding - 1) /
                                    cuda::DevicePairs::padding * cuda::DevicePairs::padding;
        const std::int64_t staged = std::clamp<std::int64_t>(staged_bytes / (4 * length), 1, n);
        cuda::PinnedArray<float> stage(staged * length);
        for (Index first = 0; first < n; first += staged) {
            const Index count = std::min<Index>(staged, n - first);
            parallel_blocks(count, cells_of_item, [&](Index begin, Index end) {
                Vector written(points_.dimensions());
                for (Index j = begin; j < end; ++j) {
                    float* const out = stage.get() + j * length;
                    std::fill(out + points_.dimensions(), out + length, 0.0F);
                    put_cell(first + j, written, out);
                }
            });
            pairs_.put(first, count, stage.get());
        }
        std::vector<float> lower(static_cast<std::size_t>(n));
        std::vector<float> upper(static_cast<std::size_t>(n));
        for (Index j = 0; j < n; ++j) {
            lower[j] = std::nextafter(static_cast<float>(lower_[j]), -INFINITY);
            upper[j] = std::nextafter(static_cast<float>(upper_[j]), INFINITY);
        }
        pairs_.set_bounds(lower, upper);
    }

    const Points& points_;
    Frame frame_; ///< of coordinates on the device
    PairRounding rounding_;
    double unit_ = 1.0; ///< of their squares, in keys
    Vector lower_;      ///< of each cell, exactly; the device has them rounded outwards
    Vector upper_;
    cuda::DevicePairs pairs_;
};

} // namespace

std::unique_ptr<PairSearcher> make_cuda_searcher(const Points& points) {
    return std::make_unique<CudaPairSearcher>(points);
}

double cuda_search_bytes(Index dimensions, Index cells) {
    return cuda::DevicePairs::bytes(dimensions, cells) + cuda::bytes_of_libraries;
}

} // namespace pnmf
