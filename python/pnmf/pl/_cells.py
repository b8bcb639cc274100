"""Cells of one scale, coloured by clusters, columns of obs, genes or programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result import Result, as_result
from ._embeddings import planar, point_size
from ._style import axes_or_new, colours_of, colours_of_groups, groups_of, legend_beside, title_of


def _gene(data: Any, name: str, layer: str | None) -> np.ndarray:
    from .._adata import matrix_of

    held = data.raw if layer == "raw" and layer not in data.layers else data
    column = matrix_of(data, layer)[:, held.var_names.get_loc(name)]
    values: np.ndarray = np.asarray(column.toarray() if hasattr(column, "toarray") else column, dtype=float).ravel()
    return values


def colouring_of(color: Any, result: Result, t: int, data: Any, layer: str | None) -> tuple[str, Any, list[str] | None]:
    """What cells are coloured by: a title, numbers from 0 with names of groups, or values without.

    A name is looked for among the columns of obs, the programs ("P1") and the genes, in this order.
    """
    if color is None or (isinstance(color, str) and color == "clusters"):
        groups = groups_of(None, result, t)
        return ("clusters", *groups) if groups is not None else ("", None, None)
    if not isinstance(color, str):
        values = np.asarray(color)
        title = str(getattr(color, "name", None) or "")
    elif result.obs is not None and color in result.obs:
        title = color
        if hasattr(result.obs[color], "cat"):
            groups = groups_of(color, result, t)
            return (title, *groups) if groups is not None else (title, None, None)
        values = np.asarray(result.obs[color])
    elif color in [f"P{k + 1}" for k in range(result.embeddings.shape[2])]:
        return f"program {color}", result.embeddings[t][:, int(color[1:]) - 1], None
    elif data is not None and color in (data.raw.var_names if layer == "raw" and data.raw is not None else data.var_names):
        return color, _gene(data, color, layer), None
    else:
        where = "a column of obs, a program such as 'P1', or a gene" if data is not None else "a column of obs or a program; genes need the data"
        raise ValueError(f"{color!r} is neither {where}")
    if values.dtype.kind in "iuf" and np.ndim(values) == 1 and (values.dtype.kind == "f" or len(np.unique(values)) > 20):
        if len(values) != result.embeddings.shape[1]:
            raise ValueError(f"there must be one value for each of {result.embeddings.shape[1]} cells, got {len(values)}")
        return title, values.astype(float), None
    groups = groups_of(values, result, t)
    assert groups is not None
    return (title, *groups)


def draw_cells(ax: Any, points: np.ndarray, values: Any, names: list[str] | None, *, size: float | None = None, cmap: str = "viridis", colours: dict[str, str] | None = None) -> Any:
    """Cells in a plane: groups with labels, or values; gives the mappable of values. `colours`: of groups, by name."""
    size = point_size(len(points)) if size is None else size
    if values is None:
        return ax.scatter(points[:, 0], points[:, 1], s=size, color=colours_of(1)[0], linewidths=0)
    if names is None:
        order = np.argsort(np.nan_to_num(values, nan=-np.inf), kind="stable")  # the largest on top
        return ax.scatter(*points[order].T, c=values[order], s=size, cmap=cmap, linewidths=0)
    for k, (name, colour) in enumerate(zip(names, colours_of_groups(names, colours or {}))):
        ax.scatter(*points[values == k].T, s=size, color=colour, label=name, linewidths=0)
    return None


def _stored_map(data: Any, key: str, cells: int) -> tuple[np.ndarray, tuple[str, str]]:
    """The first two columns of an entry of obsm, and names of the axes."""
    if data is None or key not in data.obsm:
        raise ValueError(f"obsm[{key!r}] is missing; there are {sorted(data.obsm) if data is not None else 'no data'}")
    points = np.asarray(data.obsm[key], dtype=float)
    if points.ndim != 2 or points.shape[1] < 2 or len(points) != cells:
        raise ValueError(f"obsm[{key!r}] must have two columns or more for each of {cells} cells, got {points.shape}")
    return points[:, :2], (f"{key} 1", f"{key} 2")


def embedding(
    result: Any,
    color: Any = None,
    *,
    scale: int | None = None,
    components: tuple[int, int] | str | None = None,
    basis: str | None = None,
    data: Any = None,
    layer: str | None = None,
    size: float | None = None,
    cmap: str = "viridis",
    columns: int = 3,
    ax: Any = None,
    key: str = "pnmf",
) -> Any:
    """The cells at one scale, a panel for each thing to colour them by.

    Parameters
    ----------
    result : AnnData, PersistentNMF, Result or path
    color : str, ndarray, Series or list of str, optional
        A column of obs, a program ("P1"), a gene, or values for the cells; groups get a legend, numbers a scale of
        colours. Default the clusters.
    scale : int, optional
        Position from 0; default the recommended scale.
    components : (int, int) or str, optional
        Two programs, from 0, or an entry of obsm of `data`, such as a map that Scanpy has made
        ("X_umap"). Default the plane of the page: the two principal axes that all scales
        share.
    basis : str, optional
        An entry of obsm as Scanpy spells it: "umap" is "X_umap". Instead of `components`.
    data : AnnData, optional
        Where values of genes come from; default `result`, where that is an AnnData.
    layer : str, optional
        The layer of `data`.
    size : float, optional
        Of the points.
    ax : Axes, optional
        For one colouring alone.

    Returns
    -------
    Axes, or an array of them for a list of colourings
    """
    import matplotlib.pyplot as plt

    if data is None and hasattr(result, "obsm") and hasattr(result, "var_names"):
        data = result
    elif data is not None:
        from .._adata import anndata_of

        data = anndata_of(data, "data")
    result = as_result(result, key=key)
    t = result.recommended if scale is None else result.position(scale)
    if basis is not None:
        if components is not None:
            raise ValueError(f"basis and components are two names of one thing, got {basis!r} and {components!r}")
        components = f"X_{basis}" if data is not None and basis not in data.obsm and f"X_{basis}" in data.obsm else basis
    if isinstance(components, str):
        points, names = _stored_map(data, components, len(result.embeddings[t]))
    else:
        all_scales, names = planar(result, components)
        points = all_scales[t]
    several = isinstance(color, (list, tuple)) and all(isinstance(one, str) for one in color)
    wanted = list(color) if several else [color]
    if ax is not None and len(wanted) > 1:
        raise ValueError(f"one axes holds one colouring, got {len(wanted)}")
    if len(wanted) == 1:
        panels = [axes_or_new(ax, figsize=(5.0, 4.0))]
    else:
        rows = -(-len(wanted) // min(columns, len(wanted)))
        figure, grid = plt.subplots(rows, min(columns, len(wanted)), squeeze=False, layout="constrained", figsize=(4.6 * min(columns, len(wanted)), 3.6 * rows))
        panels = list(grid.flat)
        for empty in panels[len(wanted) :]:
            empty.set_axis_off()
    for panel, one in zip(panels, wanted):
        title, values, groups = colouring_of(one, result, t, data, layer)
        drawn = draw_cells(panel, points, values, groups, size=size, cmap=cmap, colours=result.colors.get(title))
        if groups is not None:
            legend_beside(panel, title)
        elif values is not None:
            panel.figure.colorbar(drawn, ax=panel, shrink=0.8, label=title)
        panel.set(xlabel=names[0], ylabel=names[1])
        panel.set_title(title_of(result, t), fontsize=10)
    return np.array(panels[: len(wanted)], dtype=object) if several else panels[0]
