#include "report/plane.hpp"

#include "linalg/decompositions.hpp"

#include <pnmf/model/objective.hpp>

#include <cmath>

namespace pnmf::report {
namespace {

std::vector<std::uint16_t> quantised(const Eigen::RowVectorXd& values, double low, double high) {
    std::vector<std::uint16_t> result(static_cast<std::size_t>(values.size()), 0);
    if (high > low) {
        for (Index j = 0; j < values.size(); ++j) {
            result[static_cast<std::size_t>(j)] =
                static_cast<std::uint16_t>(std::lround((values[j] - low) / (high - low) * 65535.0));
        }
    }
    return result;
}

} // namespace

Plane common_plane(const std::function<Matrix(Index)>& embedding, const std::vector<Index>& scales,
                   Index rank) {
    Plane plane;
    plane.centre = Vector::Zero(rank);
    plane.directions = Matrix::Zero(rank, 2);
    plane.directions.topLeftCorner(std::min<Index>(rank, 2), std::min<Index>(rank, 2)).setIdentity();
    if (rank <= 2) {
        return plane;
    }
    Matrix second = Matrix::Zero(rank, rank);
    Vector sum = Vector::Zero(rank);
    double count = 0.0;
    for (const Index t : scales) {
        const Matrix H = embedding(t);
        second += gram_of_rows(H);
        sum += H.rowwise().sum();
        count += static_cast<double>(H.cols());
    }
    plane.centre = sum / count;
    const Matrix covariance = second / count - plane.centre * plane.centre.transpose();
    const SymmetricEigen eigen = symmetric_eigen(covariance);
    const double total = eigen.values.cwiseMax(0.0).sum();
    for (Index axis = 0; axis < 2; ++axis) {
        plane.directions.col(axis) = eigen.vectors.col(rank - 1 - axis);
        Index largest = 0;
        plane.directions.col(axis).cwiseAbs().maxCoeff(&largest);
        if (plane.directions(largest, axis) < 0.0) {
            plane.directions.col(axis) *= -1.0;
        }
        const double value = std::max(0.0, eigen.values[rank - 1 - axis]);
        plane.share[static_cast<std::size_t>(axis)] = total > 0.0 ? value / total : 0.0;
    }
    return plane;
}

ScalePositions quantised_positions(const Plane& plane, const Matrix& H) {
    const Matrix at = plane.directions.transpose() * (H.colwise() - plane.centre);
    ScalePositions result;
    result.box = {at.row(0).minCoeff(), at.row(1).minCoeff(), at.row(0).maxCoeff(), at.row(1).maxCoeff()};
    result.x = quantised(at.row(0), result.box[0], result.box[2]);
    result.y = quantised(at.row(1), result.box[1], result.box[3]);
    return result;
}

PositionCoder::PositionCoder(Index cells)
    : x_(static_cast<std::size_t>(cells), 0), y_(static_cast<std::size_t>(cells), 0) {}

void PositionCoder::add(const ScalePositions& positions) {
    add_axis(positions.x, x_);
    add_axis(positions.y, y_);
}

void PositionCoder::add_axis(const std::vector<std::uint16_t>& values, std::vector<std::uint16_t>& before) {
    for (std::size_t j = 0; j < values.size(); ++j) {
        const auto step = static_cast<std::int16_t>(static_cast<std::uint16_t>(values[j] - before[j]));
        const auto wide = static_cast<std::int32_t>(step);
        const auto zigzag = static_cast<std::uint32_t>(wide < 0 ? -2 * wide - 1 : 2 * wide);
        low_.push_back(static_cast<std::uint8_t>(zigzag & 255U));
        high_.push_back(static_cast<std::uint8_t>(zigzag >> 8U));
        before[j] = values[j];
    }
}

std::vector<std::uint8_t> PositionCoder::bytes() const {
    std::vector<std::uint8_t> all = low_;
    all.insert(all.end(), high_.begin(), high_.end());
    return all;
}

} // namespace pnmf::report
