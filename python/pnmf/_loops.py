"""Loops of cells, such as the cell cycle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from . import _core
from ._adata import anndata_of, prepare
from ._data import core_matrix, seed_of, threads_of

COLUMNS = ["amplitude", "peak", "share", "p_value", "adjusted"]


def loops(
    adata: Any,
    *,
    layer: str | None = None,
    use_rep: str | None = None,
    normalize: str | None = None,
    genes: int | str | None = None,
    genes_zero: list[str] | None = None,
    genes_next: list[str] | None = None,
    p_value: float = 0.05,
    clouds: int = 99,
    random_state: Any = 0,
    key_added: str = "pnmf",
    threads: int | None = None,
    verbose: bool | None = None,
) -> None:
    """Find loops of cells, the phase of each cell on them, and the genes that follow it, as ``pnmf loops`` does.

    See docs/loops.md of the project for how a loop is told from chance.

    Parameters
    ----------
    adata : AnnData
        Its values are prepared as for `pnmf.tl.pnmf`, which need not have been run.
    layer, normalize, genes
        As in `pnmf.tl.pnmf`.
    use_rep : str, optional
        An entry of obsm in which loops are looked for; default 30 principal components of the values that are factorised.
    genes_zero, genes_next : list of str, optional
        Genes that are highest at phase 0, and in the half turn after it; without them neither means anything.
    p_value : float
        Loops with a larger one are not reported.
    clouds : int
        How many clouds without a loop are drawn to compare with.

    Notes
    -----
    Stored: obs["<key_added>_loop_1"], ..., radians; uns["<key_added>_loops"] with the p_value of the most persistent loop,
    and, for each loop that is reported, persistence, p_value, cells and the table of its genes. Of the persistence diagram:
    birth and death of H1, the deaths of H0 (joins), and the persistence that a loop must exceed to be reported (chance).

    Examples
    --------
    >>> import anndata, numpy as np, pnmf
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 300)
    >>> peaks = rng.uniform(0, 2 * np.pi, 60)
    >>> counts = rng.poisson(20 * np.exp(0.8 * np.cos(angle[:, None] - peaks)))
    >>> adata = anndata.AnnData(counts.astype("float32"))
    >>> pnmf.tl.loops(adata, clouds=19)
    >>> adata.uns["pnmf_loops"]["p_values"]
    array([0.05])
    >>> adata.obs["pnmf_loop_1"].between(0, 2 * np.pi).all()
    True
    """
    adata = anndata_of(adata)
    space = f"obsm:{use_rep}" if use_rep is not None else "none"
    asked = {"preset": "auto", "transform": None, "normalize": normalize, "genes": genes, "space": space, "precision": None}
    prepared = prepare(adata, asked, {"rank": 1, "seed": 0}, layer=layer, use_rep=None, mask_var=None, verbose=verbose)
    names = [str(name) for name in prepared.ready["features"]]
    zero, following = (_positions(genes or [], names) for genes in (genes_zero, genes_next))
    X = core_matrix(prepared.X)
    coordinates = None if prepared.ready["space"] is None else prepared.ready["space"]["coordinates"]
    found = _core.metrics.loops(X, coordinates, float(p_value), int(clouds), seed_of(random_state), threads_of(threads))
    for name in [name for name in adata.obs if str(name).startswith(f"{key_added}_loop_")]:
        del adata.obs[name]  # of an earlier call
    stored: dict[str, Any] = {
        **{name: found[name] for name in ("p_value", "birth", "death", "joins", "chance")},
        "persistence": np.array([loop["persistence"] for loop in found["loops"]]),
        "p_values": np.array([loop["p_value"] for loop in found["loops"]]),
        "cells": np.array([loop["cells"] for loop in found["loops"]], dtype=np.int64),
    }
    for number, loop in enumerate(found["loops"], 1):
        phase, table = _core.metrics.phase_genes(X, loop["phase"], zero, following)
        adata.obs[f"{key_added}_loop_{number}"] = pd.Series(phase, index=prepared.ready["cells"]).reindex(adata.obs_names.astype(str)).to_numpy()
        index = pd.Index([names[int(gene)] for gene in table[:, 0]], name="gene")
        stored[f"genes_{number}"] = pd.DataFrame(table[:, 1:], columns=COLUMNS, index=index)
    adata.uns[f"{key_added}_loops"] = stored


def _positions(genes: list[str], names: list[str]) -> list[int]:
    missing = [gene for gene in genes if gene not in names]
    if missing:
        raise ValueError(f"{missing[0]!r} is none of the {len(names)} genes that were kept; genes='all' keeps all")
    return [names.index(gene) for gene in genes]
