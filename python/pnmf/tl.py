"""Tools for AnnData, in Scanpy's manner."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import normalize

from . import _core
from ._data import checked, core_matrix, seed_of, sparse_matrix
from ._progress import Callback, is_verbose
from .estimator import PersistentNMF, fit_parts, rank_of
from .result import as_result

__all__ = ["log_unit", "pnmf", "programs"]


def _matrix(adata: Any, layer: str | None) -> Any:
    if layer is None or layer == "X":
        return _in_memory(adata.X) if getattr(adata, "isbacked", False) else adata.X
    if layer == "raw" and layer not in adata.layers and adata.raw is not None:
        return adata.raw.X
    if layer not in adata.layers:
        raise ValueError(f"layers[{layer!r}] is missing; there are {sorted(adata.layers)}")
    return adata.layers[layer]


def _entry(adata: Any, key: str) -> Any:
    if key not in adata.obsm:
        raise ValueError(f"obsm[{key!r}] is missing; there are {sorted(adata.obsm)}")
    return adata.obsm[key]


def _chosen_layer(adata: Any, preset: str) -> str | None:
    """The layer with what should be factorised, where the user names none: counts, or raw where X is scaled."""
    if preset not in ("auto", "cells"):
        return None
    if "counts" in adata.layers:
        return "counts"
    if adata.raw is not None and _core.kind_of_values(core_matrix(checked(_matrix(adata, None))), False) == "scaled":
        return "raw"
    return None


def _about(adata: Any, layer: str | None, names: list[str], gene_table: Any, genes: Any, space: str | None) -> dict[str, Any]:
    """What the compiled library is told about the data beside their values."""
    about: dict[str, Any] = {
        "cells": [str(name) for name in adata.obs_names],
        "features": names,
        "format": "h5ad",
        "layer": layer or "X",
        "log_recorded": "log1p" in adata.uns,
        "layers": [str(name) for name in adata.layers],
        "has_raw": adata.raw is not None,
    }
    column = genes if isinstance(genes, str) and genes != "all" and not genes.isdigit() else "highly_variable"
    if column in gene_table:
        about.update(column=column, marked=[float(bool(value)) for value in gene_table[column]])
    if space is not None and str(space).startswith("obsm:"):
        values = np.ascontiguousarray(_entry(adata, str(space)[5:]), dtype=np.float64)
        if values.ndim != 2:
            raise ValueError(f"{space} must be a matrix with a row for each cell")
        about.update(space=space, coordinates=values)
    return about


def _in_memory(X: Any) -> Any:
    """The matrix of an AnnData that is backed by a file (``backed="r"``), read."""
    return X.to_memory() if hasattr(X, "to_memory") else X[:]


def _column(values: Any, adata: Any) -> pd.Series:
    column = pd.Series(values, index=adata.obs_names)
    return column.astype("category") if column.dtype == object else column


def log_unit(X: Any) -> Any:
    """log10(1 + x), then rows of length 1: what the program does to counts. Sparse matrices stay sparse.

    Examples
    --------
    >>> import pnmf
    >>> pnmf.tl.log_unit([[0.0, 9.0], [1.0, 1.0]]).round(3)
    array([[0.   , 1.   ],
           [0.707, 0.707]])
    """
    import scipy.sparse

    X = checked(X)
    if (X.data if scipy.sparse.issparse(X) else X).min(initial=0.0) < 0:
        raise ValueError("values must be at least 0")
    # The base of the logarithm cancels when rows are scaled.
    logarithms = X.log1p() if scipy.sparse.issparse(X) else np.log1p(X)
    return normalize(logarithms)


def pnmf(
    adata: Any,
    rank: int | None = None,
    *,
    n_components: int | None = None,
    preset: str = "auto",
    layer: str | None = None,
    use_rep: str | None = None,
    normalize: str | None = None,
    genes: int | str | None = None,
    mask_var: Any = None,
    space: str | None = None,
    transform: str | None = None,
    key_added: str = "pnmf",
    save_basis: bool = False,
    clusters: int | None = None,
    copy: bool = False,
    random_state: Any = 0,
    precision: str | None = None,
    threads: int | None = None,
    verbose: bool | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    memory: str | float | None = None,
    **options: Any,
) -> Any:
    """Factorise an AnnData at every scale, cluster its cells and keep the result in it.

    What is stored is what ``pnmf fit`` writes: `pnmf.read_result` reads both. What was chosen for you is printed when
    `verbose`, and kept in uns[key]["notices"].

    Parameters
    ----------
    adata : AnnData
        Counts, or log-normalised values. Where there is a layer "counts" it is taken; where X holds scaled values
        and there is `raw`, that is.
    rank : int, optional
        Columns of every embedding; default the square root of the number of cells, rounded up, at most 30.
    n_components : int, optional
        The same as Scanpy and scikit-learn spell it.
    preset : {"auto", "cells", "points", "paper"}
        A set of choices; any other parameter stands above it. cells (auto for genes): counts per 10,000, log(1 + x),
        2,000 genes, distances from 30 principal components, 8 neighbours, few scales, single precision. points (auto
        with `use_rep`): values as they are. paper: the model of the paper, all scales, as version 0.1 did.
    layer : str, optional
        Factorise this layer; "X" for the matrix itself, "raw" for adata.raw.
    use_rep : str, optional
        Factorise this entry of obsm; its values must be at least 0.
    normalize : {"counts", "log", "none"}, optional
        counts: each cell to a sum of 10,000, then log(1 + x); log: log(1 + x) alone. Default by what the values are.
    genes : int or str, optional
        Genes to keep: a number of those that vary most, "all", or a column of var that is true for them. Default
        "highly_variable" where var has it, else 2,000.
    mask_var : str or array of bool, optional
        The same as Scanpy spells it: a column of var, or which genes to keep.
    space : str, optional
        Where distances between cells come from: "pca:30", "none" (the values that are factorised), or "obsm:KEY", an
        entry of obsm such as one corrected for batches.
    transform : {"log-unit", "none"}, optional
        The older way to say how values are treated: log10(1 + x), then cells of length 1.
    key_added : str
        The name in uns; also obsm["X_<key>"], varm["<key>_W"], obs["<key>_clusters"].
    save_basis : bool
        Keep the bases of all scales too, uns[key]["W"], T x p x d numbers.
    clusters : int, optional
        Clusters of the cells at each scale; default the number chosen from the data.
    copy : bool
        Leave adata as it is and return a copy with the result.
    precision : {"float", "double"}, optional
    verbose : bool, optional
        Default: speak in a terminal and in a notebook.
    random_state, threads, callback, checkpoint, resume, memory
        As in `PersistentNMF`.
    **options
        The other parameters of `PersistentNMF`.

    Returns
    -------
    AnnData or None

    Notes
    -----
    Genes that are left out take no part in the fit; their rows of varm["<key>_W"] are zero.

    Examples
    --------
    >>> import anndata, pnmf
    >>> drawn = pnmf.simulate.cells(cells=60, genes=40, types=3)
    >>> adata = anndata.AnnData(drawn.counts, dtype=float)
    >>> pnmf.tl.pnmf(adata, rank=4, max_scales=3)
    >>> adata.obsm["X_pnmf"].shape, adata.varm["pnmf_W"].shape
    ((60, 4), (40, 4))
    """
    PersistentNMF(**options)  # a TypeError for a name that is no parameter
    if use_rep == f"X_{key_added}":
        raise ValueError(f"obsm[{use_rep!r}] would be replaced by the result: give another key_added")
    if layer is not None and use_rep not in (None, "X"):
        raise ValueError("layer and use_rep cannot be given together")
    if copy:
        adata = adata.to_memory() if getattr(adata, "isbacked", False) else adata.copy()
    of_genes = use_rep in (None, "X")
    if of_genes:
        layer = layer or _chosen_layer(adata, preset)
        X = checked(_matrix(adata, layer))
        table = adata.raw.var if layer == "raw" and layer not in adata.layers else adata.var
        names = [str(name) for name in table.index]
        if not table.index.is_unique:
            warnings.warn(
                "names of genes occur more than once; -1, -2, ... is added to their repetitions, as adata.var_names_make_unique() does",
                stacklevel=2,
            )
        if mask_var is not None:
            table = pd.DataFrame({"mask_var": table[mask_var] if isinstance(mask_var, str) else np.asarray(mask_var, bool)}, index=table.index)
            genes = "mask_var"
    else:
        X = checked(_entry(adata, str(use_rep)))
        names = [f"{use_rep} {i + 1}" for i in range(X.shape[1])]
        table = {}
        preset = "points" if preset == "auto" else preset
        transform = transform or (None if normalize else "none")
    about = _about(adata, layer if of_genes else f"obsm:{use_rep}", names, table, genes, space)
    asked = {
        "preset": preset,
        "transform": transform,
        "normalize": normalize,
        "genes": genes,
        "space": space,
        "precision": precision,
    }
    given = {**options, "rank": rank_of(rank, n_components), "seed": seed_of(random_state)}
    ready = _core.prepare(core_matrix(X), asked, given, about)
    for position, name in zip(ready["kept"], ready["features"]):  # names that repeat were made to differ
        names[position] = name
    if is_verbose(verbose):
        print(*ready["notices"], sep="\n", file=sys.stderr)
    values = ready["X"]
    parts = fit_parts(
        sparse_matrix(values) if isinstance(values, tuple) else values,
        ready["options"],
        clusters=clusters,
        precision=ready["precision"],
        threads=threads,
        verbose=verbose,
        callback=callback,
        checkpoint=checkpoint,
        resume=resume,
        memory=memory,
        space=None if ready["space"] is None else np.ascontiguousarray(ready["space"]["coordinates"]),
        columns=ready["columns"],
    )
    uns = parts["uns"]["pnmf"]
    # AnnData keeps obs and obsm in order when cells are sorted or selected, but not uns: names tell them there.
    uns.update(
        transform=ready["transform"],
        input=ready["record"],
        cells=np.array(about["cells"], dtype=object),
        features=np.array(ready["features"], dtype=object),
        notices=np.array([*ready["notices"], *uns["notices"]], dtype=object),
    )
    if ready["space"] is not None:
        uns["space"] = ready["space"]
    rows = None
    if of_genes:
        rows = ready["kept"] if table.index.equals(adata.var_names) else adata.var_names.get_indexer(ready["features"])
    _store(adata, parts, key_added, rows, save_basis)
    return adata if copy else None


def programs(source: Any, count: int | None = 100, *, key: str = "pnmf") -> pd.DataFrame:
    """The genes that mark each program of a fit, best first: see `Result.programs`.

    Parameters
    ----------
    source : AnnData, Result, fitted estimator or path
        An AnnData that `pnmf.tl.pnmf` was run on, or anything else that holds a fit.
    count : int, optional
        Genes of each program; None for all.
    key : str
        ``key_added`` of `pnmf.tl.pnmf`.

    Returns
    -------
    DataFrame
        program, gene, score, rank (from 1), scale (from 0).

    Examples
    --------
    >>> import anndata, pnmf
    >>> drawn = pnmf.simulate.cells(cells=60, genes=40, types=3)
    >>> adata = anndata.AnnData(drawn.counts, dtype=float)
    >>> pnmf.tl.pnmf(adata, rank=4, max_scales=3)
    >>> table = pnmf.tl.programs(adata, count=5)
    >>> list(table.columns), len(table)
    (['program', 'gene', 'score', 'rank', 'scale'], 20)
    """
    table: pd.DataFrame = as_result(source, key=key).programs(count)
    return table


def _store(adata: Any, parts: dict[str, Any], key: str, rows: np.ndarray | None, save_basis: bool) -> None:
    """`rows`: of var, for each gene of the fit; -1 for a gene of raw that var has not; None for a fit of no genes."""
    uns = parts["uns"]["pnmf"]
    adata.obsm[f"X_{key}"] = parts["obsm"]["X_pnmf"]
    if rows is not None:
        W = parts["W"][uns["recommended"]].T
        whole = np.zeros((adata.n_vars, W.shape[1]))
        whole[rows[rows >= 0]] = W[rows >= 0]
        adata.varm[f"{key}_W"] = whole
    if save_basis:
        uns["W"] = np.stack([W.T for W in parts["W"]])
    for name, values in parts["obs"].items():
        adata.obs[name.replace("pnmf", key, 1)] = _column(values, adata)
    adata.uns[key] = uns
