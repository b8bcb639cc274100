"""H0 persistence: diagram, barcode, merge tree and the number of components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..persistence import H0Persistence
from ..result import as_result
from ._style import COLOURS, axes_or_new


def _persistence(source: Any, key: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, int | None]:
    """Deaths, merge tree, scales in use and the recommended one, of `h0_persistence` or a fit."""
    if isinstance(source, H0Persistence):
        return source.deaths, source.merge_tree, None, None
    result = as_result(source, key=key)
    if result.deaths is None or result.merge_tree is None:
        raise ValueError("the result holds no persistence: it is not one of a fit over scales")
    return result.deaths, result.merge_tree, result.epsilon, result.recommended


def h0_diagram(source: Any, *, ax: Any = None, key: str = "pnmf") -> Any:
    """The H0 diagram: births, all 0, against deaths; the component that never dies on the line at infinity.

    Parameters
    ----------
    source : H0Persistence, or what holds a fit

    Returns
    -------
    Axes
    """
    deaths = _persistence(source, key)[0]
    ax = axes_or_new(ax, figsize=(3.6, 4.2))
    top = float(deaths.max()) if len(deaths) else 1.0
    forever = 1.12 * top
    ax.plot([0, forever], [0, forever], color="0.6", linewidth=0.8, zorder=0)
    ax.axhline(forever, color="0.6", linewidth=0.8, linestyle="--", zorder=0)
    ax.plot(np.zeros(len(deaths)), deaths, "o", color=COLOURS[0], markersize=5, alpha=0.4, clip_on=False)
    ax.plot([0], [forever], "^", color=COLOURS[5], markersize=7, clip_on=False)
    ax.annotate("∞", (0, forever), textcoords="offset points", xytext=(8, 3), color=COLOURS[5])
    ax.set(xlim=(-0.02 * forever, forever), ylim=(0, 1.05 * forever), xlabel="birth", ylabel="death")
    ax.set_title(f"H0: {len(deaths) + 1} components", fontsize=10)
    return ax


def barcode(source: Any, *, ax: Any = None, most: int = 500, key: str = "pnmf") -> Any:
    """The H0 barcode: a bar from birth to death for each component, longest at the top.

    Of more than `most` components the longest are shown.
    """
    deaths = _persistence(source, key)[0]
    ax = axes_or_new(ax, figsize=(5.0, 4.0))
    shown = deaths[-most:] if most < len(deaths) else deaths
    top = float(shown.max()) if len(shown) else 1.0
    ax.hlines(np.arange(len(shown)), 0, shown, color=COLOURS[0], linewidth=max(0.4, min(4.0, 160.0 / (len(shown) + 1))))
    ax.hlines([len(shown)], 0, 1.12 * top, color=COLOURS[5], linewidth=2.0)
    ax.annotate("∞", (1.12 * top, len(shown)), textcoords="offset points", xytext=(4, -4), color=COLOURS[5])
    ax.set(xlim=(0, 1.18 * top), ylim=(-1, len(shown) + 1.5), xlabel="ε", ylabel="component", yticks=[])
    left_out = len(deaths) - len(shown)
    ax.set_title("H0 barcode" + (f" ({left_out} shorter bars left out)" if left_out else ""), fontsize=10)
    return ax


def merge_tree(source: Any, *, ax: Any = None, labels: Any = None, most: int = 60, key: str = "pnmf") -> Any:
    """The merge tree of the components; of more than `most` leaves the late merges are shown.

    Parameters
    ----------
    labels : array-like, optional
        Names of the cells, shown when all leaves are.
    """
    from scipy.cluster.hierarchy import dendrogram

    _, tree, epsilon, recommended = _persistence(source, key)
    ax = axes_or_new(ax, figsize=(7.0, 4.0))
    whole = len(tree) + 1 <= most
    names = [str(name) for name in labels] if labels is not None and whole else None
    dendrogram(
        tree,
        ax=ax,
        truncate_mode=None if whole else "lastp",
        p=most,
        no_labels=names is None,
        labels=names,
        color_threshold=0,
        above_threshold_color=COLOURS[0],
        leaf_rotation=90,
    )
    if epsilon is not None and recommended is not None and len(tree):
        height = float(epsilon[recommended])
        if height < 1.1 * float(tree[:, 2].max()):
            ax.axhline(height, color=COLOURS[5], linewidth=1.0, linestyle="--")
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "xytext": (0, 3)}
            ax.annotate(f"recommended scale {recommended + 1}", (0.99, height), **place, ha="right", va="bottom", color=COLOURS[5], fontsize=8, bbox=box)
    ax.set_ylabel("ε")
    ax.set_title("merge tree" if whole else f"merge tree, last {most} components", fontsize=10)
    return ax


def betti0(source: Any, *, ax: Any = None, key: str = "pnmf") -> Any:
    """β₀ over ε: components of the graph that joins cells at distance < ε, with the scales in use."""
    deaths, _, epsilon, recommended = _persistence(source, key)
    ax = axes_or_new(ax, figsize=(5.0, 3.6))
    n = len(deaths) + 1
    last = float(epsilon[-1]) if epsilon is not None else 1.1 * (float(deaths[-1]) if len(deaths) else 1.0)
    # β₀ falls just above a death: it still counts the component at ε equal to it.
    ax.step(np.concatenate([[0.0], deaths, [last]]), np.concatenate([[n], np.arange(n, 0, -1)]), where="pre", color=COLOURS[0])
    if epsilon is not None and recommended is not None:
        counts = n - np.searchsorted(deaths, epsilon, side="left")
        ax.plot(epsilon, counts, "o", color=COLOURS[0], markersize=3.5, label="scales in use")
        ax.plot(epsilon[recommended], counts[recommended], "o", color=COLOURS[5], markersize=7, label="recommended")
        ax.legend(fontsize=8, frameon=False)
    ax.set(xlabel="ε", ylabel="β₀(ε)", yscale="log" if n > 50 else "linear")
    return ax
