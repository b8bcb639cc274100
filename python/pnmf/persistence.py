"""H0 persistence of a point cloud, and the scales that come from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._data import checked, core_matrix, seed_of, threads_of


@dataclass(frozen=True)
class H0Persistence:
    """H0 persistence of the Vietoris-Rips filtration: every cell is born at 0, components die when they merge.

    Attributes
    ----------
    deaths : ndarray of shape (n - 1,)
        The finite deaths, ascending; one component never dies.
    merge_tree : ndarray of shape (n - 1, 4)
        The merges as a SciPy linkage matrix: left, right, height, cells.
    edges : ndarray of shape (n - 1, 3)
        The minimum spanning tree: cell, cell, length.
    largest_distance : float
        Over all pairs of cells.
    """

    deaths: np.ndarray
    merge_tree: np.ndarray
    edges: np.ndarray
    largest_distance: float

    @property
    def diagram(self) -> np.ndarray:
        """Pairs (birth, death), n x 2; the last death is infinite."""
        deaths = np.append(self.deaths, np.inf)
        return np.column_stack([np.zeros_like(deaths), deaths])

    def betti0(self, epsilon: Any) -> Any:
        """Components of the graph that joins cells at distance < epsilon, for one epsilon or several."""
        joined = np.searchsorted(self.deaths, epsilon, side="left")
        return len(self.deaths) + 1 - joined

    def components(self, epsilon: float) -> np.ndarray:
        """Component of each cell at epsilon, numbered from 0 by the smallest cell in each."""
        return _core.components(self.edges, float(epsilon))


@dataclass(frozen=True)
class Scales:
    """Scales, finest first, and the graphs that join cells at distance < epsilon.

    Attributes
    ----------
    epsilon : ndarray of shape (T,)
    betti0 : ndarray of shape (T,)
        Components of the graph at each scale.
    multiplicity : ndarray of shape (T,)
        Deaths at exactly this scale.
    edges : ndarray of shape (T,) or None
        Edges of the graph at each scale, when they were asked for.
    """

    epsilon: np.ndarray
    betti0: np.ndarray
    multiplicity: np.ndarray
    edges: np.ndarray | None

    def __len__(self) -> int:
        return len(self.epsilon)


def h0_persistence(X: Any, *, metric: str = "euclidean", threads: int | None = None) -> H0Persistence:
    """H0 persistence of the rows of X.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_cells, n_features)
        Any real numbers; with ``metric="precomputed"`` the distances, n x n.
    metric : {"euclidean", "cosine", "precomputed"}
    threads : int, optional
        The result does not depend on it. All cores by default.

    Returns
    -------
    H0Persistence

    Examples
    --------
    >>> import pnmf
    >>> found = pnmf.h0_persistence([[0, 0], [1, 0], [0, 2], [9, 9], [9, 8]])
    >>> found.deaths
    array([ 1.        ,  1.        ,  2.        , 10.81665383])
    >>> int(found.betti0(5))
    2
    """
    found = _core.persistence(core_matrix(checked(X)), str(metric), threads_of(threads))
    return H0Persistence(**found)


def scales(
    X: Any,
    *,
    strategy: str = "canonical",
    max_scales: int | None = None,
    metric: str = "euclidean",
    random_state: Any = 0,
    count_edges: bool = False,
    threads: int | None = None,
) -> Scales:
    """The scales of a point cloud.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_cells, n_features)
        Any real numbers; with ``metric="precomputed"`` the distances, n x n.
    strategy : {"canonical", "uniform", "random", "sufficient", "h0+h1"}
        canonical: the deaths of H0, then a scale at which the graph is complete. h0+h1: those, and birth and death of loops.
    max_scales : int, optional
        Keep at most this many, evenly spaced in rank, finest and coarsest among them.
    metric : {"euclidean", "cosine", "precomputed"}
    random_state : int, RandomState, Generator or None
        For random and sufficient.
    count_edges : bool
        Count the edges at each scale: one pass over all pairs of cells.
    threads : int, optional

    Returns
    -------
    Scales

    Examples
    --------
    >>> import pnmf
    >>> found = pnmf.scales([[0, 0], [1, 0], [0, 2], [9, 9], [9, 8]], count_edges=True)
    >>> found.epsilon.round(3)
    array([ 1.   ,  2.   , 10.817, 12.728])
    >>> found.betti0
    array([5, 3, 2, 1])
    >>> found.edges
    array([ 0,  2,  4, 10])
    """
    found = _core.scales(
        core_matrix(checked(X)), str(strategy), max_scales, str(metric), seed_of(random_state), bool(count_edges), threads_of(threads)
    )
    return Scales(**found)
