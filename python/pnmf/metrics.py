"""Scores of clusterings and embeddings. Labels may be numbers or names; only which cells share one matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._data import checked, labels_of, seed_of

__all__ = [
    "KMeans",
    "Scores",
    "accuracy",
    "adjusted_mutual_information",
    "adjusted_rand_index",
    "gap_prominence",
    "kmeans",
    "mean_silhouette",
    "neighbor_stability",
    "neighborhood_scores",
    "normalized_mutual_information",
    "purity",
    "resampling_stability",
    "score_embedding",
    "score_scales",
    "silhouettes",
]


def adjusted_rand_index(labels: Any, clusters: Any) -> float:
    """Adjusted Rand index: agreement of pairs, 0 on average by chance, 1 when equal.

    Examples
    --------
    >>> from pnmf.metrics import adjusted_rand_index
    >>> adjusted_rand_index(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    """
    return _core.metrics.adjusted_rand_index(labels_of(labels), labels_of(clusters, "clusters"))


def normalized_mutual_information(labels: Any, clusters: Any) -> float:
    """Mutual information over the arithmetic mean of the entropies, in [0, 1]."""
    return _core.metrics.normalized_mutual_information(labels_of(labels), labels_of(clusters, "clusters"))


def adjusted_mutual_information(labels: Any, clusters: Any) -> float:
    """Mutual information adjusted for chance, arithmetic mean of entropies."""
    return _core.metrics.adjusted_mutual_information(labels_of(labels), labels_of(clusters, "clusters"))


def purity(labels: Any, clusters: Any) -> float:
    """Share of cells that have the most frequent label of their cluster."""
    return _core.metrics.purity(labels_of(labels), labels_of(clusters, "clusters"))


def accuracy(labels: Any, clusters: Any) -> float:
    """Largest share of cells on the diagonal over all one-to-one matchings of clusters with labels."""
    return _core.metrics.accuracy(labels_of(labels), labels_of(clusters, "clusters"))


def silhouettes(X: Any, clusters: Any) -> np.ndarray:
    """Silhouette of each row of X, exact; 0 for a cell alone in its cluster."""
    return _core.metrics.silhouettes(checked(X), labels_of(clusters, "clusters", missing=False))


def mean_silhouette(X: Any, clusters: Any) -> float:
    """Mean silhouette over all rows of X."""
    return float(silhouettes(X, clusters).mean())


@dataclass(frozen=True)
class KMeans:
    """What `kmeans` found: labels from 0, centres (k x d), inertia, iterations, whether it converged."""

    labels: np.ndarray
    centres: np.ndarray
    inertia: float
    iterations: int
    converged: bool


def kmeans(
    X: Any, clusters: int, *, starts: int = 10, max_iterations: int = 300, tolerance: float = 1e-4, random_state: Any = 0
) -> KMeans:
    """k-means of the rows of X; with an integer `random_state` the seedings are scikit-learn's.

    Examples
    --------
    >>> from pnmf.metrics import kmeans
    >>> kmeans([[0.0], [0.1], [9.0], [9.1]], 2).labels.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """
    found = _core.metrics.kmeans(checked(X), clusters, starts, max_iterations, tolerance, seed_of(random_state))
    return KMeans(**found)


def neighbor_stability(clusters: Any, *, window: int = 1) -> np.ndarray:
    """How much clusters change along the scales: mean ARI with the scales beside. `clusters` is scales x cells."""
    rows = np.asarray(clusters)
    if rows.ndim != 2:
        raise ValueError(f"clusters must have two axes, scales x cells, got {rows.ndim}")
    return _core.metrics.neighbor_stability(np.vstack([labels_of(row, "clusters", missing=False) for row in rows]), window)


def gap_prominence(epsilon: Any, deaths: Any) -> np.ndarray:
    """How long the components at each scale last, over the largest death; `deaths` ascend."""
    return _core.metrics.gap_prominence([float(e) for e in epsilon], [float(d) for d in deaths])


def resampling_stability(
    X: Any, clusters: int, *, repeats: int = 20, fraction: float = 0.8, starts: int = 10, random_state: Any = 0
) -> float:
    """How well k-means clusters of the rows of X survive when cells are left out: a mean ARI."""
    return _core.metrics.resampling_stability(checked(X), clusters, repeats, fraction, starts, seed_of(random_state))


@dataclass(frozen=True)
class Scores:
    """Scores of one embedding; those against labels are (mean, deviation of one seed), None without labels."""

    clusters: np.ndarray
    inertia: float
    seed_agreement: float
    silhouette: float | None
    ari: tuple[float, float] | None = None
    nmi: tuple[float, float] | None = None
    ami: tuple[float, float] | None = None
    purity: tuple[float, float] | None = None
    accuracy: tuple[float, float] | None = None


def score_embedding(
    X: Any,
    labels: Any = None,
    *,
    clusters: int | None = None,
    starts: int = 10,
    seeds: int = 10,
    first_seed: int = 0,
    silhouette: bool = True,
) -> Scores:
    """k-means of the rows of X once for each seed, and what it says; `clusters` defaults to the number of labels."""
    known = np.empty(0, dtype=np.int64) if labels is None else labels_of(labels)
    return Scores(**_core.metrics.score_embedding(checked(X), known, clusters, starts, seeds, first_seed, silhouette))


def neighborhood_scores(X: Any, batch: Any = None, labels: Any = None, *, neighbors: int = 30, cells: int = 1000) -> dict[str, float]:
    """How well batches are mixed and types kept apart among the nearest rows of X.

    Parameters
    ----------
    X : array-like of shape (n_cells, n_coordinates)
    batch, labels : array-like of shape (n_cells,), optional
    neighbors : int
        k, neighbours of each cell.
    cells : int
        At most so many cells, evenly spaced in their order, are looked at.

    Returns
    -------
    dict
        mixing: (mean of 1 / sum_b p_b^2 - 1) / (1 / sum_b pi_b^2 - 1) with p_b the share of batch b among the k nearest
        and pi_b its share among all cells: 0 where every cell has neighbours of its own batch alone, about 1 where
        batches lie on each other (the local inverse Simpson index of Korsunsky et al. 2019, all neighbours alike).
        purity: the mean share of the k nearest that have the cell's label. NaN for what was not given.

    Examples
    --------
    >>> from pnmf import metrics
    >>> scores = metrics.neighborhood_scores([[0.0], [0.1], [5.0], [5.1]], batch=list("abab"), labels=[0, 0, 1, 1], neighbors=1)
    >>> scores["purity"]
    1.0
    """
    none = np.empty(0, dtype=np.int64)
    return _core.metrics.neighborhood_scores(
        checked(X), none if batch is None else labels_of(batch, "batch", missing=False), none if labels is None else labels_of(labels), int(neighbors), int(cells)
    )


def score_scales(embeddings: Any, labels: Any = None, **options: Any) -> list[Scores]:
    """`score_embedding` for each of several scales, embeddings T x n x d; the options are the same."""
    return [score_embedding(embedding, labels, **options) for embedding in embeddings]
