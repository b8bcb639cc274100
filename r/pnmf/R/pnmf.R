#' Groups of cells and gene programs at several scales
#'
#' See man/pnmf.Rd; the pages are written by hand.
pnmf <- function(x, ...) UseMethod("pnmf")

# The matrix as the C++ side takes it: genes x cells, a dense matrix of doubles or a dgCMatrix.
core_matrix <- function(x) {
  if (is.data.frame(x)) {
    x <- as.matrix(x)
  }
  if (is.matrix(x)) {
    if (!is.numeric(x)) {
      stop("x must be a matrix of numbers, genes x cells", call. = FALSE)
    }
    storage.mode(x) <- "double"
    return(x)
  }
  as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
}

names_or <- function(names, count, word) {
  if (is.null(names)) paste0(word, seq_len(count)) else as.character(names)
}

# A whole number from 1, as an integer; 0 for NULL.
count_or_zero <- function(value, name) {
  if (is.null(value)) {
    return(0L)
  }
  if (!is.numeric(value) || length(value) != 1 || !is.finite(value) || value != floor(value) || value < 1 ||
    value > .Machine$integer.max) {
    stop(name, " must be a whole number, at least 1, got ", deparse(value)[1], call. = FALSE)
  }
  as.integer(value)
}

# x: genes x cells. space: coordinates of the cells, cells x dimensions, from which distances are taken.
pnmf.default <- function(x, rank = NULL, clusters = NULL, preset = "auto", normalize = NULL, genes = NULL,
                         space = NULL, threads = NULL, verbose = interactive(), without_loop = NULL, ...) {
  x <- core_matrix(x)
  options <- list(...)
  if (length(options) > 0 && (is.null(names(options)) || any(names(options) == ""))) {
    stop("further options must have names, such as lambda1 = 3", call. = FALSE)
  }
  if (!is.null(rank)) {
    options$rank <- rank
  }
  coordinates <- matrix(0, 0, 0)
  asked <- list(preset = preset)
  if (!is.null(normalize)) asked$normalize <- normalize
  if (!is.null(without_loop)) asked$without_loop <- as.character(count_or_zero(without_loop, "without_loop"))
  if (!is.null(genes)) asked$genes <- as.character(genes)
  if (is.character(space)) {
    asked$space <- space
  } else if (!is.null(space)) {
    coordinates <- t(as.matrix(space))
    storage.mode(coordinates) <- "double"
    asked$space <- "obsm:space"
  }
  result <- pnmf_fit(
    x, names_or(rownames(x), nrow(x), "gene"), names_or(colnames(x), ncol(x), "cell"), asked, options,
    coordinates, count_or_zero(clusters, "clusters"), count_or_zero(threads, "threads"), isTRUE(verbose)
  )
  result$clusters <- setNames(factor(result$clusters, levels = sort(unique(result$clusters))), result$cells)
  result$resolutions <- as.data.frame(result$resolutions)
  result$scales <- as.data.frame(result$scales)
  result$call <- match.call()
  class(result) <- "pnmf"
  result
}

pnmf.Matrix <- function(x, ...) pnmf.default(x, ...)

# Counts of the object are factorised; embedding, clusters and result are added to it.
pnmf.SingleCellExperiment <- function(x, ..., preset = "cells", assay = NULL, reduced_dim = NULL) {
  needs("SingleCellExperiment")
  available <- SummarizedExperiment::assayNames(x)
  if (is.null(assay)) {
    assay <- if ("counts" %in% available) "counts" else available[[1]]
  }
  values <- SummarizedExperiment::assay(x, assay)
  space <- if (is.null(reduced_dim)) NULL else SingleCellExperiment::reducedDim(x, reduced_dim)
  result <- if (is.null(space)) {
    pnmf.default(values, ..., preset = preset)
  } else {
    pnmf.default(values, ..., preset = preset, space = space)
  }
  SingleCellExperiment::reducedDim(x, "PNMF") <- result$embedding
  x$pnmf_clusters <- result$clusters
  for (column in names(result$divisions)) {
    x[[column]] <- factor(result$divisions[[column]])
  }
  S4Vectors::metadata(x)$pnmf <- result
  x
}

# SeuratObject 5 calls a layer what earlier versions call a slot.
seurat_values <- function(x, assay, layer, get = SeuratObject::GetAssayData,
                          version = utils::packageVersion("SeuratObject")) {
  if (version >= "5.0.0") get(x, assay = assay, layer = layer) else get(x, assay = assay, slot = layer)
}

pnmf.Seurat <- function(x, ..., preset = "cells", assay = NULL, reduction = NULL) {
  needs("SeuratObject")
  if (is.null(assay)) {
    assay <- SeuratObject::DefaultAssay(x)
  }
  values <- seurat_values(x, assay, "counts")
  if (length(values) == 0) {
    values <- seurat_values(x, assay, "data")
  }
  space <- if (is.null(reduction)) NULL else SeuratObject::Embeddings(x, reduction = reduction)
  result <- if (is.null(space)) {
    pnmf.default(values, ..., preset = preset)
  } else {
    pnmf.default(values, ..., preset = preset, space = space)
  }
  x[["pnmf"]] <- SeuratObject::CreateDimReducObject(
    embeddings = result$embedding, loadings = result$basis, key = "PNMF_", assay = assay
  )
  x$pnmf_clusters <- result$clusters
  for (column in names(result$divisions)) {
    x[[column]] <- setNames(factor(result$divisions[[column]]), result$cells)
  }
  SeuratObject::Misc(x, slot = "pnmf") <- unclass(result)
  x
}

needs <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop("this object needs the package ", package, call. = FALSE)
  }
}

print.pnmf <- function(x, ...) {
  cat(length(x$cells), " cells x ", length(x$genes), " genes, rank ", ncol(x$embedding), ", ", nrow(x$scales),
    " scales, ", x$stop, "\n",
    sep = ""
  )
  cat("recommended: scale ", x$recommended, ", ", nlevels(x$clusters), if (nlevels(x$clusters) == 1) " cluster\n" else " clusters\n",
    sep = ""
  )
  print(x$resolutions, row.names = FALSE)
  invisible(x)
}

# The genes that mark each program, best first.
top_genes <- function(x, count = 10) {
  if (!inherits(x, "pnmf")) {
    stop("x must be what pnmf() returned", call. = FALSE)
  }
  count <- count_or_zero(count, "count")
  apply(x$gene_scores, 2, function(scores) x$genes[order(scores, decreasing = TRUE)[seq_len(min(count, length(scores)))]])
}

plot.pnmf <- function(x, scale = x$recommended, colour = x$clusters, ...) {
  H <- x$embeddings[[scale]]
  plane <- if (ncol(H) > 2) stats::prcomp(H, rank. = 2)$x else H
  plot(plane, col = as.integer(factor(colour)), pch = 19, cex = 0.6, main = paste("scale", scale), ...)
}
