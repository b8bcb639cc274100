# NMF by RcppML: Rscript nmf.R MATRIX.mtx RANK THREADS ITERATIONS OUT
# Writes W and H (scaled so that W·H is the product) as text; prints user and elapsed seconds of the solve.
arguments <- commandArgs(TRUE)
suppressMessages({ library(Matrix); library(RcppML) })
X <- as(readMM(arguments[1]), "CsparseMatrix")
setRcppMLthreads(as.integer(arguments[3]))
time <- system.time(model <- nmf(X, as.integer(arguments[2]), tol = 0, maxit = as.integer(arguments[4]), verbose = FALSE, seed = 1))
if (isS4(model)) { w <- model@w; d <- model@d; h <- model@h } else { w <- model$w; d <- model$d; h <- model$h }
write.table(w %*% diag(d), paste0(arguments[5], ".W"), row.names = FALSE, col.names = FALSE)
write.table(h, paste0(arguments[5], ".H"), row.names = FALSE, col.names = FALSE)
cat(time[["user.self"]] + time[["sys.self"]], time[["elapsed"]], "\n")
