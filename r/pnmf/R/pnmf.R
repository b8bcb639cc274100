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

# A value for each cell, as text; NULL for NULL.
of_cells <- function(value, count, name) {
  if (is.null(value)) {
    return(NULL)
  }
  if (length(value) != count) {
    stop(name, " must have a value for each of the ", count, " cells, got ", length(value), call. = FALSE)
  }
  value <- as.character(value)
  ifelse(is.na(value), "", value)
}

# What the C++ side takes of a matrix: values and names.
named_matrix <- function(x) {
  x <- core_matrix(x)
  list(x = x, genes = names_or(rownames(x), nrow(x), "gene"), cells = names_or(colnames(x), ncol(x), "cell"))
}

# Coordinates x cells, or none.
core_coordinates <- function(value) {
  if (is.null(value)) {
    return(matrix(0, 0, 0))
  }
  value <- t(as.matrix(value))
  storage.mode(value) <- "double"
  value
}

# Runs `body` with the path of a file that holds the stored result.
with_file <- function(result, body) {
  path <- tempfile(fileext = ".h5ad")
  on.exit(unlink(path))
  writeBin(result_of(result)$stored, path)
  body(path)
}

# x: genes x cells. space, places: coordinates of the cells, cells x dimensions, from which distances are taken.
pnmf.default <- function(x, rank = NULL, clusters = NULL, preset = "auto", normalize = NULL, genes = NULL,
                         space = NULL, batch = NULL, places = NULL, sample = NULL, domains = NULL,
                         threads = NULL, verbose = interactive(), without_loop = NULL, ...) {
  held <- named_matrix(x)
  count <- ncol(held$x)
  options <- list(...)
  if (length(options) > 0 && (is.null(names(options)) || any(names(options) == ""))) {
    stop("further options must have names, such as lambda1 = 3", call. = FALSE)
  }
  if (!is.null(space) && !is.null(places)) {
    stop("space and places both say where distances come from: give one of them", call. = FALSE)
  }
  if (!is.null(rank)) {
    options$rank <- rank
  }
  asked <- list(preset = preset)
  if (!is.null(normalize)) asked$normalize <- normalize
  if (!is.null(without_loop)) asked$without_loop <- as.character(count_or_zero(without_loop, "without_loop"))
  if (!is.null(genes)) asked$genes <- as.character(genes)
  coordinates <- core_coordinates(places)
  if (!is.null(places)) {
    if (identical(preset, "auto")) asked$preset <- "spatial"
  } else if (is.character(space)) {
    asked$space <- space
  } else if (!is.null(space)) {
    coordinates <- core_coordinates(space)
    asked$space <- "obsm:space"
  }
  path <- tempfile(fileext = ".h5ad")
  on.exit(unlink(path))
  about <- list(places = !is.null(places), domains = count_or_zero(domains, "domains"), file = path)
  about$sample <- of_cells(sample, count, "sample")
  about$batch <- of_cells(batch, count, "batch")
  about$batch_name <- "batch"
  result <- pnmf_fit(
    held$x, held$genes, held$cells, asked, options, coordinates, about, count_or_zero(clusters, "clusters"),
    count_or_zero(threads, "threads"), isTRUE(verbose)
  )
  result <- as_fit(result, path)
  result$call <- match.call()
  result
}

# What the C++ side found, and the file that it is stored in, as a fit.
as_fit <- function(result, path) {
  for (column in c("clusters", "domains")) {
    found <- as.integer(result[[column]])
    result[column] <- list(if (length(found) > 0) setNames(factor(found, levels = sort(unique(found))), result$cells))
  }
  result$resolutions <- as.data.frame(result$resolutions)
  result$scales <- as.data.frame(result$scales)
  result$stored <- readBin(path, "raw", file.size(path))
  class(result) <- "pnmf"
  result
}

pnmf.Matrix <- function(x, ...) pnmf.default(x, ...)

# batch, sample and places of an object may name columns of its table of cells.
with_columns <- function(arguments, table) {
  for (name in intersect(c("batch", "sample", "places"), names(arguments))) {
    value <- arguments[[name]]
    if (is.character(value) && length(value) <= 3 && all(value %in% names(table))) {
      arguments[[name]] <- if (name == "places") as.matrix(table[value]) else table[[value]]
    }
  }
  arguments
}

fit_of_object <- function(values, table, space, preset, ...) {
  arguments <- with_columns(list(...), table)
  if (!is.null(arguments$places)) preset <- "spatial"
  arguments$space <- if (is.null(space)) arguments$space else space
  result <- do.call(pnmf.default, c(list(values), arguments, list(preset = preset)))
  result$call <- NULL # it would hold the values
  result
}

# Counts of the object are factorised; embedding, clusters and result are added to it.
pnmf.SingleCellExperiment <- function(x, ..., preset = "cells", assay = NULL, reduced_dim = NULL) {
  needs("SingleCellExperiment")
  available <- SummarizedExperiment::assayNames(x)
  if (is.null(assay)) {
    assay <- if ("counts" %in% available) "counts" else available[[1]]
  }
  space <- if (is.null(reduced_dim)) NULL else SingleCellExperiment::reducedDim(x, reduced_dim)
  table <- as.data.frame(SummarizedExperiment::colData(x))
  result <- fit_of_object(SummarizedExperiment::assay(x, assay), table, space, preset, ...)
  SingleCellExperiment::reducedDim(x, "PNMF") <- result$embedding
  x$pnmf_clusters <- result$clusters
  if (!is.null(result$domains)) x$pnmf_domains <- result$domains
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
  result <- fit_of_object(values, x[[]], space, preset, ...)
  x[["pnmf"]] <- SeuratObject::CreateDimReducObject(
    embeddings = result$embedding, loadings = result$basis, key = "PNMF_", assay = assay
  )
  x$pnmf_clusters <- result$clusters
  if (!is.null(result$domains)) x$pnmf_domains <- result$domains
  for (column in names(result$divisions)) {
    x[[column]] <- setNames(factor(result$divisions[[column]]), result$cells)
  }
  suppressWarnings(SeuratObject::Misc(x, slot = "pnmf") <- unclass(result)) # that an earlier fit is replaced
  x
}

needs <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop("this object needs the package ", package, call. = FALSE)
  }
}

# The result that an object holds, or itself.
result_of <- function(x) {
  if (inherits(x, "SingleCellExperiment")) x <- S4Vectors::metadata(x)$pnmf
  if (inherits(x, "Seurat")) x <- structure(SeuratObject::Misc(x, slot = "pnmf"), class = "pnmf")
  if (!inherits(x, "pnmf") || is.null(x$stored)) {
    stop("x must be what pnmf() returned", call. = FALSE)
  }
  x
}

# A row for each of the best genes of each program, as programs.tsv.
programs <- function(x, count = 10) {
  count <- count_or_zero(count, "count")
  with_file(x, function(path) utils::read.delim(text = pnmf_programs(path, count), quote = "", na.strings = ""))
}

# Other cells in the programs of a fit; their counts are prepared as those of the fit were.
transform_cells <- function(x, newdata, threads = NULL) {
  held <- named_matrix(newdata)
  found <- with_file(x, function(path) pnmf_transform(path, held$x, held$genes, held$cells, count_or_zero(threads, "threads")))
  if (length(found$missing) > 0) {
    warning(length(found$missing), " genes of the fit are missing in the new cells and count as 0: ",
      paste(utils::head(found$missing, 5), collapse = ", "), if (length(found$missing) > 5) ", ...",
      call. = FALSE
    )
  }
  found$embedding
}

# Paths from a root through the neighbour graphs: the time of each cell, and how likely it comes to each end.
find_paths <- function(x, root, ends = character(), groups = NULL, data = NULL) {
  result <- result_of(x)
  held <- if (is.null(data)) list(x = NULL, genes = "", cells = "") else named_matrix(data)
  groups <- if (is.null(groups)) character() else of_cells(groups, length(result$cells), "groups")
  column <- if (length(groups) > 0) "groups" else "pnmf_clusters"
  found <- with_file(result, function(path) {
    pnmf_find_paths(path, held$x, held$genes, held$cells, as.character(root), as.character(ends), groups, column)
  })
  found$time <- setNames(found$time, rownames(found$fates))
  found$root <- rownames(found$fates)[[found$root]]
  found
}

# The page of a fit; with the data of the fit it has colours by gene.
write_report <- function(x, file, data = NULL, name = "pnmf") {
  held <- if (is.null(data)) list(x = NULL, genes = "", cells = "") else named_matrix(data)
  with_file(x, function(path) pnmf_report(path, held$x, held$genes, held$cells, path.expand(file), name))
  invisible(file)
}

# result.h5ad, which the program and Python read.
write_result <- function(x, file) {
  writeBin(result_of(x)$stored, path.expand(file))
  invisible(file)
}

# A result.h5ad of the program, of Python, of the page that computes, or of write_result.
read_result <- function(file) {
  path <- path.expand(file)
  result <- pnmf_read(path)
  result$divisions <- lapply(result$divisions, as.integer)
  as_fit(result, path)
}

# Loops of cells such as the cell cycle: the phase of each cell, and the genes that follow it.
find_loops <- function(x, space = NULL, preset = "auto", normalize = NULL, genes = NULL, genes_zero = character(),
                       genes_next = character(), p_value = 0.05, clouds = 99, seed = 0, threads = NULL) {
  held <- named_matrix(x)
  asked <- list(preset = preset)
  if (!is.null(normalize)) asked$normalize <- normalize
  if (!is.null(genes)) asked$genes <- as.character(genes)
  found <- pnmf_loops(
    held$x, held$genes, held$cells, asked, core_coordinates(space), as.character(genes_zero),
    as.character(genes_next), p_value, count_or_zero(clouds, "clouds"), seed, count_or_zero(threads, "threads")
  )
  names <- paste0("loop_", seq_along(found$p_values), recycle0 = TRUE)
  colnames(found$phases) <- names
  list(
    phases = found$phases,
    loops = data.frame(persistence = found$persistence, p_value = found$p_values, cells = found$cells),
    genes = setNames(found$genes, names), p_value = found$p_value,
    diagram = data.frame(
      dimension = rep(0:1, c(found$joins, length(found$birth) - found$joins)), birth = found$birth, death = found$death
    )
  )
}

# How well each rank predicts what it has not seen, and how stable its programs are.
choose_rank <- function(x, ranks = NULL, restarts = 10, held_out = 0.2, rule = c("error", "stability"),
                        preset = "auto", normalize = NULL, genes = NULL, seed = 0, threads = NULL) {
  held <- named_matrix(x)
  asked <- list(preset = preset)
  if (!is.null(normalize)) asked$normalize <- normalize
  if (!is.null(genes)) asked$genes <- as.character(genes)
  ranks <- vapply(as.list(ranks), count_or_zero, 0L, name = "ranks")
  found <- pnmf_rank(
    held$x, held$genes, held$cells, asked, ranks, count_or_zero(restarts, "restarts"), held_out,
    match.arg(rule), seed, count_or_zero(threads, "threads")
  )
  list(curve = as.data.frame(found[1:4]), by_error = found$by_error, by_stability = found$by_stability, chosen = found$chosen)
}

print.pnmf <- function(x, ...) {
  cat(length(x$cells), " cells x ", length(x$genes), " genes, rank ", ncol(x$embedding), ", ", nrow(x$scales),
    " scales, ", x$stop, "\n",
    sep = ""
  )
  cat("recommended: scale ", x$recommended, ", ", nlevels(x$clusters), if (nlevels(x$clusters) == 1) " cluster\n" else " clusters\n",
    sep = ""
  )
  if (!is.null(x$domains)) {
    cat(nlevels(x$domains), if (nlevels(x$domains) == 1) "domain\n" else "domains\n")
  }
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
