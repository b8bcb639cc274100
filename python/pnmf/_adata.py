"""An AnnData made ready for the compiled library: which matrix, which genes, what is done to the values."""

from __future__ import annotations

import os
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import _core
from ._data import batches_of, checked, core_matrix, sparse_matrix
from ._progress import is_verbose


def anndata_of(value: Any, name: str = "adata") -> Any:
    """The AnnData itself; TypeError for anything else, with what makes one of it."""
    if all(hasattr(value, part) for part in ("X", "layers", "obs", "var", "obsm", "uns")):
        return value
    if isinstance(value, (str, os.PathLike)):
        cure = f"read the file first: anndata.read_h5ad({os.fspath(value)!r})"
    elif isinstance(value, (pd.DataFrame, np.ndarray)) or hasattr(value, "tocsr"):
        cure = "anndata.AnnData(...) makes one of a table or matrix with cells as rows"
    else:
        cure = "see anndata.AnnData"
    raise TypeError(f"{name} must be an AnnData, got {type(value).__name__}; {cure}")


def matrix_of(adata: Any, layer: str | None) -> Any:
    """A layer by name; "X" and None are the matrix itself, "raw" is adata.raw unless a layer has that name."""
    if layer is None or layer == "X":
        return _in_memory(adata.X) if getattr(adata, "isbacked", False) else adata.X
    if layer == "raw" and layer not in adata.layers and adata.raw is not None:
        return adata.raw.X
    if layer not in adata.layers:
        raise ValueError(f"layers[{layer!r}] is missing; there are {sorted(adata.layers)}")
    return adata.layers[layer]


def entry_of(adata: Any, key: str) -> Any:
    """An entry of obsm; ValueError when there is none."""
    if key not in adata.obsm:
        raise ValueError(f"obsm[{key!r}] is missing; there are {sorted(adata.obsm)}")
    return adata.obsm[key]


def _chosen_values(adata: Any, layer: str | None, preset: str) -> tuple[str | None, Any]:
    """A layer and its values; where the user names none, what should be factorised: counts, or raw where X is scaled.

    X may be in a file, and is read once.
    """
    of_cells = layer is None and preset in ("auto", "cells", "spatial")
    if of_cells and "counts" in adata.layers:
        layer = "counts"
    X = checked(matrix_of(adata, layer))
    if of_cells and layer is None and adata.raw is not None and _core.kind_of_values(core_matrix(X), False) == "scaled":
        return "raw", checked(matrix_of(adata, "raw"))
    return layer, X


def _unit_of_library(library: Any) -> float | None:
    """As Visium HD says it, or by the spots of Visium, which are 55 micrometres wide and whose width in units is there."""
    factors = library.get("scalefactors") if isinstance(library, dict) else None

    def positive(name: str) -> float | None:
        value = np.asarray(factors.get(name, np.nan) if isinstance(factors, dict) else np.nan)
        there = value.size == 1 and value.dtype.kind in "fiu" and np.isfinite(value) and value > 0
        return float(value) if there else None

    units = positive("spot_diameter_fullres")
    return positive("microns_per_pixel") or (None if units is None else (positive("bin_size_um") or 55.0) / units)


def _unit_of_places(adata: Any) -> float | None:
    """Micrometres of one unit of the places; None where a library does not say it, or where they differ."""
    spatial = adata.uns.get("spatial")
    units = [_unit_of_library(library) for library in (spatial.values() if isinstance(spatial, dict) else [])]
    known = [unit for unit in units if unit is not None]
    return known[0] if known and len(known) == len(units) and max(known) <= 1.01 * min(known) else None


def _about(adata: Any, layer: str | None, names: list[str], gene_table: Any, genes: Any, space: str | None) -> dict[str, Any]:
    """What the compiled library is told about the data beside their values."""
    about: dict[str, Any] = {
        "cells": [str(name) for name in adata.obs_names],
        "features": names,
        "format": "h5ad",
        "layer": layer or "X",
        "log_recorded": "log1p" in adata.uns,
        "layers": [str(name) for name in adata.layers],
        "has_raw": adata.raw is not None,
        "has_image": "spatial" in adata.uns,
    }
    unit = _unit_of_places(adata)
    if unit is not None:
        about.update(unit_um=unit)
    column = genes if isinstance(genes, str) and genes != "all" and not genes.isdigit() else "highly_variable"
    if column in gene_table:
        about.update(column=column, marked=[float(bool(value)) for value in gene_table[column]])
    if space is not None and str(space).startswith("obsm:"):
        values = np.ascontiguousarray(entry_of(adata, str(space)[5:]), dtype=np.float64)
        if values.ndim != 2:
            raise ValueError(f"{space} must be a matrix with a row for each cell")
        about.update(space=space, coordinates=values)
    return about


def _places(adata: Any, key: str | None) -> dict[str, Any]:
    """Where the cells are: an entry of obsm, "spatial" by custom, else the columns x and y of obs."""
    if key is None and "spatial" not in adata.obsm and {"x", "y"} <= set(adata.obs):
        return {"space": "obs:x,y", "coordinates": adata.obs[["x", "y"]].to_numpy(np.float64, copy=True), "are_places": True}
    key = key or "spatial"
    return {"space": f"obsm:{key}", "coordinates": np.ascontiguousarray(entry_of(adata, key), dtype=np.float64), "are_places": True}


def _in_memory(X: Any) -> Any:
    """The matrix of an AnnData that is backed by a file (``backed="r"``), read."""
    return X.to_memory() if hasattr(X, "to_memory") else X[:]


@dataclass(frozen=True)
class Prepared:
    """The values of an AnnData as they are factorised, and what the compiled library says about them."""

    ready: dict[str, Any]
    X: Any
    rows: np.ndarray | None  # of var, for each gene kept; -1 for a gene of raw that var has not; None: no genes


def prepare(
    adata: Any,
    asked: dict[str, Any],
    given: dict[str, Any],
    *,
    layer: str | None,
    use_rep: str | None,
    mask_var: Any,
    verbose: bool | None,
    batch_key: str | None = None,
    spatial_key: str | None = None,
    sample_key: str | None = None,
) -> Prepared:
    """Decides what is done with an AnnData, does all of it but the fit, and says what was chosen."""
    if layer is not None and use_rep not in (None, "X"):
        raise ValueError("layer and use_rep cannot be given together")
    asked = dict(asked)
    of_genes = use_rep in (None, "X")
    if of_genes:
        layer, X = _chosen_values(adata, layer, asked["preset"])
        table = adata.raw.var if layer == "raw" and layer not in adata.layers else adata.var
        names = [str(name) for name in table.index]
        index = table.index
        if not index.is_unique:
            warnings.warn(
                "names of genes occur more than once; -1, -2, ... is added to their repetitions, as adata.var_names_make_unique() does",
                stacklevel=3,
            )
        if mask_var is not None:
            table = pd.DataFrame({"mask_var": table[mask_var] if isinstance(mask_var, str) else np.asarray(mask_var, bool)}, index=index)
            asked["genes"] = "mask_var"
    else:
        X = checked(entry_of(adata, str(use_rep)))
        names = [f"{use_rep} {i + 1}" for i in range(X.shape[1])]
        table = {}
        asked["preset"] = "points" if asked["preset"] == "auto" else asked["preset"]
        asked["transform"] = asked["transform"] or (None if asked["normalize"] else "none")
    about = _about(adata, layer if of_genes else f"obsm:{use_rep}", names, table, asked["genes"], asked["space"])
    if spatial_key is not None and asked["preset"] == "auto":
        asked["preset"] = "spatial"
    tissue = asked["preset"] == "spatial"
    if tissue or (of_genes and asked["preset"] == "auto" and asked["space"] is None and batch_key is None and "spatial" in adata.obsm):
        if asked["space"] is not None:
            raise ValueError("in a tissue distances come from the places of the cells: space cannot be given too")
        about.update(_places(adata, spatial_key))
    elif spatial_key is not None:
        raise ValueError(f"spatial_key is for the preset spatial, not for {asked['preset']}")
    for name, key in (("batch_key", batch_key), ("sample_key", sample_key)):
        if key is not None and key not in adata.obs:
            raise ValueError(f"{name}: obs[{key!r}] is missing; there are {sorted(map(str, adata.obs))}")
    if sample_key is not None:
        about.update(sample=batches_of(adata.obs[sample_key]))
    if batch_key is not None:
        about.update(batch_key=str(batch_key), batch=batches_of(adata.obs[batch_key]))
    phases = asked.get("without_loop")
    if isinstance(phases, str) and phases in adata.obs and pd.api.types.is_numeric_dtype(adata.obs[phases]):
        about.update(phases_key=phases, phases=adata.obs[phases].to_numpy(np.float64))
    ready = _core.prepare(core_matrix(X), asked, given, about)
    if is_verbose(verbose):
        print(*ready["notices"], sep="\n", file=sys.stderr)
    values = ready["X"]
    rows = None
    if of_genes:
        rows = ready["kept"] if index.equals(adata.var_names) else adata.var_names.get_indexer(ready["features"])
    return Prepared(ready, sparse_matrix(values) if isinstance(values, tuple) else values, rows)


def named_cells(adata: Any, layer: Any) -> tuple[Any, list[str], list[str]]:
    """Values of a layer, names of cells and names of genes, as the compiled library takes data with names."""
    names = adata.raw.var_names if layer == "raw" and layer not in adata.layers else adata.var_names
    return core_matrix(checked(matrix_of(adata, layer))), [str(name) for name in adata.obs_names], [str(name) for name in names]
