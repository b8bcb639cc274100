"""Programs along the scales: where each is found, and into which it merges."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..result import as_result
from ._style import COLOURS, axes_or_new


def programs(result: Any, *, ax: Any = None, genes: int = 4, key: str = "pnmf") -> Any:
    """Each program of the recommended scale as a bar over the scales at which it is found, the most persistent on top.

    The first genes by score stand beside the bar. An arrow names the program into which one merges towards coarser
    scales; programs that follow the depth of the cells are drawn in another colour, and the legend says so.

    Parameters
    ----------
    result : AnnData, PersistentNMF, Result or path
    genes : int
        Genes to name of each program.

    Returns
    -------
    Axes
    """
    from matplotlib.patches import Patch

    result = as_result(result, key=key)
    table = result.program_summary().sort_values("persistence", ascending=False, kind="stable")
    top = result.programs(max(1, genes)).groupby("program")["gene"].agg(" ".join)
    ax = axes_or_new(ax, figsize=(7.0, 1.2 + 0.26 * len(table)))
    depth = table["depth_driven"].to_numpy() if "depth_driven" in table else np.zeros(len(table), dtype=bool)
    for place, ((name, row), follows) in enumerate(zip(table.iterrows(), depth)):
        first, last = int(row["first_scale"]) + 1, int(row["last_scale"]) + 1
        ax.barh(place, last - first + 1, left=first - 0.5, height=0.7, color=COLOURS[5] if follows else COLOURS[0], alpha=0.75)
        if row["merges_into"]:
            ax.annotate(f"→ {row['merges_into']}", (last + 0.5, place), textcoords="offset points", xytext=(3, 0), va="center", fontsize=7)
    ax.axvline(result.recommended + 1, color="0.4", linewidth=1, linestyle="--")
    ax.set_yticks(range(len(table)), [f"{name} ({row['persistence']:.2f})  {top[name] if genes else ''}" for name, row in table.iterrows()], fontsize=7)
    ax.invert_yaxis()
    ax.set(xlim=(0.5, len(result) + 1.0), xlabel="scale (1 is the finest)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_title("programs and their persistence", fontsize=10)
    kinds = [Patch(color=COLOURS[0], alpha=0.75, label="program")]
    if depth.any():
        kinds.append(Patch(color=COLOURS[5], alpha=0.75, label="follows the depth of cells"))
    ax.legend(handles=kinds, fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0)
    return ax
