"""The genes around a loop of cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._style import COLOURS


def loop(adata: Any, loop: int = 1, *, genes: int | list[str] = 12, ax: Any = None, key: str = "pnmf") -> Any:
    """How many cells are at each phase of a loop, and where its genes are highest.

    Parameters
    ----------
    adata : AnnData
        That `pnmf.tl.loops` was run on.
    loop : int
        From 1.
    genes : int or list of str
        So many that follow the loop best, or these.
    ax : Axes, optional
        With polar coordinates.
    key : str
        ``key_added`` of `pnmf.tl.loops`.

    Returns
    -------
    Axes
        The distance of a gene from the centre is the share of its variance that follows the loop.
    """
    column = f"{key}_loop_{loop}"
    if column not in adata.obs:
        raise ValueError(f"obs[{column!r}] is missing: pnmf.tl.loops was not run, or found no such loop")
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.figure(figsize=(5.0, 5.0)).add_subplot(projection="polar")
    table = adata.uns[f"{key}_loops"][f"genes_{loop}"]
    shown = table.head(genes) if isinstance(genes, int) else table.loc[list(genes)]
    phase = adata.obs[column].dropna()
    counts, edges = np.histogram(phase, bins=36, range=(0, 2 * np.pi))
    largest = float(shown["share"].max()) or 1.0
    ax.bar(edges[:-1], 0.3 * largest * counts / max(counts.max(), 1), width=np.diff(edges), bottom=1.1 * largest, align="edge", color=COLOURS[0], alpha=0.5)
    for gene, row in shown.iterrows():
        ax.annotate(str(gene), (row["peak"], row["share"]), fontsize=8, xytext=(3, 3), textcoords="offset points")
    ax.scatter(shown["peak"], shown["share"], s=12, color=COLOURS[5])
    ax.set_yticks([])
    ax.set_title(f"loop {loop}: {len(phase)} cells", fontsize=10)
    return ax
