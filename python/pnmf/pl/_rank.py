"""Stability and error against the rank."""

from __future__ import annotations

from typing import Any

from ..rank import RankCurve
from ._style import COLOURS, axes_or_new


def rank_curve(curve: Any, *, ax: Any = None, key: str = "pnmf_rank") -> Any:
    """The stability of the programs and the error on held-out entries against the rank, as users of cNMF choose by.

    Parameters
    ----------
    curve : RankCurve or AnnData
        From `pnmf.choose_rank`, or the AnnData that `pnmf.tl.choose_rank` was run on.
    ax : Axes, optional
    key : str
        ``key_added`` of `pnmf.tl.choose_rank`.

    Returns
    -------
    Axes
        Of the stability; the error has its own at the right, ``ax.right_ax``. Its bars are one standard error of the
        difference from the smallest.
    """
    if not isinstance(curve, RankCurve):
        if key not in curve.uns:
            raise ValueError(f"uns[{key!r}] is missing: run pnmf.tl.choose_rank first")
        curve = RankCurve.from_dict(curve.uns[key])
    ax = axes_or_new(ax, figsize=(6.0, 3.8))
    of_stability, of_error = COLOURS[0], COLOURS[5]
    lines = ax.plot(curve.ranks, curve.stability, "o-", color=of_stability, markersize=4, label="stability of the programs")
    ax.set_xlabel("rank")
    ax.set_ylabel("stability of the programs", color=of_stability)
    ax.xaxis.get_major_locator().set_params(integer=True)
    right = ax.twinx()
    bars = right.errorbar(curve.ranks, curve.error, yerr=curve.difference_deviation, fmt="s-", color=of_error, markersize=4, capsize=2, label="error on held-out entries")
    right.set_ylabel("error on held-out entries", color=of_error)
    ax.axvline(curve.by_stability, color=of_stability, linestyle=":", linewidth=1.2)
    ax.axvline(curve.by_error, color=of_error, linestyle="--", linewidth=1.2)
    ax.set_title(f"rank {curve.by_error} by error, {curve.by_stability} by stability", fontsize=10)
    ax.legend(handles=[*lines, bars], fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18), ncol=2)
    ax.right_ax = right
    return ax
