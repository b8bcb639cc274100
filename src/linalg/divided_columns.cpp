#include "linalg/divided_columns.hpp"

#include "over_ranks.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace pnmf {
namespace {

/// Rows that are reduced together. A multiple of the numbers that Eigen takes at once, so that a row is in
/// the same place of a group of them as in the whole matrix.
constexpr Index rows_at_once = 4;

template <class Value>
void exchange(Communicator& ranks, std::span<const std::span<const Value>> to,
              std::span<const std::span<Value>> from) {
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    for (int r = 0; r < ranks.size(); ++r) {
        if (r == ranks.rank()) {
            std::copy(to[r].begin(), to[r].end(), from[r].begin());
            continue;
        }
        if (!to[r].empty()) {
            sends.push_back({r, std::as_bytes(to[r])});
        }
        if (!from[r].empty()) {
            receives.push_back({r, std::as_writable_bytes(from[r])});
        }
    }
    ranks.exchange(sends, receives);
}

CellRange overlap(const CellRange& a, const CellRange& b) {
    const Index first = std::max(a.first, b.first);
    return {first, std::max<Index>(0, std::min(a.past(), b.past()) - first), a.all};
}

/// The part of columns that begin with cell `first`.
template <class Number>
std::span<Number> part_of(Number* columns, Index rows, Index first, const CellRange& cells) {
    return cells.count == 0 ? std::span<Number>()
                            : std::span<Number>(columns + rows * (cells.first - first),
                                                static_cast<std::size_t>(rows * cells.count));
}

} // namespace

DividedColumns::DividedColumns(const Matrix& mine, const CellRange& held, Communicator& ranks)
    : DividedColumns(view_of(mine), held, ranks) {}

DividedColumns::DividedColumns(const DenseView<double>& mine, const CellRange& held, Communicator& ranks)
    : mine_(mine.data()), rows_(mine.rows()), held_(held), ranks_of_all_(ranks),
      ranges_(gather_one(ranks, held)) {
    assert(mine.cols() == held.count);
}

int DividedColumns::rank_of(Index cell) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), cell,
                                        [](Index c, const CellRange& range) { return c < range.past(); });
    return static_cast<int>(after - ranges_.begin());
}

Matrix DividedColumns::fetch(std::span<const Index> cells) const {
    const auto size = static_cast<std::size_t>(ranks_of_all_.size());
    std::vector<Index> order(cells.size()); // wishes, those of one rank after those of another
    std::iota(order.begin(), order.end(), Index{0});
    const bool ascending = std::is_sorted(cells.begin(), cells.end());
    if (!ascending) {
        std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return cells[a] < cells[b]; });
    }
    std::vector<Index> wanted;
    std::vector<Index> from_rank(size, 0);
    wanted.reserve(cells.size());
    for (const Index place : order) {
        wanted.push_back(cells[place]);
        ++from_rank[rank_of(cells[place])];
    }
    const std::vector<Index> counts = gather_to_all(ranks_of_all_, std::span<const Index>(from_rank),
                                                    std::vector<Index>(size, std::ssize(from_rank)));
    std::vector<std::vector<Index>> asked(size); // of this rank, by each
    std::vector<std::span<const Index>> wishes;
    std::vector<std::span<Index>> asked_here;
    Index next = 0;
    for (std::size_t r = 0; r < size; ++r) {
        asked[r].resize(static_cast<std::size_t>(counts[r * size + ranks_of_all_.rank()]));
        asked_here.emplace_back(asked[r]);
        wishes.push_back(std::span<const Index>(wanted).subspan(next, from_rank[r]));
        next += from_rank[r];
    }
    exchange<Index>(ranks_of_all_, wishes, asked_here);

    Matrix found(rows_, std::ssize(cells));
    std::vector<Matrix> answers(size);
    std::vector<std::span<const double>> sent;
    std::vector<std::span<double>> received;
    next = 0;
    for (std::size_t r = 0; r < size; ++r) {
        answers[r].resize(rows_, std::ssize(asked[r]));
        for (Index a = 0; a < std::ssize(asked[r]); ++a) {
            answers[r].col(a) = mine().col(asked[r][a] - held_.first);
        }
        sent.emplace_back(answers[r].data(), static_cast<std::size_t>(answers[r].size()));
        received.emplace_back(found.data() + rows_ * next, static_cast<std::size_t>(rows_ * from_rank[r]));
        next += from_rank[r];
    }
    exchange<double>(ranks_of_all_, sent, received);
    if (ascending) {
        return found;
    }
    Matrix result(rows_, std::ssize(cells));
    for (Index place = 0; place < std::ssize(order); ++place) {
        result.col(order[place]) = found.col(place);
    }
    return result;
}

Matrix DividedColumns::moved(const std::vector<CellRange>& to) const {
    const CellRange& target = to[ranks_of_all_.rank()];
    Matrix result(rows_, target.count);
    std::vector<std::span<const double>> sent;
    std::vector<std::span<double>> received;
    for (int r = 0; r < ranks_of_all_.size(); ++r) {
        sent.push_back(part_of(mine_, rows_, held_.first, overlap(held_, to[r])));
        received.push_back(part_of(result.data(), rows_, target.first, overlap(ranges_[r], target)));
    }
    exchange<double>(ranks_of_all_, sent, received);
    return result;
}

Matrix DividedColumns::gathered(std::optional<int> only) const {
    std::vector<CellRange> to;
    for (int r = 0; r < ranks_of_all_.size(); ++r) {
        const bool wants = !only || *only == r;
        to.push_back(wants ? CellRange{0, count(), count()} : CellRange{count(), 0, count()});
    }
    return moved(to);
}

Vector DividedColumns::of_rows(const std::function<Vector(const Matrix&)>& reduce) const {
    Vector result(rows_);
    const auto group_rows = [&](Index first) { return std::min(rows_at_once, rows_ - first); };
    for (Index first = 0, group = 0; first < rows_; first += rows_at_once, ++group) {
        const Matrix some = mine().middleRows(first, group_rows(first));
        const Matrix all =
            DividedColumns(some, held_, ranks_of_all_).gathered(dealt_to(ranks_of_all_, group));
        if (is_mine(ranks_of_all_, group)) {
            result.segment(first, group_rows(first)) = reduce(all);
        }
    }
    for (Index first = 0, group = 0; first < rows_; first += rows_at_once, ++group) {
        broadcast(ranks_of_all_,
                  std::span(result.data() + first, static_cast<std::size_t>(group_rows(first))),
                  dealt_to(ranks_of_all_, group));
    }
    return result;
}

} // namespace pnmf
