"""A fit as it is stored: what the program writes, what `pnmf.tl.pnmf` keeps in an AnnData, what estimators hold."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._data import labels_of

DEPTH_DRIVEN = 0.5  # |r| above which a program follows how deeply cells were sequenced
OBJECTIVE_TERMS = ("fit", "graph", "smoothness", "anchor")


def _array(value: Any) -> np.ndarray | None:
    return None if value is None else np.asarray(value)


def _tree_of(tree: np.ndarray | None, cells: np.ndarray | None) -> np.ndarray | None:
    """The merge tree with its leaves numbered as the cells are now; `cells` are their positions in the fit."""
    if tree is None or cells is None:
        return tree
    place = np.arange(2 * len(cells) - 1, dtype=np.float64)
    place[cells] = np.arange(len(cells))
    tree = tree.copy()
    tree[:, :2] = place[tree[:, :2].astype(np.int64)]
    return tree


class Result:
    """A fit at every scale, finest first. Scales are numbered from 0; the program numbers them from 1.

    Made by `read_result`, or as `PersistentNMF.result_`. What a file does not hold is None, or empty.

    Cells are matched by name with those of the fit: an AnnData whose cells were sorted or shuffled since has the
    embeddings in its own order, one with some of the cells has theirs. ValueError where names do not tell.

    Attributes
    ----------
    epsilon, betti0, multiplicity : ndarray of shape (T,)
        The scales, the components of the graph at each, the deaths at exactly that scale.
    embeddings : ndarray of shape (T, n, d)
    objective : ndarray of shape (sweeps + 1,)
        After each sweep, the start first; `objective_terms` has its four parts.
    kkt, effective_rank : ndarray of shape (T,)
    deaths, merge_tree : ndarray
        H0 persistence of all cells of the fit; the tree is a SciPy linkage matrix, None when cells are missing.
    whole : bool
        Whether all cells of the fit are here.
    recommended : int
        Position of the recommended scale, from 0.
    clusters : ndarray of shape (T, n) or None
    scores : dict of ndarray of shape (T,)
    options : dict
    penalty : ndarray of shape (3,) or None
        The weights of graph, smoothness and anchor as they were used: where few scales stand for many, the
        smoothness differs from the option.
    stop, transform, precision : str
    input : dict
        How the data were read and prepared.
    warnings : list of str
    obs_names, var_names : ndarray or None
    obs : DataFrame or None
    colors : dict
        Of the categories of columns of obs, where the AnnData has them as Scanpy keeps them.
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
        embedding: np.ndarray | None = None,
        name: str = "the result",
    ) -> None:
        parts: dict[str, Any] = {"uns": dict(uns)}
        for part, values in (("cells", obs_names), ("features", var_names)):
            if values is not None:
                parts[part] = [str(value) for value in values]
        if embedding is not None:
            parts["embedding"] = np.ascontiguousarray(embedding, dtype=np.float64)
        self._parts = parts
        read = _core.stored(parts, name)
        cells = read["cells"]
        H = np.asarray(uns["H"]).transpose(0, 2, 1)
        self.embeddings = H if cells is None else H[:, cells]
        self.epsilon = read["epsilon"]
        self.betti0 = read["betti0"]
        self.multiplicity = _array(uns.get("multiplicity"))
        self.objective = _array(uns.get("objective"))
        self.objective_terms = {term: np.asarray(uns[f"objective_{term}"]) for term in OBJECTIVE_TERMS if f"objective_{term}" in uns}
        self.kkt = _array(uns.get("kkt"))
        self.effective_rank = _array(uns.get("effective_rank"))
        self.whole: bool = read["whole"]
        self.deaths = read["deaths"]
        self.merge_tree = _tree_of(_array(uns.get("merge_tree")), cells) if self.whole else None
        self.recommended: int = read["recommended"]
        clusters = _array(uns.get("clusters"))
        self.clusters = clusters if clusters is None or cells is None else clusters[:, cells]
        self.scores = {score: np.asarray(values) for score, values in uns.get("scores", {}).items()}
        self.penalty = read["penalty"]
        self.precision: str = read["precision"]
        self.options: dict[str, Any] = json.loads(str(uns["options"])) if "options" in uns else {}
        self.method: str = read["method"]
        self.stop: str = read["stop"]
        self.transform: str = read["transform"]
        self.input: dict[str, Any] = json.loads(read["input"])
        self.warnings: list[str] = read["warnings"]
        if read["notice"]:
            warnings.warn(read["notice"], stacklevel=2)
        self.obs = obs
        self.colors: dict[str, dict[str, str]] = {}
        self.obs_names = obs_names
        self.var_names = np.asarray(read["features"], dtype=object) if "features" in uns else var_names
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

    def programs(self, count: int | None = 100) -> Any:
        """Which genes mark the programs: the components of the recommended scale.

        A score is the coefficient of the gene's z-scored values on the usages of all programs (ordinary least squares),
        as in cNMF (Kotliar et al., eLife 2019): what is expected, in standard deviations, of a cell that is this
        program alone. Genes that are high in every cell do not lead, as they do by their weight in the basis.

        Parameters
        ----------
        count : int, optional
            Genes of each program; None for all.

        Returns
        -------
        DataFrame
            A row for each gene of each program, best first: program, gene, score, rank (from 1), scale (from 0).
            "P1" is column 0 of the embedding, and P1 in the page.
        """
        import pandas as pd

        scores = np.asarray(self._programs()["scores"])
        names = np.arange(len(scores)).astype(str) if self.var_names is None else np.asarray(self.var_names).astype(str)
        listed = len(scores) if count is None else min(int(count), len(scores))
        programs = self._program_order()
        order = np.argsort(-scores, axis=0, kind="stable")[:listed].T[programs]
        return pd.DataFrame(
            {
                "program": np.repeat([f"P{k + 1}" for k in programs], listed),
                "gene": names[order].ravel(),
                "score": np.take_along_axis(scores.T[programs], order, axis=1).ravel(),
                "rank": np.tile(np.arange(1, listed + 1), len(programs)),
                "scale": self.recommended,
            }
        )

    def _program_order(self) -> np.ndarray:
        """Those first that are found at many scales and mark clusters, then those that are used most."""
        held = self._programs()
        shown = np.asarray(held["persistence"]) * np.asarray(held.get("between_clusters", 1.0))
        return np.asarray(np.lexsort((-np.asarray(held["mean_usage"]), -shown)))

    def program_summary(self) -> Any:
        """What is known about each program, a row each.

        Returns
        -------
        DataFrame
            Indexed by program ("P1", ...), those first that are found at many scales and mark clusters: mean_usage, the mean
            share of a cell; between_clusters, the share of the variance of its usage that lies between clusters;
            persistence, the share of the scales at which it is found (its column of W keeps a cosine of 0.9 or more from scale to scale), with first_scale and
            last_scale, from 0; merges_into, the program it is most like where it ends towards coarser scales, or "";
            depth_correlation, Pearson's r of its usage with the counts of the cells, and depth_driven, whether its absolute value is
            above 0.5. The last two are missing where the counts are not known: the values were no counts.
        """
        import pandas as pd

        held = self._programs()
        depth = held.get("depth_correlation")
        table = {name: np.asarray(held[name]) for name in ("mean_usage", "between_clusters", "persistence", "first_scale", "last_scale") if name in held}
        table["merges_into"] = np.array(["" if k < 0 else f"P{k + 1}" for k in np.asarray(held["merges_into"])], dtype=object)
        if depth is not None:
            table["depth_correlation"] = np.asarray(depth)
            table["depth_driven"] = np.abs(np.asarray(depth)) > DEPTH_DRIVEN
        names = [f"P{k + 1}" for k in range(len(table["persistence"]))]
        return pd.DataFrame(table, index=pd.Index(names, name="program")).iloc[self._program_order()]

    def enrichment(self, gene_sets: str | os.PathLike[str], *, best: int = 100, smallest_set: int = 5) -> Any:
        """Which gene sets are found among the best genes of each program more often than by chance.

        The test is hypergeometric: as if the best genes of a program were drawn from all genes of the fit. p-values are
        adjusted over all programs and sets (Benjamini and Hochberg).

        Parameters
        ----------
        gene_sets : path
            A .gmt file: a set on each line, its name, a description, its genes.
        best : int
            So many genes of each program, by score, are looked up; those with a score of 0 or less are not.
        smallest_set : int
            Sets with fewer genes among those of the fit are left out.

        Returns
        -------
        DataFrame
            program, set, overlap, size (genes of the set that the fit has), p_value, adjusted, genes (a list); sorted by
            program and p_value. Sets without a gene among the best are left out.
        """
        import pandas as pd

        if self.var_names is None:
            raise ValueError("the genes of the fit have no names")
        scores = np.ascontiguousarray(np.asarray(self._programs()["scores"]).T, dtype=np.float64)
        table = _core.enriched(scores, [str(name) for name in self.var_names], os.fspath(gene_sets), int(best), int(smallest_set))
        table["program"] = [f"P{k + 1}" for k in table["program"]]
        return pd.DataFrame(table)

    def batch_scores(self, labels: Any = None) -> dict[str, Any] | None:
        """How well the batches of the fit are mixed, and types kept apart: see `pnmf.metrics.neighborhood_scores`.

        Parameters
        ----------
        labels : array-like of shape (n_cells,), optional
            Known types of the cells.

        Returns
        -------
        dict or None
            column, batches (name and cells of each), mixing_before (in the space of the fit) and mixing (in the
            embedding at the recommended scale, cells of length 1), mixing_of_clusters (the same of the clusters there, in
            place of neighbourhoods); with labels also label_purity_before and
            label_purity. None for a fit without batches.
        """
        known = np.empty(0, dtype=np.int64) if labels is None else labels_of(labels)
        found = _core.metrics.batch_scores(self._parts, known)
        scores: dict[str, Any] | None = None if found is None else json.loads(found)
        return scores

    def _programs(self) -> Mapping[str, Any]:
        held = self._parts["uns"].get("programs")
        if held is None:
            raise ValueError("the result has no scores of genes: it was made by an older version; fit again")
        found: Mapping[str, Any] = held
        return found

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
    embedding = adata.obsm[f"X_{key}"] if f"X_{key}" in adata.obsm else None
    names = np.asarray(adata.var_names)
    stored = adata.uns[key].get("features")
    if W is not None and stored is not None and not np.array_equal(np.asarray(stored, dtype=str), names.astype(str)):
        W = _rows_of(np.asarray(W), names, stored)
    result = Result(
        adata.uns[key],
        recommended_basis=None if W is None else np.asarray(W).T,
        obs=adata.obs,
        obs_names=np.asarray(adata.obs_names),
        var_names=names,
        embedding=None if embedding is None else np.asarray(embedding),
        name=f"uns[{key!r}]",
    )
    for column in adata.obs.select_dtypes("category"):
        colours, categories = adata.uns.get(f"{column}_colors", ()), adata.obs[column].cat.categories
        if len(colours) == len(categories):
            result.colors[column] = dict(zip(categories.astype(str), map(str, colours)))
    return result


def _rows_of(W: np.ndarray, names: np.ndarray, wanted: Any) -> np.ndarray | None:
    """The rows of W for the wanted features; None when one of them is no longer there."""
    place = {str(name): i for i, name in enumerate(names)}
    rows = [place.get(str(name), -1) for name in wanted]
    return None if min(rows) < 0 else W[rows]


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
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a fit is an AnnData, a Result, a fitted estimator or a path, got {type(source).__name__}")
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
