"""What is read off a fit beyond clusters: the tree of groups over the scales, and paths along their graph."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from . import _core
from ._adata import anndata_of, entry_of, named_cells
from ._data import checked, core_matrix, threads_of
from .result import as_result


def hierarchy(adata: Any, groupby: str | None = None, *, key: str = "pnmf") -> None:
    """The tree of groups of cells over all scales of a fit, where Scanpy's plots look for it.

    Two groups are as far apart as their mean cells, over all scales: ``D^2 = sum_t w_t |m_at - m_bt|^2``, with m_at the mean
    of the unit cells of group a at scale t and w_t the share of all scales that t stands for. Groups that coarse graphs
    join come near each other there. They are joined by average linkage.

    Parameters
    ----------
    adata : AnnData
        One that `pnmf.tl.pnmf` was run on.
    groupby : str, optional
        A column of obs with at least two groups; default the clusters of the fit.
    key : str
        ``key_added`` of `pnmf.tl.pnmf`.

    Notes
    -----
    Stored in uns["dendrogram_<groupby>"] as `scanpy.tl.dendrogram` stores it: linkage, categories_ordered,
    dendrogram_info and the rest; `scanpy.pl.dendrogram`, `scanpy.pl.dotplot(..., dendrogram=True)` and others use it.

    Examples
    --------
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> pnmf.tl.pnmf(adata, rank=4, max_scales=3, clusters=3)
    >>> pnmf.tl.hierarchy(adata)
    >>> adata.uns["dendrogram_pnmf_clusters"]["linkage"].shape
    (2, 4)
    """
    from scipy.cluster.hierarchy import dendrogram

    groupby = groupby or f"{key}_clusters"
    groups = _groups(adata, groupby)
    names = [str(name) for name in groups.cat.categories]
    if len(names) < 2:
        raise ValueError(f"obs[{groupby!r}] has {len(names)} group: a tree needs at least two")
    result = as_result(adata, key=key)
    embeddings = [np.ascontiguousarray(H, dtype=np.float64) for H in result.embeddings]
    weights = [float(w) for w in np.asarray(adata.uns[key].get("scale_weight", np.ones(len(embeddings))))]
    found = _core.metrics.hierarchy_of_groups(embeddings, groups.cat.codes.to_numpy(dtype=np.int64), weights)
    drawn = dendrogram(found["linkage"], labels=names, no_plot=True)
    means = found["means"]
    adata.uns[f"dendrogram_{groupby}"] = {
        "linkage": found["linkage"],
        "groupby": [groupby],
        "use_rep": f"X_{key}",
        "cor_method": "pearson",
        "linkage_method": "average",
        "categories_ordered": drawn["ivl"],
        "categories_idx_ordered": drawn["leaves"],
        "dendrogram_info": drawn,
        "correlation_matrix": np.corrcoef(means),
    }


def paths(
    adata: Any,
    root: str,
    *,
    ends: list[str] | None = None,
    groupby: str | None = None,
    direction: float = 10.0,
    layer: str | None = None,
    key: str = "pnmf",
    threads: int | None = None,
) -> None:
    """Order the cells along the graph of all scales, from a root, and say where each of them may end.

    See docs/paths.md of the project for the construction: shortest paths in the multi-scale graph give a time, and a
    walk that seldom steps back in time (Stassen et al. 2021; Setty et al. 2019) the probability of each end.

    Parameters
    ----------
    adata : AnnData
        One that `pnmf.tl.pnmf` was run on.
    root : str
        The name of a cell, or of a group, whose central cell is taken.
    ends : list of str, optional
        Groups where paths end; default the leaves of the tree of groups.
    groupby : str, optional
        A column of obs with the groups; default the clusters of the fit.
    direction : float
        How seldom walks step back in time; 0: as often as forth.
    layer : str, optional
        Of the data of the fit, where distances came from its values and not from a space (``space="none"``).
    key : str
        ``key_added`` of `pnmf.tl.pnmf`.

    Notes
    -----
    Stored: obs["<key>_time"], 0 at the root and 1 at the farthest cell; obsm["<key>_fates"], cells x ends, rows sum to 1;
    uns[key]["paths"] with root, ends, groupby and direction.

    Examples
    --------
    >>> import anndata, pnmf
    >>> drawn = pnmf.simulate.branches(cells=150, genes=60)
    >>> adata = anndata.AnnData(drawn.counts.astype("float32"))
    >>> pnmf.tl.pnmf(adata, max_scales=4)
    >>> pnmf.tl.paths(adata, root=adata.obs_names[drawn.time.argmin()])
    >>> float(adata.obs["pnmf_time"].max())
    1.0
    """
    groupby = groupby or f"{key}_clusters"
    groups = _groups(adata, groupby)
    result = as_result(adata, key=key)
    data = None
    if "space" not in result._parts["uns"]:
        recorded = str(result.input.get("layer") or "X")
        if recorded.startswith("obsm:"):
            data = (core_matrix(checked(entry_of(adata, recorded[5:]))), [str(name) for name in adata.obs_names], list(result._parts["uns"]["features"]))
        else:
            data = named_cells(adata, layer or recorded)
    found = _core.paths(
        result._parts,
        groupby,
        [str(value) for value in groups],
        [str(name) for name in groups.cat.categories],
        str(root),
        [str(end) for end in ends or []],
        float(direction),
        data,
        threads_of(threads),
    )
    if not found["converged"]:
        warnings.warn(f"probabilities have not settled after {found['sweeps']} sweeps", stacklevel=2)
    adata.obs[f"{key}_time"] = found["time"]
    adata.obsm[f"{key}_fates"] = found["fates"]
    adata.uns[key]["paths"] = {
        "root": str(adata.obs_names[found["root"]]),
        "ends": np.array(found["ends"], dtype=object),
        "groupby": groupby,
        "direction": float(direction),
    }


def _groups(adata: Any, groupby: str) -> pd.Series:
    if groupby not in anndata_of(adata).obs:
        raise ValueError(f"obs[{groupby!r}] is missing; there are {sorted(map(str, adata.obs))}")
    groups = adata.obs[groupby]
    if groups.isna().any():
        raise ValueError(f"obs[{groupby!r}] is missing for {int(groups.isna().sum())} cells")
    return groups.astype("category").cat.remove_unused_categories()
