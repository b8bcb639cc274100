#pragma once

#include "devices/cuda/component_shifts.hpp"
#include "devices/cuda/device_memory.hpp"
#include "devices/cuda/measures.hpp"
#include "devices/cuda/shape.hpp"

#include <pnmf/model/objective.hpp>

#include <vector>

/// What backends of one process and of several hold on the device.
namespace pnmf::cuda {

/// W and H of every scale on the device; empty where there is no such point.
template <class Real>
struct DevicePoint {
    DeviceArray<Real> W;
    DeviceArray<Real> H;
};

/// What the steps of a point share, every scale. Degrees do not depend on the point and stand apart.
template <class Real>
struct DeviceProducts {
    DeviceArray<Real> WtX;
    DeviceArray<Real> WtW;
    DeviceArray<Real> HA;

    void allocate(const Shape& shape) {
        WtX.allocate(shape.stacked());
        WtW.allocate(shape.grams());
        HA.allocate(shape.stacked());
    }
};

/// `ScalePenalty` of every scale on the device, in the precision of the numbers and exactly.
template <class Real>
class DevicePenalties {
  public:
    explicit DevicePenalties(const std::vector<ScalePenalty>& penalties) {
        std::vector<double> fit;
        std::vector<double> graph;
        std::vector<double> anchor;
        std::vector<double> before;
        for (const ScalePenalty& penalty : penalties) {
            fit.push_back(penalty.fit);
            graph.push_back(penalty.graph);
            anchor.push_back(penalty.anchor);
            before.push_back(penalty.before);
        }
        before.push_back(0.0); // after the last scale
        exact_anchor_.upload(anchor);
        exact_before_.upload(before);
        round(fit, fit_);
        round(graph, graph_);
        round(anchor, anchor_);
        round(before, before_);
    }

    Penalties<Real> rounded() const { return {fit_.get(), graph_.get(), anchor_.get(), before_.get()}; }
    ExactPenalties exact() const { return {exact_anchor_.get(), exact_before_.get()}; }

  private:
    static void round(const std::vector<double>& values, DeviceArray<Real>& to) {
        to.upload(std::vector<Real>(values.begin(), values.end()));
    }

    DeviceArray<Real> fit_;
    DeviceArray<Real> graph_;
    DeviceArray<Real> anchor_;
    DeviceArray<Real> before_;
    DeviceArray<double> exact_anchor_;
    DeviceArray<double> exact_before_;
};

/// The terms of the objective from sums over all cells, scale by scale.
inline std::vector<Objective> terms_from(const std::vector<ScalePenalty>& penalties, double squared_norm_X,
                                         const std::vector<AllSums>& sums) {
    std::vector<Objective> terms;
    for (std::size_t t = 0; t < sums.size(); ++t) {
        const ScalePenalty& penalty = penalties[t];
        const TermSums& of_scale = sums[t].terms;
        terms.push_back(
            {.fit = penalty.fit * squared_norm_X - 2.0 * of_scale.fit_linear + of_scale.fit_quadratic,
             .graph = penalty.graph * (of_scale.weighted - of_scale.joined),
             .smoothness = penalty.before * of_scale.steps,
             .anchor = penalty.anchor * of_scale.size});
    }
    return terms;
}

inline std::vector<Movement> movements_from(const std::vector<AllSums>& sums) {
    std::vector<Movement> moved;
    for (const AllSums& of_scale : sums) {
        moved.push_back({of_scale.moved, of_scale.size});
    }
    return moved;
}

inline Objective sum(const std::vector<Objective>& terms) {
    Objective total;
    for (const Objective& term : terms) {
        total = total + term;
    }
    return total;
}

} // namespace pnmf::cuda
