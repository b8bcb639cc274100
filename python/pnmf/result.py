"""A fit as it is stored: what the program writes, what `pnmf.tl.pnmf` keeps in an AnnData, what estimators hold."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

OBJECTIVE_TERMS = ("fit", "graph", "smoothness", "anchor")


def _array(value: Any) -> np.ndarray | None:
    return None if value is None else np.asarray(value)


class Result:
    """A fit at every scale, finest first.

    Made by `read_result`, or as `PersistentNMF.result_`. What a file does not hold is None, or empty.

    Attributes
    ----------
    epsilon, betti0, multiplicity : ndarray of shape (T,)
        The scales, the components of the graph at each, the deaths at exactly that scale.
    embeddings : ndarray of shape (T, n, d)
    objective : ndarray of shape (sweeps + 1,)
        After each sweep, the start first; `objective_terms` has its four parts.
    kkt, effective_rank : ndarray of shape (T,)
    deaths, merge_tree : ndarray
        H0 persistence of the cells; the tree is a SciPy linkage matrix.
    recommended : int
        Position of the recommended scale, from 0.
    clusters : ndarray of shape (T, n) or None
    scores : dict of ndarray of shape (T,)
    options : dict
    penalty : ndarray of shape (3,) or None
        The weights of graph, smoothness and anchor as they were used: where few scales stand for many, the
        smoothness differs from the option.
    stop, transform : str
    warnings : list of str
    obs_names, var_names : ndarray or None
    obs : DataFrame or None
    """

    def __init__(
        self,
        uns: Mapping[str, Any],
        *,
        bases: list[np.ndarray] | None = None,
        recommended_basis: np.ndarray | None = None,
        obs: Any = None,
        obs_names: np.ndarray | None = None,
        var_names: np.ndarray | None = None,
    ) -> None:
        if "H" not in uns:
            raise ValueError("this is not a result of a fit: it has no embeddings H")
        self.embeddings = np.asarray(uns["H"]).transpose(0, 2, 1)
        self.epsilon = _array(uns.get("epsilon"))
        self.betti0 = _array(uns.get("betti0"))
        self.multiplicity = _array(uns.get("multiplicity"))
        self.objective = _array(uns.get("objective"))
        self.objective_terms = {name: np.asarray(uns[f"objective_{name}"]) for name in OBJECTIVE_TERMS if f"objective_{name}" in uns}
        self.kkt = _array(uns.get("kkt"))
        self.effective_rank = _array(uns.get("effective_rank"))
        self.deaths = _array(uns.get("deaths"))
        self.merge_tree = _array(uns.get("merge_tree"))
        self.recommended = int(uns.get("recommended", 0))
        self.clusters = _array(uns.get("clusters"))
        self.scores = {name: np.asarray(values) for name, values in uns.get("scores", {}).items()}
        self.penalty = _array(uns.get("penalty"))
        self.options: dict[str, Any] = json.loads(str(uns["options"])) if "options" in uns else {}
        self.method = str(uns.get("method", "pnmf"))
        self.stop = str(uns.get("stop", ""))
        self.transform = str(uns.get("transform", ""))
        self.warnings = [str(text) for text in uns.get("warnings", [])]
        self.obs = obs
        self.obs_names = obs_names
        self.var_names = var_names
        self._bases = bases if bases is not None or "W" not in uns else [np.asarray(W).T for W in uns["W"]]
        self._recommended_basis = recommended_basis

    def __len__(self) -> int:
        return len(self.embeddings)

    def __repr__(self) -> str:
        scales, cells, rank = self.embeddings.shape
        return f"<pnmf.Result: {cells} cells, rank {rank}, {scales} scales, {self.stop}>"

    def basis(self, t: int | None = None) -> np.ndarray:
        """The basis at scale t, d x p; at the recommended scale by default. ValueError when it was not kept."""
        place = self.recommended if t is None else self.position(t)
        if self._bases is not None:
            return self._bases[place]
        if place == self.recommended and self._recommended_basis is not None:
            return self._recommended_basis
        raise ValueError(f"the basis at scale {place} was not kept: fit with save_basis=True, or `pnmf fit --save-basis`")

    def position(self, t: int) -> int:
        """The position t, counted from the end when negative; ValueError when there is no such scale."""
        if not -len(self) <= t < len(self):
            raise ValueError(f"there are {len(self)} scales, from 0 (finest) to {len(self) - 1}, got {t}")
        return t % len(self)

    def top_features(self, t: int | None = None, count: int = 10) -> list[list[str]]:
        """Names of the features with the largest weights in each component at scale t."""
        W = self.basis(t)
        names = np.arange(W.shape[1]).astype(str) if self.var_names is None else np.asarray(self.var_names)
        return [[str(name) for name in names[np.argsort(-row, kind="stable")[:count]]] for row in W]


def _from_anndata(adata: Any, key: str) -> Result:
    if key not in adata.uns:
        found = [name for name, value in adata.uns.items() if isinstance(value, Mapping) and "H" in value]
        raise ValueError(f"uns[{key!r}] is missing: no fit is stored there" + (f"; there is one in {found}" if found else ""))
    W = adata.varm[f"{key}_W"] if f"{key}_W" in adata.varm else None
    return Result(
        adata.uns[key],
        recommended_basis=None if W is None else np.asarray(W).T,
        obs=adata.obs,
        obs_names=np.asarray(adata.obs_names),
        var_names=np.asarray(adata.var_names),
    )


def read_result(source: Any, *, key: str = "pnmf") -> Result:
    """A fit from where it is stored.

    Parameters
    ----------
    source : path or AnnData
        The folder that ``pnmf fit`` wrote, its ``result.h5ad``, or an AnnData that `pnmf.tl.pnmf` was run on.
    key : str
        ``key_added`` of `pnmf.tl.pnmf`.

    Returns
    -------
    Result
    """
    if hasattr(source, "uns") and hasattr(source, "obsm"):
        return _from_anndata(source, key)
    path = Path(os.fspath(source))
    if path.is_dir():
        path = path / "result.h5ad"
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such result of a fit")
    import anndata

    return _from_anndata(anndata.read_h5ad(path), key)


def as_result(source: Any, *, key: str = "pnmf") -> Result:
    """A result from a fitted estimator, a `Result`, an AnnData or a path."""
    if isinstance(source, Result):
        return source
    if hasattr(source, "result_"):
        held: Result = source.result_
        return held
    if hasattr(source, "fit_transform"):
        raise ValueError("the estimator is not fitted yet: call fit first")
    return read_result(source, key=key)
