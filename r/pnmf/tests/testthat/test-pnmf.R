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
})
