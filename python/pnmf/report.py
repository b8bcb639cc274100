"""The page of a fit: one HTML file to look at."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._adata import anndata_of, named_cells
from .result import Result, as_result

__all__ = ["write_report"]


def _columns(obs: Any) -> dict[str, Any]:
    """Columns of obs that the page can colour by: numbers as such, all else as text."""
    columns: dict[str, Any] = {}
    for name in obs if obs is not None else []:
        values = obs[name]
        if values.dtype.kind in "iuf":
            columns[str(name)] = np.asarray(values, dtype=np.float64)
        else:
            columns[str(name)] = ["" if value is None or value != value else str(value) for value in values]
    return columns


def _cells(adata: Any, result: Result) -> tuple[Any, list[str], list[str]] | None:
    """What the fit was made from: values, names of cells and of features; None for a fit of no genes."""
    layer = result.input.get("layer")
    adata = anndata_of(adata, "data")
    if layer is not None and str(layer).startswith("obsm:"):
        return None
    return named_cells(adata, layer)


def write_report(source: Any, path: str | os.PathLike[str], *, data: Any = None, key: str = "pnmf") -> None:
    """Write the page of a fit, as ``pnmf report`` does: one HTML file that opens from disk.

    Genes that do not fit into the page go into a file beside it, ``report.genes`` for ``report.html``, which the page
    asks to be opened.

    Parameters
    ----------
    source : AnnData, Result, fitted estimator or path
        The fit.
    path : path
        The page to write.
    data : AnnData, optional
        The data of the fit: adds colours by gene, scores of genes at every scale, the graph and, of a tissue, the
        image in ``uns["spatial"]``. Where `source` is an
        AnnData, that is taken; its values must still be those of the fit.
    key : str
        ``key_added`` of `pnmf.tl.pnmf`.

    Examples
    --------
    >>> import os, pnmf, tempfile
    >>> adata = pnmf.simulate.cells(cells=60, genes=40, types=3).to_anndata()
    >>> pnmf.tl.pnmf(adata, rank=4, max_scales=3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pnmf.write_report(adata, os.path.join(folder, "report.html"))
    """
    if isinstance(source, (str, os.PathLike)) and os.path.exists(path):
        held = os.path.join(source, "result.h5ad") if os.path.isdir(source) else source
        if os.path.exists(held) and os.path.samefile(held, path):
            raise ValueError(f"{os.fspath(path)} is the fit itself: write the page to another file")
    result = as_result(source, key=key)
    if data is None and hasattr(source, "obsm") and hasattr(source, "uns"):
        data = source
    try:
        basis = np.ascontiguousarray(result.basis(), dtype=np.float64)
    except ValueError:
        basis = None
    parts = dict(result._parts)
    if result.var_names is not None:
        parts["features"] = [str(name) for name in result.var_names]
    images = getattr(data, "uns", {}).get("spatial")
    if isinstance(images, dict):
        parts["spatial"] = images
    loops = getattr(data, "uns", {}).get(f"{key}_loops")
    if isinstance(loops, dict):
        parts["loops"] = {name: loops[name] for name in ("birth", "death", "joins", "chance", "p_value", "p_values") if name in loops}
    html, genes = _core.report(parts, _columns(result.obs), basis, None if data is None else _cells(data, result), Path(os.fspath(path)).stem)
    page = Path(os.fspath(path))
    if genes:
        page.with_suffix(".genes").write_bytes(genes)
    page.write_text(html, encoding="utf-8")
