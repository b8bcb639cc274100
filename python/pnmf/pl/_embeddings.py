"""Embeddings over scales, side by side and as an animation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result import Result, as_result
from ._style import chosen_scales, colours_of, groups_of, legend_beside, title_of


def planar(result: Result, components: tuple[int, int] | None) -> tuple[np.ndarray, tuple[str, str]]:
    """T x n x 2 and the names of the axes: two programs, or two principal axes that all scales share."""
    H = result.embeddings
    rank = H.shape[2]
    if components is None and rank > 2:
        stacked = H.reshape(-1, rank)
        centred = stacked - stacked.mean(axis=0)
        values, vectors = np.linalg.eigh(centred.T @ centred)
        axes = vectors[:, ::-1][:, :2]
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None], axis=0)  # as the page turns them
        axes = axes * np.where(largest < 0, -1.0, 1.0)
        return (H - stacked.mean(axis=0)) @ axes, ("principal axis 1", "principal axis 2")
    first, second = components if components is not None else (0, min(1, rank - 1))
    if not (0 <= first < rank and 0 <= second < rank):
        raise ValueError(f"components must be between 0 and {rank - 1}, got {components}")
    return H[:, :, [first, second]], (f"P{first + 1}", f"P{second + 1}")


def _limits(points: np.ndarray) -> tuple[tuple[float, float], tuple[float, float]]:
    low = points.reshape(-1, 2).min(axis=0)
    high = points.reshape(-1, 2).max(axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1.0)
    return (low[0] - margin[0], high[0] + margin[0]), (low[1] - margin[1], high[1] + margin[1])


def point_size(cells: int) -> float:
    return float(np.clip(2000.0 / cells, 2.0, 24.0))


def embeddings(
    result: Any,
    *,
    labels: Any = None,
    scales: Any = None,
    components: tuple[int, int] | None = None,
    max_scales: int = 9,
    share_limits: bool = True,
    columns: int = 3,
    key: str = "pnmf",
) -> np.ndarray:
    """The embeddings at several scales, a panel for each.

    Parameters
    ----------
    result : PersistentNMF, Result, AnnData or path
    labels : array-like or str, optional
        Colours of the cells, or the name of a column of obs; default the clusters of the result.
    scales : int or list of int, optional
        Positions from 0; default at most `max_scales`, evenly spaced.
    components : (int, int), optional
        The two programs to show, from 0; default the only two, or two principal axes that all scales share.
    share_limits : bool
        The same limits in every panel, so that a collapse is seen as one.

    Returns
    -------
    ndarray of Axes, one for each scale
    """
    import matplotlib.pyplot as plt

    result = as_result(result, key=key)
    shown = chosen_scales(result, scales, max_scales)
    points, names = planar(result, components)
    groups = groups_of(labels, result)
    columns = min(columns, len(shown))
    rows = -(-len(shown) // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(3.0 * columns, 2.8 * rows), squeeze=False, layout="constrained", sharex=share_limits, sharey=share_limits
    )
    limits = _limits(points[shown])
    for ax, t in zip(grid.flat, shown):
        _scatter(ax, points[t], groups)
        ax.set_title(title_of(result, t), fontsize=9)
        if share_limits:
            ax.set_xlim(limits[0])
            ax.set_ylim(limits[1])
    for ax in grid.flat[len(shown) :]:
        ax.set_axis_off()
    for ax in grid.flat[max(0, len(shown) - columns) : len(shown)]:
        ax.tick_params(labelbottom=True)  # also where the panel below is empty
    figure.supxlabel(names[0], fontsize=10)
    figure.supylabel(names[1], fontsize=10)
    if groups is not None:
        legend_beside(grid[0, -1], "", *grid.flat[0].get_legend_handles_labels())
    axes: np.ndarray = grid.flat[: len(shown)]
    return axes


def _scatter(ax: Any, points: np.ndarray, groups: tuple[np.ndarray, list[str]] | None) -> list[Any]:
    size = point_size(len(points))
    if groups is None:
        return [ax.scatter(points[:, 0], points[:, 1], s=size, color=colours_of(1)[0], linewidths=0)]
    numbers, names = groups
    return [
        ax.scatter(*points[numbers == k].T, s=size, color=colour, label=name, linewidths=0)
        for k, (name, colour) in enumerate(zip(names, colours_of(len(names))))
    ]


def animate_embeddings(
    result: Any,
    *,
    labels: Any = None,
    scales: Any = None,
    components: tuple[int, int] | None = None,
    max_scales: int = 60,
    interval: int = 120,
    ax: Any = None,
    key: str = "pnmf",
) -> Any:
    """The embeddings from fine to coarse as an animation; keep it alive, or `.save` it.

    Returns
    -------
    matplotlib.animation.FuncAnimation
        Its axes are ``animation.ax``.
    """
    from matplotlib.animation import FuncAnimation

    from ._style import axes_or_new

    result = as_result(result, key=key)
    shown = chosen_scales(result, scales, max_scales)
    points, names = planar(result, components)
    groups = groups_of(labels, result)
    ax = axes_or_new(ax, figsize=(4.8, 4.4))
    drawn = _scatter(ax, points[shown[0]], groups)
    limits = _limits(points[shown])
    ax.set(xlim=limits[0], ylim=limits[1], xlabel=names[0], ylabel=names[1])
    if groups is not None:
        legend_beside(ax)

    def show(t: int) -> list[Any]:
        for k, artist in enumerate(drawn):
            artist.set_offsets(points[t] if groups is None else points[t][groups[0] == k])
        ax.set_title(title_of(result, t), fontsize=10)
        return drawn

    animation = FuncAnimation(ax.figure, show, frames=shown, interval=interval, blit=False)
    animation.ax = ax
    show(shown[0])
    return animation
