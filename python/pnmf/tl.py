"""Tools for AnnData, in Scanpy's manner."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import normalize

from . import _core
from ._data import checked, core_matrix, seed_of, sparse_matrix
from ._progress import Callback
from .estimator import PersistentNMF, fit_parts

__all__ = ["log_unit", "pnmf"]


def _values(adata: Any, layer: str | None, use_rep: str | None) -> Any:
    if use_rep is None or use_rep == "X":
        if layer is None:
            return _in_memory(adata.X) if getattr(adata, "isbacked", False) else adata.X
        if layer not in adata.layers:
            raise ValueError(f"layers[{layer!r}] is missing; there are {sorted(adata.layers)}")
        return adata.layers[layer]
    if layer is not None:
        raise ValueError("layer and use_rep cannot be given together")
    if use_rep not in adata.obsm:
        raise ValueError(f"obsm[{use_rep!r}] is missing; there are {sorted(adata.obsm)}")
    return adata.obsm[use_rep]


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
    layer: str | None = None,
    use_rep: str | None = None,
    transform: str | None = None,
    key_added: str = "pnmf",
    save_basis: bool = False,
    clusters: int | None = None,
    copy: bool = False,
    random_state: Any = 0,
    precision: str = "double",
    threads: int | None = None,
    verbose: bool = False,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    memory: str | float | None = None,
    **options: Any,
) -> Any:
    """Factorise an AnnData at every scale and keep the result in it.

    What is stored is what ``pnmf fit`` writes: `pnmf.read_result` reads both.

    Parameters
    ----------
    adata : AnnData
    rank : int, optional
        Columns of every embedding; default the square root of the number of cells, rounded up.
    layer : str, optional
        Factorise this layer instead of X.
    use_rep : str, optional
        Factorise this entry of obsm; its values must be at least 0.
    transform : {"log-unit", "none"}, optional
        log-unit: log10(1 + x), then cells of length 1, as the program does with .h5ad files; the default for X and
        layers. Give "none" for values that are normalised already. The default for `use_rep` is none.
    key_added : str
        The name in uns; also obsm["X_<key>"], varm["<key>_W"], obs["<key>_clusters"].
    save_basis : bool
        Keep the bases of all scales too, uns[key]["W"], T x p x d numbers.
    clusters : int, optional
        Clusters of the cells at each scale; default the number that is most stable when cells are left out.
    copy : bool
        Leave adata as it is and return a copy with the result.
    random_state, precision, threads, verbose, callback, checkpoint, resume, memory
        As in `PersistentNMF`.
    **options
        The other parameters of `PersistentNMF`.

    Returns
    -------
    AnnData or None

    Notes
    -----
    Genes that are zero in every cell take no part in the fit; their rows of varm["<key>_W"] are zero.

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
    if copy:
        adata = adata.to_memory() if getattr(adata, "isbacked", False) else adata.copy()
    X = checked(_values(adata, layer, use_rep))
    of_genes = use_rep in (None, "X")
    names = [str(name) for name in adata.var_names] if of_genes else [f"{use_rep} {i + 1}" for i in range(X.shape[1])]
    if of_genes and not adata.var_names.is_unique:
        warnings.warn(
            "names of genes occur more than once; -1, -2, ... is added to their repetitions, as adata.var_names_make_unique() does",
            stacklevel=2,
        )
    if transform is None:
        transform = "log-unit" if of_genes else "none"
    kept = None
    cells = [str(name) for name in adata.obs_names]
    source = (layer or "X") if of_genes else f"obsm:{use_rep}"
    record = json.dumps({"format": "h5ad", "cells": "rows", "layer": source, "steps": []}, separators=(",", ":"))
    if of_genes or transform != "none":
        values, kept, _, record, differing = _core.prepare(core_matrix(X), transform, cells, names, source)
        for position, name in zip(kept, differing):  # names that repeat were made to differ
            names[position] = name
        X = sparse_matrix(values) if isinstance(values, tuple) else values
    parts = fit_parts(
        X,
        {**options, "rank": rank, "seed": seed_of(random_state)},
        clusters=clusters,
        precision=precision,
        threads=threads,
        verbose=verbose,
        callback=callback,
        checkpoint=checkpoint,
        resume=resume,
        memory=memory,
    )
    # AnnData keeps obs and obsm in order when cells are sorted or selected, but not uns: names tell them there.
    parts["uns"]["pnmf"].update(transform=transform, input=record, cells=np.array(cells, dtype=object), features=np.array(names, dtype=object))
    _store(adata, parts, key_added, kept if of_genes else None, save_basis)
    return adata if copy else None


def _store(adata: Any, parts: dict[str, Any], key: str, kept: np.ndarray | None, save_basis: bool) -> None:
    uns = parts["uns"]["pnmf"]
    adata.obsm[f"X_{key}"] = parts["obsm"]["X_pnmf"]
    if kept is not None:
        W = parts["W"][uns["recommended"]].T
        whole = np.zeros((adata.n_vars, W.shape[1]))
        whole[kept] = W
        adata.varm[f"{key}_W"] = whole
    if save_basis:
        bases = np.zeros((len(parts["W"]), adata.n_vars if kept is not None else parts["W"][0].shape[1], parts["rank"]))
        bases[:, slice(None) if kept is None else kept, :] = np.stack([W.T for W in parts["W"]])
        uns["W"] = bases
    for name, values in parts["obs"].items():
        adata.obs[name.replace("pnmf", key, 1)] = _column(values, adata)
    adata.uns[key] = uns
