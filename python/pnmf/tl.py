"""Tools for AnnData, in Scanpy's manner."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import normalize

from . import _core
from ._adata import anndata_of, named_cells, prepare
from ._data import checked, core_matrix, seed_of, threads_of
from ._loops import loops
from ._options import described
from ._paths import hierarchy, paths
from ._progress import Callback
from ._ranked import rank_genes_groups
from ._refine import refine
from .estimator import PersistentNMF, fit_parts, rank_of
from .rank import RankCurve, rank_curve
from .result import as_result

__all__ = ["choose_rank", "hierarchy", "log_unit", "loops", "paths", "pnmf", "programs", "rank_genes_groups", "refine", "transform"]


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


@described("input", only={"preset", "normalize", "transform", "genes", "space", "precision", "without_loop", "unit_um"})
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
    batch_key: str | None = None,
    spatial_key: str | None = None,
    sample_key: str | None = None,
    unit_um: float | None = None,
    domains: int | None = None,
    transform: str | None = None,
    without_loop: int | str | None = None,
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
    layer : str, optional
        Factorise this layer; "X" for the matrix itself, "raw" for adata.raw.
    use_rep : str, optional
        Factorise this entry of obsm; its values must be at least 0.
    {options}
    mask_var : str or array of bool, optional
        The same as Scanpy spells it: a column of var, or which genes to keep.
    batch_key : str, optional
        A column of obs with the batch of each cell. Each cell then gets neighbours in every batch, so that tree, scales
        and graphs join types and not batches. The values that are factorised are not corrected: programs that tell
        batches apart stay programs. `Result.batch_scores` says what came of it.
    spatial_key : str, optional
        The entry of obsm with the places of the cells in their tissue, in 2 or 3 coordinates. Scales are then
        neighbourhoods of 0, 1, 2, 4, ... cells, obs["<key>_clusters"] are types of cells and obs["<key>_domains"] parts
        of the tissue. Default "spatial", else the columns x and y of obs.
    sample_key : str, optional
        A column of obs with the slice of each cell, which Squidpy calls library_key: cells have neighbours in their own
        slice alone.
    domains : int, optional
        The number of domains; default the number found from the data.
    key_added : str
        The name in uns; also obsm["X_<key>"], varm["<key>_W"], obs["<key>_clusters"].
    save_basis : bool
        Keep the bases of all scales too, uns[key]["W"], T x p x d numbers.
    clusters : int, optional
        Clusters of the cells at each scale; default the number chosen from the data.
    copy : bool
        Leave adata as it is and return a copy with the result.
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
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> pnmf.tl.pnmf(adata, rank=4, max_scales=3)
    >>> adata.obsm["X_pnmf"].shape, adata.varm["pnmf_W"].shape
    ((60, 4), (40, 4))
    """
    PersistentNMF(**options)  # a TypeError for a name that is no parameter
    if use_rep == f"X_{key_added}":
        raise ValueError(f"obsm[{use_rep!r}] would be replaced by the result: give another key_added")
    adata = anndata_of(adata)
    if copy:
        adata = adata.to_memory() if getattr(adata, "isbacked", False) else adata.copy()
    asked = {
        "preset": preset,
        "transform": transform,
        "normalize": normalize,
        "genes": genes,
        "space": space,
        "precision": precision,
        "without_loop": without_loop,
        "unit_um": unit_um,
    }
    given = {**options, "rank": rank_of(rank, n_components), "seed": seed_of(random_state)}
    prepared = prepare(adata, asked, given, layer=layer, use_rep=use_rep, mask_var=mask_var, batch_key=batch_key, spatial_key=spatial_key, sample_key=sample_key, verbose=verbose)
    ready = prepared.ready
    tissue = ready["preset"] == "spatial"
    if not tissue and (domains is not None or sample_key is not None):
        raise ValueError(f"domains and sample_key are for the preset spatial, not for {ready['preset']}")
    parts = fit_parts(
        prepared.X,
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
        batch=ready["batch"],
        domains=(domains or 0) if tissue else None,
        expression=ready["expression"],
    )
    uns = parts["uns"]["pnmf"]
    # AnnData keeps obs and obsm in order when cells are sorted or selected, but not uns: names tell them there.
    uns.update(
        transform=ready["transform"],
        input=ready["record"],
        cells=np.array([str(name) for name in adata.obs_names], dtype=object),
        features=np.array(ready["features"], dtype=object),
        notices=np.array([*ready["notices"], *uns["notices"]], dtype=object),
    )
    if ready["space"] is not None:
        uns["space"] = ready["space"]
        if tissue and "unit_um" in ready["space"]:
            uns["domains"]["micrometres"] = np.asarray(uns["epsilon"]) * ready["space"]["unit_um"]
    _store(adata, parts, key_added, prepared.rows, save_basis)
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
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> pnmf.tl.pnmf(adata, rank=4, max_scales=3)
    >>> table = pnmf.tl.programs(adata, count=5)
    >>> list(table.columns), len(table)
    (['program', 'gene', 'score', 'rank', 'scale'], 20)
    """
    table: pd.DataFrame = as_result(source, key=key).programs(count)
    return table


def choose_rank(
    adata: Any,
    ranks: Iterable[int] | int | None = None,
    *,
    restarts: int = 10,
    held_out: float = 0.2,
    rule: str = "error",
    preset: str = "auto",
    layer: str | None = None,
    use_rep: str | None = None,
    normalize: str | None = None,
    genes: int | str | None = None,
    mask_var: Any = None,
    transform: str | None = None,
    key_added: str = "pnmf_rank",
    random_state: Any = 0,
    device: str = "cpu",
    threads: int | None = None,
    verbose: bool | None = None,
    callback: Callback | None = None,
) -> RankCurve:
    """Choose the rank for `pnmf.tl.pnmf` by restarts, as ``pnmf rank`` does: see `pnmf.choose_rank`.

    The values are those that `pnmf.tl.pnmf` would factorise. `pnmf.pl.rank_curve` draws what was found.

    Parameters
    ----------
    adata : AnnData
    ranks : iterable of int, optional
        Such as ``range(5, 31)``; default 2, 3, 4, 6, 8, 11, ... up to the square root of the number of cells.
    restarts, held_out, rule, random_state, device, threads, verbose, callback
        As in `pnmf.choose_rank`.
    preset, layer, use_rep, normalize, genes, mask_var, transform
        As in `pnmf.tl.pnmf`.
    key_added : str
        The curves and the consensus programs are kept in uns under this name.

    Returns
    -------
    RankCurve

    Examples
    --------
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> curve = pnmf.tl.choose_rank(adata, ranks=[2, 3], restarts=3)
    >>> curve.to_frame().shape, list(adata.uns["pnmf_rank"]["ranks"])
    ((2, 5), [2, 3])
    """
    adata = anndata_of(adata)
    asked = {"preset": preset, "transform": transform, "normalize": normalize, "genes": genes, "space": "none", "precision": None}
    # A rank is given so that none is chosen by the size of the data; it is not looked at.
    prepared = prepare(adata, asked, {"rank": 1, "seed": 0}, layer=layer, use_rep=use_rep, mask_var=mask_var, verbose=verbose)
    features = np.array(prepared.ready["features"], dtype=object)
    curve = rank_curve(core_matrix(prepared.X), features, ranks, restarts, held_out, rule, random_state, device, threads, verbose, callback)
    adata.uns[key_added] = curve.to_dict()
    return curve


def transform(
    adata: Any,
    fit: Any,
    *,
    scale: int | None = None,
    layer: str | None = None,
    graph: Any = None,
    key: str = "pnmf",
    key_added: str = "pnmf",
    drop_empty: bool = False,
    copy: bool = False,
    threads: int | None = None,
) -> Any:
    """Embed new cells with the programs of a fit, as ``pnmf transform`` does.

    The cells are prepared as those of the fit were. Genes are matched by name; those that are missing count as zero.

    Parameters
    ----------
    adata : AnnData
        The new cells.
    fit : AnnData, Result or path
        The fit, as `pnmf.tl.pnmf` or the program keeps it.
    scale : int, optional
        Position of the scale, from 0; default the recommended one. Others need a fit with ``save_basis=True``.
    layer : str, optional
        The layer of the new cells to take; "X" for the matrix itself. Default as in the fit.
    graph : AnnData, optional
        The data of the fit: each new cell is then also drawn to its neighbours among them.
    key : str
        ``key_added`` of the fit.
    key_added : str
        The embedding is kept as obsm["X_<key_added>"]; uns["<key_added>_transform"] says how it was made.
    drop_empty : bool
        Leave out cells without any count of a gene of the fit; otherwise they are an error. They are NaN in obsm.
    copy : bool
        Leave adata as it is and return a copy with the embedding.

    Returns
    -------
    AnnData or None

    Notes
    -----
    Without `graph` each cell is embedded alone, min over h >= 0 of ||x - Wh||^2 + lambda3 ||h||^2. In the fit each cell
    is also drawn to its neighbours and to itself at the scales beside. So the cells of the fit themselves come near to,
    not at, their places in the fit; with `graph` they come nearer.

    Examples
    --------
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> old, new = adata[:50].copy(), adata[50:].copy()
    >>> pnmf.tl.pnmf(old, rank=4, max_scales=3)
    >>> pnmf.tl.transform(new, old)
    >>> new.obsm["X_pnmf"].shape
    (10, 4)
    """
    adata = anndata_of(adata)
    graph = None if graph is None else anndata_of(graph, "graph")
    result = as_result(fit, key=key)
    place = result.recommended if scale is None else result.position(scale)
    if result.var_names is None:
        raise ValueError("the genes of the fit have no names, so that those of new cells cannot be matched with them; use the estimator's transform")
    parts: dict[str, Any] = {**result._parts, "features": [str(name) for name in result.var_names]}
    if place == result.recommended:
        parts["basis"] = np.ascontiguousarray(result.basis(), dtype=np.float64)
    elif "W" not in parts["uns"]:
        result.basis(place)  # an error unless they are there
        parts["uns"] = {**parts["uns"], "W": np.stack([result.basis(t).T for t in range(len(result))])}
    chosen = layer or result.input.get("layer")
    found = _core.transform_result(
        parts,
        named_cells(adata, chosen),
        [place],
        None if graph is None else named_cells(graph, result.input.get("layer")),
        None,
        bool(drop_empty),
        threads_of(threads),
    )
    if copy:
        adata = adata.copy()
    at_scale = found["scales"][0]
    H = np.full((adata.n_obs, at_scale["H"].shape[1]), np.nan)
    H[adata.obs_names.astype(str).get_indexer(found["cells"])] = at_scale["H"]
    adata.obsm[f"X_{key_added}"] = H
    adata.uns[f"{key_added}_transform"] = {
        "scale": place,
        "epsilon": at_scale["epsilon"],
        "relative_error": at_scale["relative_error"],
        "residual": at_scale["residual"],
        "converged": at_scale["converged"],
        "graph": graph is not None,
        "missing": np.array(found["missing"], dtype=object),
    }
    return adata if copy else None


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
        adata.uns.pop(f"{name.replace('pnmf', key, 1)}_colors", None)  # of an earlier result
    for name, colours in parts["uns"].items():
        if name.endswith("_colors"):
            adata.uns[name.replace("pnmf", key, 1)] = np.array(colours, dtype=object)
    adata.uns[key] = uns


def _column(values: Any, adata: Any) -> pd.Series:
    column = pd.Series(values, index=adata.obs_names)
    return column.astype("category") if column.dtype == object else column
