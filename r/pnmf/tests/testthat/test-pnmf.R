# Three types of cells that differ clearly.
made_up <- function() {
  set.seed(1)
  types <- rep(1:3, each = 30)
  means <- matrix(rgamma(3 * 200, shape = 0.3), 200, 3)
  counts <- matrix(rpois(200 * 90, 5 * means[, types]), 200, 90)
  counts <- counts[rowSums(counts) > 0, ]
  dimnames(counts) <- list(paste0("g", seq_len(nrow(counts))), paste0("c", 1:90))
  list(counts = counts, types = types)
}

# The share of cells in groups of `a` that are mostly of one group of `b`.
purity <- function(a, b) sum(apply(table(a, b), 1, max)) / length(b)

same_groups <- function(a, b) all(rowSums(table(a, b) > 0) == 1) && all(colSums(table(a, b) > 0) == 1)

test_that("types that differ clearly are found", {
  data <- made_up()
  result <- pnmf(data$counts, rank = 6, clusters = 3, threads = 1)
  expect_s3_class(result, "pnmf")
  expect_true(same_groups(result$clusters, data$types))
  expect_equal(dim(result$embedding), c(90, 6))
  expect_equal(rownames(result$embedding), colnames(data$counts))
  expect_true(all(result$embedding >= 0))
  expect_equal(nrow(result$scales), length(result$embeddings))
})

test_that("sparse and dense matrices give the same numbers", {
  data <- made_up()
  dense <- pnmf(data$counts, rank = 6, clusters = 3, threads = 1)
  sparse <- pnmf(Matrix::Matrix(data$counts, sparse = TRUE), rank = 6, clusters = 3, threads = 1)
  expect_equal(sparse$embedding, dense$embedding, tolerance = 1e-4)
})

test_that("results do not depend on the number of threads", {
  data <- made_up()
  expect_identical(
    pnmf(data$counts, rank = 4, clusters = 3, threads = 1)$embedding,
    pnmf(data$counts, rank = 4, clusters = 3, threads = 2)$embedding
  )
})

test_that("wrong input is an error that says what is wrong", {
  expect_error(pnmf(matrix(-1, 5, 5)), "below 0|negative")
  expect_error(pnmf(made_up()$counts, lambda9 = 1), "lambda9 is no option")
  expect_error(pnmf(made_up()$counts, metric = "manhattan"), "metric must be one of")
  expect_error(pnmf(matrix("a", 2, 2)), "numbers")
  expect_error(pnmf(made_up()$counts, without_loop = 9), "there is no loop 9 to leave out")
})

test_that("numbers are checked before they are used", {
  counts <- made_up()$counts
  expect_error(pnmf(counts, rank = 2.7), "rank must be a single whole number, got 2.7")
  expect_error(pnmf(counts, rank = "six"), "rank must be a single whole number")
  expect_error(pnmf(counts, rank = c(3, 4)), "rank must be a single whole number")
  expect_error(pnmf(counts, seed = -1), "seed must be a single whole number, at least 0, got -1")
  expect_error(pnmf(counts, seed = NA), "seed must be a single whole number")
  expect_error(pnmf(counts, seed = 1e300), "seed must be a single whole number")
  expect_error(pnmf(counts, lambda1 = NA_real_), "lambda1 must be a single number")
  expect_error(pnmf(counts, clusters = "abc"), "clusters must be a whole number, at least 1")
  expect_error(pnmf(counts, clusters = 2.5), "clusters must be a whole number, at least 1, got 2.5")
  expect_error(pnmf(counts, clusters = NA), "clusters must be a whole number")
  expect_error(pnmf(counts, threads = -1), "threads must be a whole number")
})

test_that("options reach the fit", {
  result <- pnmf(made_up()$counts, rank = 4, max_scales = 3, clusters = 3, threads = 1, preset = "paper")
  expect_equal(nrow(result$scales), 3)
})

test_that("a SingleCellExperiment gets embedding and clusters", {
  skip_if_not_installed("SingleCellExperiment")
  data <- made_up()
  object <- SingleCellExperiment::SingleCellExperiment(list(counts = data$counts))
  object <- pnmf(object, rank = 6, clusters = 3, threads = 1)
  expect_equal(dim(SingleCellExperiment::reducedDim(object, "PNMF")), c(90, 6))
  expect_true(same_groups(object$pnmf_clusters, data$types))
  expect_equal(nrow(programs(object, 2)), 12)
  object$x <- runif(90)
  object$y <- data$types + runif(90)
  object <- pnmf(object, rank = 6, domains = 3, places = c("x", "y"), threads = 1)
  expect_gt(purity(object$pnmf_domains, data$types), 0.8)
})

test_that("values of a Seurat object are asked for as its version names them", {
  # Stand-ins: each knows the argument of its version alone.
  before_5 <- function(object, assay, slot) c(assay, "slot", slot)
  from_5 <- function(object, assay, layer) c(assay, "layer", layer)
  ask <- function(get, version) pnmf:::seurat_values(NULL, "RNA", "counts", get, package_version(version))
  expect_equal(ask(before_5, "4.1.4"), c("RNA", "slot", "counts"))
  expect_equal(ask(from_5, "5.0.0"), c("RNA", "layer", "counts"))
  expect_equal(ask(from_5, "5.3.1"), c("RNA", "layer", "counts"))
  expect_error(ask(before_5, "5.0.0"), "unused argument")
})

test_that("a Seurat object gets a reduction and clusters", {
  skip_if_not_installed("SeuratObject")
  data <- made_up()
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(Matrix::Matrix(data$counts, sparse = TRUE)))
  object <- pnmf(object, rank = 6, clusters = 3, threads = 1)
  expect_equal(dim(SeuratObject::Embeddings(object, "pnmf")), c(90, 6))
  expect_true(same_groups(object$pnmf_clusters, data$types))
  expect_equal(nrow(programs(object, 2)), 12)
  object$donor <- rep(c("one", "two"), 45)
  expect_true(same_groups(pnmf(object, rank = 6, clusters = 3, batch = "donor", threads = 1)$pnmf_clusters, data$types))
})

test_that("programs and other cells are in the numbers of the fit", {
  data <- made_up()
  fit <- pnmf(data$counts, rank = 6, clusters = 3, threads = 1)
  listed <- programs(fit, 4)
  expect_equal(nrow(listed), 4 * 6)
  best <- listed[listed$rank == 1, ]
  expect_equal(unname(top_genes(fit, 1)[as.integer(sub("P", "", best$program))]), best$gene)
  again <- transform_cells(fit, data$counts, threads = 1)
  expect_equal(dimnames(again), dimnames(fit$embedding))
  # Without their neighbours the cells of the fit are near their places, not at them.
  expect_gt(cor(as.vector(again), as.vector(fit$embedding)), 0.9)
  expect_warning(transform_cells(fit, data$counts[-(1:3), ], threads = 1), "3 genes of the fit are missing")
  expect_error(programs(list()), "what pnmf\\(\\) returned")
})

test_that("the stored result is a file that makes the page, and survives being saved", {
  data <- made_up()
  fit <- pnmf(data$counts, rank = 4, clusters = 3, threads = 1)
  page <- tempfile(fileext = ".html")
  write_report(fit, page, data$counts, name = "mine")
  expect_match(paste(readLines(page, warn = FALSE, n = 6), collapse = ""), "<!doctype html>", fixed = TRUE)
  plain <- tempfile(fileext = ".html")
  write_report(fit, plain)
  expect_gt(file.size(page), file.size(plain)) # genes
  expect_error(write_report(fit, page, data$counts[, 90:1]), "not the data of the fit")
  saved <- tempfile(fileext = ".rds")
  saveRDS(fit, saved)
  expect_equal(programs(readRDS(saved)), programs(fit))
  path <- tempfile(fileext = ".h5ad")
  write_result(fit, path)
  expect_equal(readBin(path, "raw", 4)[2:4], charToRaw("HDF"))
})

test_that("a stored result is read as the fit that it was", {
  data <- made_up()
  fit <- pnmf(data$counts, rank = 4, threads = 1)
  path <- tempfile(fileext = ".h5ad")
  write_result(fit, path)
  read <- read_result(path)
  for (part in setdiff(names(fit), "call")) expect_equal(read[[part]], fit[[part]], tolerance = 1e-6, info = part)
  expect_equal(programs(read), programs(fit))
  three <- pnmf(data$counts, rank = 4, clusters = 3, threads = 1)
  write_result(three, path)
  expect_equal(read_result(path)$resolutions$clusters, 3)
  expect_error(read_result(tempfile()), "no such result")
  writeLines("a,b", path)
  expect_error(read_result(path), "HDF5")
})

# The mean resultant of the differences of two lists of angles, for the better direction.
agreement <- function(a, b) max(Mod(mean(exp(1i * (a - b)))), Mod(mean(exp(1i * (a + b)))))

test_that("loops have phases, genes and a p-value", {
  set.seed(1)
  angle <- runif(200, 0, 2 * pi)
  peaks <- runif(60, 0, 2 * pi)
  counts <- matrix(rpois(60 * 200, 20 * exp(0.8 * cos(outer(peaks, angle, "-")))), 60, dimnames = list(paste0("g", 1:60), paste0("c", 1:200)))
  found <- find_loops(counts, clouds = 19, threads = 1)
  expect_equal(found$loops$p_value, 0.05)
  expect_equal(rownames(found$phases), colnames(counts))
  expect_gt(agreement(found$phases[, "loop_1"], angle), 0.9)
  genes <- found$genes$loop_1
  expect_equal(nrow(genes), 60)
  expect_false(is.unsorted(-genes$share))
  expect_gt(agreement(genes$peak, peaks[as.integer(sub("g", "", genes$gene))]), 0.9)
  loops <- found$diagram[found$diagram$dimension == 1, ]
  expect_equal(max(loops$death - loops$birth), found$loops$persistence)
  turned <- find_loops(counts, clouds = 19, genes_zero = genes$gene[1], threads = 1)
  expect_equal(cos(turned$genes$loop_1$peak[1]), 1)
  expect_gt(agreement(find_loops(counts, space = cbind(cos(angle), sin(angle)), clouds = 19)$phases, angle), 0.98)
  none <- find_loops(matrix(rpois(60 * 200, 20), 60), clouds = 19, threads = 1)
  expect_equal(dim(none$phases), c(200, 0))
  expect_equal(nrow(none$loops), 0)
  expect_error(find_loops(counts, genes_zero = "nobody"), "'nobody' is none of the 60 genes")
  expect_error(find_loops(counts, space = diag(3)), "a row for each of the 200 cells, got 3")
})

test_that("batches are balanced, and need a value for each cell", {
  data <- made_up()
  batch <- rep(c("one", "two"), 45)
  shifted <- data$counts * (1 + 3 * (rep(seq_len(nrow(data$counts)) %% 5 == 0, 90) & rep(batch == "two", each = nrow(data$counts))))
  fit <- pnmf(shifted, rank = 6, clusters = 3, batch = batch, threads = 1, preset = "cells")
  expect_gt(purity(fit$clusters, data$types), 0.9)
  expect_false(identical(fit$embedding, pnmf(shifted, rank = 6, clusters = 3, threads = 1, preset = "cells")$embedding))
  expect_error(pnmf(shifted, batch = "one"), "a value for each of the 90 cells, got 1")
})

test_that("cells in a tissue have domains, also in two slices", {
  data <- made_up()
  places <- cbind(runif(90), data$types + runif(90))
  fit <- pnmf(data$counts, rank = 6, clusters = 3, domains = 3, places = places, threads = 1)
  expect_equal(nlevels(fit$domains), 3)
  expect_gt(purity(fit$domains, data$types), 0.8)
  expect_true("moran" %in% names(programs(fit, 1)))
  slices <- pnmf(data$counts, rank = 6, domains = 3, places = places, sample = rep(1:2, 45), threads = 1)
  expect_equal(nlevels(slices$domains), 3)
  expect_error(pnmf(data$counts, places = places, space = "pca:5"), "give one of them")
  expect_error(pnmf(data$counts, places = places[-1, ]), "places must have a row for each of the 90 cells, got 89")
})

test_that("paths begin at their root and lead to the other groups", {
  data <- made_up()
  fit <- pnmf(data$counts, rank = 6, clusters = 3, preset = "cells", threads = 1)
  found <- find_paths(fit, root = "c1", ends = c("b", "c"), groups = letters[data$types])
  expect_equal(unname(found$time["c1"]), 0)
  expect_equal(colnames(found$fates), c("b", "c"))
  expect_equal(unname(rowSums(found$fates)), rep(1, 90), tolerance = 1e-6)
  expect_error(find_paths(fit, root = "nobody"), "nobody")
})

test_that("the rank of three types is about three", {
  found <- choose_rank(made_up()$counts, ranks = c(2, 3, 6), restarts = 3, threads = 1)
  expect_equal(found$curve$rank, c(2, 3, 6))
  expect_true(found$chosen %in% c(3, 6))
  expect_error(choose_rank(made_up()$counts, ranks = 0), "ranks must be a whole number")
})
