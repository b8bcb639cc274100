library(testthat)
library(pnmf)
test_check("pnmf")
