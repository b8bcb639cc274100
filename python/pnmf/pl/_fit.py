"""How a fit went and how good it is: convergence, scores over scales, scores over weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..result import as_result
from ._style import COLOURS, axes_or_new, colours_of


def convergence(result: Any, *, ax: Any = None, terms: bool = True, key: str = "pnmf") -> Any:
    """The objective after each sweep, the start first, and its four terms."""
    result = as_result(result, key=key)
    ax = axes_or_new(ax, figsize=(5.4, 3.6))
    sweeps = np.arange(len(result.objective))
    marker = "o" if len(sweeps) < 40 else None
    ax.plot(sweeps, result.objective, color="black", linewidth=2, marker=marker, markersize=4, label="objective")
    if terms:
        for colour, (name, values) in zip(COLOURS, result.objective_terms.items()):
            if np.any(values > 0):
                ax.plot(sweeps, values, color=colour, linewidth=1.2, marker=marker, markersize=3, label=name)
        ax.set_yscale("log")
    ax.set(xlabel="sweep", ylabel="objective")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_title(f"{result.stop} after {len(sweeps) - 1} sweeps", fontsize=10)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def scores(result: Any, values: Any = None, *, ax: Any = None, key: str = "pnmf") -> Any:
    """Scores over the scales: those of the result, or given ones.

    Parameters
    ----------
    values : mapping of str to array-like, or list of `pnmf.metrics.Scores`, optional
        A number for each scale. From `pnmf.metrics.score_scales`: means over seeds, with a band of one deviation.
    """
    result = as_result(result, key=key)
    lines = _score_lines(result.scores if values is None else values)
    if not lines:
        raise ValueError("the result holds no scores: give them as values, for instance from pnmf.metrics.score_scales")
    ax = axes_or_new(ax, figsize=(5.8, 3.6))
    places = np.arange(1, len(result) + 1)
    for colour, (name, (mean, deviation)) in zip(colours_of(len(lines)), lines.items()):
        if len(mean) != len(result):
            raise ValueError(f"{name} must have one value for each of {len(result)} scales, got {len(mean)}")
        ax.plot(places, mean, color=colour, marker="o" if len(places) < 40 else None, markersize=3.5, label=name)
        if deviation is not None:
            ax.fill_between(places, mean - deviation, mean + deviation, color=colour, alpha=0.15, linewidth=0)
    ax.axvline(result.recommended + 1, color="0.5", linewidth=1, linestyle="--", label="recommended")
    ax.set(xlabel="scale (1 is the finest)", ylabel="score")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _score_lines(values: Any) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
    if isinstance(values, Mapping):
        return {str(name): (np.asarray(line, dtype=float), None) for name, line in values.items()}
    lines: dict[str, tuple[np.ndarray, np.ndarray | None]] = {}
    for name in ("ari", "nmi", "purity", "accuracy"):
        if values and getattr(values[0], name) is not None:
            pairs = np.array([getattr(one, name) for one in values])
            lines[name.upper() if len(name) == 3 else name] = (pairs[:, 0], pairs[:, 1])
    if values and all(one.silhouette is not None for one in values):
        lines["silhouette"] = (np.array([one.silhouette for one in values]), None)
    return lines


def radar(values: Mapping[str, Mapping[str, float]], *, ax: Any = None, limits: tuple[float, float] | None = None) -> Any:
    """Scores of several settings, such as weights λ, a polygon for each setting and an axis for each score.

    Parameters
    ----------
    values : mapping of str to (mapping of str to float)
        For each setting its scores, the same for all: ``{"λ = (1, 1, 0.1)": {"ARI": 0.9, "NMI": 0.8}}``.
    ax : Axes, optional
        With ``projection="polar"``.
    limits : (float, float), optional
        Of all axes; default from the scores.
    """
    settings = {str(name): dict(scores) for name, scores in values.items()}
    if not settings:
        raise ValueError("there must be at least one setting")
    names = list(next(iter(settings.values())))
    for setting, of_setting in settings.items():
        if list(of_setting) != names:
            raise ValueError(f"every setting must have the scores {names}, {setting!r} has {list(of_setting)}")
    if len(names) < 3:
        raise ValueError(f"a radar needs at least three scores, got {len(names)}")
    from matplotlib.ticker import MaxNLocator

    ax = axes_or_new(ax, figsize=(5.6, 4.2), subplot_kw={"projection": "polar"})
    angles = np.linspace(0, 2 * np.pi, len(names), endpoint=False)
    around = np.append(angles, angles[:1])
    for colour, (setting, of_setting) in zip(colours_of(len(settings)), settings.items()):
        radii = np.array([float(of_setting[name]) for name in names])
        ax.plot(around, np.append(radii, radii[:1]), color=colour, linewidth=1.6, label=setting)
        ax.fill(angles, radii, color=colour, alpha=0.08)
    ax.set_xticks(angles, names)
    ax.set_theta_zero_location("N")
    ax.set_theta_direction(-1)
    if limits is None:
        every = np.array([[of_setting[name] for name in names] for of_setting in settings.values()], dtype=float)
        limits = (max(0.0, float(np.floor(10 * every.min() - 1) / 10)), float(np.ceil(10 * every.max()) / 10))
    ax.set_ylim(*limits)
    ax.set_rlabel_position(180 / len(names))
    ax.yaxis.set_major_locator(MaxNLocator(4))
    ax.tick_params(axis="y", labelsize=8)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.12, 0.5))
    return ax
