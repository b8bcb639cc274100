#include "linalg/lanczos.hpp"

#include <pnmf/error.hpp>
#include <pnmf/linalg/random.hpp>

#include <Spectra/SymEigsSolver.h>

#include <algorithm>
#include <stdexcept>

namespace pnmf {
namespace {

/// The operator as Spectra asks for it.
class Operator {
  public:
    using Scalar = double;

    Operator(Index side, const SymmetricProduct& apply) : side_(side), apply_(apply) {}

    Index rows() const { return side_; }
    Index cols() const { return side_; }
    void perform_op(const double* in, double* out) const { apply_(in, out); }

  private:
    Index side_;
    const SymmetricProduct& apply_;
};

} // namespace

Matrix leading_eigenvectors(Index side, const SymmetricProduct& apply, Index rank, double tolerance) {
    const Index basis = std::min(side, std::max<Index>(2 * rank + 10, 30));
    Operator matrix(side, apply);
    Spectra::SymEigsSolver<Operator> solver(matrix, rank, basis);
    Random random(1);
    const Vector start = Vector::NullaryExpr(side, [&] { return random.uniform(); });
    solver.init(start.data());
    solver.compute(Spectra::SortRule::LargestAlge, 1000, tolerance, Spectra::SortRule::LargestAlge);
    if (solver.info() != Spectra::CompInfo::Successful) { // no fault of the input
        throw std::runtime_error(fmt::format(
            "the leading {} singular vectors could not be computed; a smaller rank may help", rank));
    }
    return solver.eigenvectors();
}

std::optional<double> largest_eigenvalue(Index side, const SymmetricProduct& apply) {
    const Index basis = std::min<Index>(side, 40);
    Operator matrix(side, apply);
    Spectra::SymEigsSolver<Operator> solver(matrix, 1, basis);
    try {
        solver.init();
        solver.compute(Spectra::SortRule::LargestAlge, 300, 1e-9);
    } catch (const std::runtime_error&) { // Spectra's way to say that its small problem could not be solved
        return std::nullopt;
    }
    if (solver.info() != Spectra::CompInfo::Successful) {
        return std::nullopt;
    }
    return solver.eigenvalues()(0);
}

} // namespace pnmf
