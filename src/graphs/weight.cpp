#include <pnmf/error.hpp>
#include <pnmf/graphs/multiscale_graph.hpp>

namespace pnmf {

EdgeWeight::EdgeWeight(double epsilon, double alpha) : epsilon_(epsilon), negative_rate_(0.0) {
    require(std::isfinite(epsilon) && epsilon > 0.0, "a scale must be finite and positive, got {}", epsilon);
    check_alpha(alpha);
    const double power = std::pow(epsilon, alpha);
    negative_rate_ = -1.0 / power;
    require(std::isnormal(power) && std::isnormal(negative_rate_),
            "epsilon^alpha must be within the range of a double, got {} for epsilon {} and alpha {}", power,
            epsilon, alpha);
}

void check_alpha(double alpha) {
    require(std::isfinite(alpha) && alpha > 0.0, "alpha must be finite and positive, got {}", alpha);
}

} // namespace pnmf
