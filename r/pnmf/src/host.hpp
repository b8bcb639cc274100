#ifndef PNMF_R_HOST_HPP
#define PNMF_R_HOST_HPP

#include <Rcpp.h>

#include <pnmf/analysis/preset.hpp>
#include <pnmf/io/dataset.hpp>

#include <string>
#include <vector>

/// What R holds, as the library takes it.
namespace pnmf_r {

/// Genes × cells in R's memory; both kinds of matrix are stored by columns, as the library has them.
pnmf::Dataset dataset_of(SEXP X, const Rcpp::CharacterVector& genes, const Rcpp::CharacterVector& cells);

/// What the user set, about the input and about the fit.
pnmf::AnalysisOptions analysis_options(const Rcpp::List& asked, const Rcpp::List& options);

/// A row for each column of the matrix, with these names; columns PNMF_1, PNMF_2, ….
template <class Real>
Rcpp::NumericMatrix transposed(const pnmf::DenseMatrix<Real>& matrix, const std::vector<std::string>& names);

/// Whether the user pressed Ctrl-C or Escape; R would otherwise jump out of C++ without destructors.
bool interrupted();

} // namespace pnmf_r

#endif
