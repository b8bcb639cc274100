"""Clusters and programs along the scales."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics import kmeans
from ..result import Result, as_result
from ._style import axes_or_new, chosen_scales, colours_of, groups_of


def _clusters_at(result: Result, shown: list[int], clusters: Any) -> np.ndarray:
    """Labels at each scale shown: those given, those of the result, or k-means with k = `clusters`."""
    if clusters is None and result.clusters is not None:
        return result.clusters[shown]
    if clusters is None:
        raise ValueError("the result holds no clusters: give their number, or labels as scales x cells")
    if np.ndim(clusters) == 0:
        return np.stack([kmeans(result.embeddings[t], int(clusters)).labels for t in shown])
    given = np.asarray(clusters)
    if given.shape != (len(result), result.embeddings.shape[1]):
        raise ValueError(f"clusters must be {len(result)} scales x {result.embeddings.shape[1]} cells, got {given.shape}")
    return given[shown]


def _matched(labels: np.ndarray) -> np.ndarray:
    """The same clusters, numbered so that each keeps the number of the one it shares most cells with before it."""
    from scipy.optimize import linear_sum_assignment

    rows = [np.unique(labels[0], return_inverse=True)[1]]
    following = rows[0].max() + 1
    for row in labels[1:]:
        row = np.unique(row, return_inverse=True)[1]
        shared = np.zeros((row.max() + 1, following), dtype=int)
        np.add.at(shared, (row, rows[-1]), 1)
        names = np.full(row.max() + 1, -1)
        for mine, theirs in zip(*linear_sum_assignment(-shared)):
            names[mine] = theirs if shared[mine, theirs] else -1
        for k in np.flatnonzero(names < 0):
            names[k] = following
            following += 1
        rows.append(names[row])
    return np.stack(rows)


def _band(ax: Any, x: tuple[float, float], left: tuple[float, float], right: tuple[float, float], colour: Any) -> None:
    s = np.linspace(0.0, 1.0, 30)
    bend = s * s * (3.0 - 2.0 * s)
    low = left[0] + (right[0] - left[0]) * bend
    high = left[1] + (right[1] - left[1]) * bend
    ax.fill_between(x[0] + (x[1] - x[0]) * s, low, high, color=colour, alpha=0.35, linewidth=0)


def cluster_flow(
    result: Any, *, clusters: Any = None, scales: Any = None, labels: Any = None, max_scales: int = 8, ax: Any = None, key: str = "pnmf"
) -> Any:
    """How cells move between clusters from fine to coarse: a column for each scale, bands as wide as their cells.

    Parameters
    ----------
    clusters : int or array-like of shape (T, n), optional
        The number of clusters for k-means, or the labels; default those of the result.
    labels : array-like or str, optional
        Colour cells by these instead of their cluster at the finest scale shown.
    """
    result = as_result(result, key=key)
    shown = chosen_scales(result, scales, max_scales)
    flow = _matched(_clusters_at(result, shown, clusters))
    if labels is None:
        colours_by, names = flow[0], [f"cluster {k + 1}" for k in range(flow[0].max() + 1)]
    else:
        groups = groups_of(labels, result)
        assert groups is not None
        colours_by, names = groups
    colours = colours_of(len(names))
    ax = axes_or_new(ax, figsize=(1.6 + 1.1 * len(shown), 4.0))
    n = flow.shape[1]
    gap = 0.02 * n
    half = 0.06
    places = [_column_places(row, n, gap) for row in flow]
    orders = [np.lexsort((colours_by, row)) for row in flow]
    heights = []
    for row, order, place in zip(flow, orders, places):
        y = np.empty(n)
        for k, (low, _) in place.items():
            members = order[row[order] == k]
            y[members] = low + np.arange(len(members))
        heights.append(y)
    for s, (row, place) in enumerate(zip(flow, places)):
        for k, (low, high) in place.items():
            ax.fill_between([s - half, s + half], low, high, color="0.25", linewidth=0)
            ax.annotate(str(k + 1), (s, (low + high) / 2), color="white", ha="center", va="center", fontsize=7)
        if s + 1 < len(shown):
            _draw_bands(ax, s, half, flow, colours_by, colours, heights)
    ax.set(xlim=(-0.3, len(shown) - 0.7), ylim=(-gap, max(high for place in places for _, high in place.values()) + gap), yticks=[])
    ax.set_xticks(range(len(shown)), [str(t + 1) for t in shown])
    ax.set_xlabel("scale (1 is the finest)")
    ax.set_ylabel(f"{n} cells")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    if len(names) <= 20:
        handles = [ax.fill_between([], [], [], color=colour, alpha=0.6, linewidth=0) for colour in colours]
        ax.legend(handles, names, fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _column_places(row: np.ndarray, n: int, gap: float) -> dict[int, tuple[float, float]]:
    """Where each cluster of a column stands: one above the other, with gaps, in the order of their numbers."""
    places = {}
    low = 0.0
    for k in np.unique(row):
        count = int((row == k).sum())
        places[int(k)] = (low, low + count)
        low += count + gap
    return places


def _draw_bands(ax: Any, s: int, half: float, flow: np.ndarray, colours_by: np.ndarray, colours: list[Any], heights: list[np.ndarray]) -> None:
    """One band for each set of cells that share cluster before, cluster after and colour.

    Cells are ordered inside a cluster by where they come from, so a set may stand in one piece only on one side;
    it is drawn as wide as its cells from its lowest place on each side.
    """
    left, right = flow[s], flow[s + 1]
    triples = np.stack([left, right, colours_by])
    sets = np.unique(triples, axis=1).T
    used_left: dict[tuple[int, int], float] = {}
    used_right: dict[tuple[int, int], float] = {}
    for a, b, c in sets:
        cells = (left == a) & (right == b) & (colours_by == c)
        count = int(cells.sum())
        start_left = used_left.get((a, c), heights[s][(left == a) & (colours_by == c)].min())
        start_right = used_right.get((b, c), heights[s + 1][(right == b) & (colours_by == c)].min())
        _band(ax, (s + half, s + 1 - half), (start_left, start_left + count), (start_right, start_right + count), colours[c])
        used_left[(a, c)] = start_left + count
        used_right[(b, c)] = start_right + count


def top_features(
    result: Any, *, component: int | None = None, count: int = 8, scales: Any = None, max_scales: int = 8, ax: Any = None, key: str = "pnmf"
) -> Any:
    """The features with the largest weights in each program, over the scales.

    Parameters
    ----------
    component : int, optional
        Show one program, from 0: rows are features, columns scales. By default all programs at the recommended scale.
    count : int
        Features of each program.

    Returns
    -------
    Axes
    """
    result = as_result(result, key=key)
    if component is None:
        return _all_components(result, count, ax)
    bases = {}
    for t in chosen_scales(result, scales, max_scales):
        bases[t] = result.basis(t)
    rank, features = next(iter(bases.values())).shape
    if not 0 <= component < rank:
        raise ValueError(f"component must be between 0 and {rank - 1}, got {component}")
    weights = np.stack([W[component] for W in bases.values()])
    chosen: list[int] = []
    for row in weights:
        chosen += [i for i in np.argsort(-row, kind="stable")[:count].tolist() if i not in chosen]
    names = np.arange(features).astype(str) if result.var_names is None else np.asarray(result.var_names).astype(str)
    ax = axes_or_new(ax, figsize=(2.2 + 0.55 * len(bases), 1.2 + 0.24 * len(chosen)))
    image = ax.imshow(weights[:, chosen].T, aspect="auto", cmap="viridis", vmin=0.0)
    ax.set_xticks(range(len(bases)), [str(t + 1) for t in bases])
    ax.set_yticks(range(len(chosen)), names[chosen], fontsize=8)
    ax.set_xlabel("scale (1 is the finest)")
    ax.set_title(f"P{component + 1}: top {count} features at each scale", fontsize=10)
    ax.figure.colorbar(image, ax=ax, label="weight in W", shrink=0.8)
    return ax


def _all_components(result: Result, count: int, ax: Any) -> Any:
    W = result.basis()
    rank, features = W.shape
    names = np.arange(features).astype(str) if result.var_names is None else np.asarray(result.var_names).astype(str)
    chosen: list[int] = []
    for row in W:
        chosen += [i for i in np.argsort(-row, kind="stable")[:count].tolist() if i not in chosen]
    ax = axes_or_new(ax, figsize=(2.2 + 0.4 * rank, 1.2 + 0.2 * len(chosen)))
    image = ax.imshow(W[:, chosen].T, aspect="auto", cmap="viridis", vmin=0.0)
    ax.set_xticks(range(rank), [f"P{k + 1}" for k in range(rank)], fontsize=8)
    ax.set_yticks(range(len(chosen)), names[chosen], fontsize=7)
    ax.set_xlabel("program")
    ax.set_title(f"top {count} features, scale {result.recommended + 1}", fontsize=10)
    ax.figure.colorbar(image, ax=ax, label="weight in W", shrink=0.8)
    return ax
