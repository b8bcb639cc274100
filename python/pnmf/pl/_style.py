"""What the pictures share: axes, colours that colour-blind people can tell apart, labels, scales to show."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result import Result

# Okabe and Ito's colours, black last.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000"]


def axes_or_new(ax: Any, **figure: Any) -> Any:
    """The axes given, or new ones."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained", **figure)[1]


def legend_beside(ax: Any, title: str = "", handles: Any = None, names: Any = None) -> None:
    """A legend at the right of the axes, in as many columns as its entries need."""
    if handles is None:
        handles, names = ax.get_legend_handles_labels()
    place = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "ncol": 1 + (len(names) - 1) // 15}
    ax.legend(handles, names, title=title or None, fontsize=8, title_fontsize=8, frameon=False, markerscale=1.5, borderaxespad=0.0, **place)


def colours_of(count: int) -> list[Any]:
    """So many colours; beyond eight from a wide map."""
    if count <= len(COLOURS):
        return list(COLOURS[:count])
    import matplotlib

    return list(matplotlib.colormaps["turbo"](np.linspace(0.05, 0.95, count)))


def colours_of_groups(names: list[str], stored: dict[str, str]) -> list[Any]:
    """Those stored for the groups, where each has one."""
    return [stored[name] for name in names] if set(names) <= set(stored) else colours_of(len(names))


def groups_of(labels: Any, result: Result, t: int | None = None) -> tuple[np.ndarray, list[str]] | None:
    """Numbers from 0 and names of the groups to colour cells by: labels, a column of obs, or the clusters at t."""
    if isinstance(labels, str):
        if result.obs is None or labels not in result.obs:
            raise ValueError(f"{labels!r} is no column of obs")
        labels = result.obs[labels]
    if labels is None:
        if result.clusters is None:
            return None
        labels = result.clusters[result.recommended if t is None else t]
    order = [str(name) for name in labels.cat.categories] if hasattr(labels, "cat") else None
    values = np.asarray(labels)
    if values.dtype == object or order is not None:
        values = values.astype(str)
    if values.shape != (result.embeddings.shape[1],):
        raise ValueError(f"there must be one label for each of {result.embeddings.shape[1]} cells, got {values.shape}")
    names, numbers = np.unique(values, return_inverse=True)
    if order is not None and set(names) <= set(order):  # "10" after "9"
        places = np.argsort([order.index(name) for name in names])
        names, numbers = names[places], np.argsort(places)[numbers]
    return numbers, [str(name) for name in names]


def chosen_scales(result: Result, scales: Any, most: int) -> list[int]:
    """The positions asked for, or at most so many, evenly spaced, finest and coarsest among them."""
    if scales is not None:
        return [result.position(int(t)) for t in np.atleast_1d(scales)]
    count = min(most, len(result))
    return sorted(set(np.linspace(0, len(result) - 1, count).round().astype(int).tolist()))


def title_of(result: Result, t: int) -> str:
    """Scale t in words, numbered from 1 as the program does."""
    parts = [f"scale {t + 1}"]
    if result.epsilon is not None:
        parts.append(f"ε = {result.epsilon[t]:.3g}")
    if result.betti0 is not None:
        parts.append(f"β₀ = {result.betti0[t]}")
    return ", ".join(parts)
