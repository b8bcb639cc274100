"""Cells where they are in their tissue."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result import as_result
from ._cells import colouring_of, draw_cells
from ._style import legend_beside


def tissue(
    adata: Any,
    color: str | list[str] | None = None,
    *,
    scale: int | None = None,
    spatial_key: str = "spatial",
    sample_key: str | None = None,
    layer: str | None = None,
    size: float | None = None,
    cmap: str = "viridis",
    key: str = "pnmf",
) -> np.ndarray:
    """Types and domains of cells side by side, where the cells are; a row for each slice.

    Both axes have one measure. y grows downwards where ``uns["spatial"]`` has an image, as places are its pixels then.

    Parameters
    ----------
    adata : AnnData
        With a fit by `pnmf.tl.pnmf`.
    color : str or list of str, optional
        Columns of obs, programs ("P1") or genes; default types and domains.
    scale : int, optional
        Position from 0, for programs; default the recommended scale.
    spatial_key : str
        The entry of obsm with the places; the first two coordinates are drawn.
    sample_key : str, optional
        The column of obs with the slice of each cell.

    Returns
    -------
    ndarray of Axes, slices x colourings

    Examples
    --------
    >>> import numpy as np
    >>> import pnmf
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> adata.obsm["spatial"] = np.random.default_rng(0).random((60, 2))
    >>> pnmf.tl.pnmf(adata, rank=4, domains=2, clusters=3)
    >>> pnmf.pl.tissue(adata).shape
    (1, 2)
    """
    import matplotlib.pyplot as plt

    from .._adata import anndata_of, entry_of

    adata = anndata_of(adata)
    result = as_result(adata, key=key)
    t = result.recommended if scale is None else result.position(scale)
    places = np.asarray(entry_of(adata, spatial_key), dtype=float)[:, :2]
    if color is None:
        color = [name for name in (f"{key}_clusters", f"{key}_domains") if name in adata.obs]
    wanted = [color] if isinstance(color, str) else list(color)
    if sample_key is not None and sample_key not in adata.obs:
        raise ValueError(f"sample_key: obs[{sample_key!r}] is missing; there are {sorted(map(str, adata.obs))}")
    sample = np.array([""] * len(places) if sample_key is None else adata.obs[sample_key].astype(str))
    slices = list(dict.fromkeys(sample))
    _, grid = plt.subplots(len(slices), len(wanted), squeeze=False, layout="constrained", figsize=(4.6 * len(wanted), 4.0 * len(slices)))
    for column, one in enumerate(wanted):
        title, values, groups = colouring_of(one, result, t, adata, layer)
        for row, name in enumerate(slices):
            ax, of_slice = grid[row, column], sample == name
            drawn = draw_cells(ax, places[of_slice], None if values is None else values[of_slice], groups, size=size, cmap=cmap)
            ax.set_aspect("equal")
            if "spatial" in adata.uns:
                ax.invert_yaxis()
            ax.set_title(" · ".join(filter(None, [name, title])), fontsize=10)
            if groups is not None:
                legend_beside(ax)
            elif values is not None:
                ax.figure.colorbar(drawn, ax=ax, shrink=0.8)
    return np.array(grid, dtype=object)
