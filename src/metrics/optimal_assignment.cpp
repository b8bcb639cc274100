#include <pnmf/metrics/clustering_scores.hpp>

#include <pnmf/error.hpp>

#include <limits>

namespace pnmf {
namespace {

/// The state of the dual method: prices u of rows and v of columns with cost(i, j) − u_i − v_j ≥ 0, and
/// equality on the pairs matched so far.
struct Matching {
    Vector u;
    Vector v;
    std::vector<Index> row_of; ///< row matched with each column, −1 when free
};

/// Matches one more row: Dijkstra on reduced costs to the nearest free column, then the path is turned over.
void augment(const Matrix& cost, Index start, Matching& state) {
    const Index cols = cost.cols();
    Vector distance = Vector::Constant(cols, std::numeric_limits<double>::infinity());
    std::vector<Index> reached_from(static_cast<std::size_t>(cols),
                                    -1); // the column before, −1: from `start`
    std::vector<bool> done(static_cast<std::size_t>(cols), false);
    std::vector<Index> visited;
    Index column = -1;
    Index row = start;
    double length = 0.0;
    for (;;) {
        Index next = -1;
        for (Index j = 0; j < cols; ++j) {
            if (done[j]) {
                continue;
            }
            const double through = length + cost(row, j) - state.u(row) - state.v(j);
            if (through < distance(j)) {
                distance(j) = through;
                reached_from[j] = column;
            }
            if (next < 0 || distance(j) < distance(next)) {
                next = j;
            }
        }
        column = next;
        length = distance(column);
        if (state.row_of[column] < 0) {
            break;
        }
        done[column] = true;
        visited.push_back(column);
        row = state.row_of[column];
    }
    state.u(start) += length;
    for (const Index j : visited) {
        state.u(state.row_of[j]) += length - distance(j);
        state.v(j) -= length - distance(j);
    }
    while (column >= 0) {
        const Index before = reached_from[column];
        state.row_of[column] = before < 0 ? start : state.row_of[before];
        column = before;
    }
}

} // namespace

std::vector<Index> optimal_assignment(const Matrix& cost) {
    require(cost.rows() <= cost.cols(), "an assignment needs at least as many columns as rows, got {} x {}",
            cost.rows(), cost.cols());
    require(cost.allFinite(), "an assignment needs finite costs");
    Matching state{.u = Vector::Zero(cost.rows()),
                   .v = Vector::Zero(cost.cols()),
                   .row_of = std::vector<Index>(static_cast<std::size_t>(cost.cols()), -1)};
    for (Index i = 0; i < cost.rows(); ++i) {
        augment(cost, i, state);
    }
    std::vector<Index> result(static_cast<std::size_t>(cost.rows()), -1);
    for (Index j = 0; j < cost.cols(); ++j) {
        if (state.row_of[j] >= 0) {
            result[state.row_of[j]] = j;
        }
    }
    return result;
}

} // namespace pnmf
