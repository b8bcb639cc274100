"""Data made up here, with what is known about them. Cells are rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from . import _core
from ._data import seed_of, sparse_matrix

__all__ = ["SimulatedBranches", "SimulatedCells", "branches", "cells", "circles"]


def circles(
    radii: Any = (5.0, 10.0, 20.0, 50.0),
    points: int = 20,
    *,
    noise: float = 0.5,
    minimum: float = 5.0,
    noise_dimensions: int = 97,
    noise_mean: float = 5.0,
    noise_deviation: float = 1.0,
    meet_ends: bool = False,
    random_state: Any = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Concentric circles in random planes of 3-D, then noise dimensions: the paper's simulated data.

    Returns
    -------
    X : ndarray of shape (circles * points, 3 + noise_dimensions)
    labels : ndarray
        The circle of each point.

    Examples
    --------
    >>> from pnmf.simulate import circles
    >>> X, labels = circles(points=20)
    >>> X.shape, sorted(set(labels.tolist()))
    ((80, 100), [0, 1, 2, 3])
    """
    return _core.simulate.circles(
        [float(r) for r in radii], points, noise, minimum, noise_dimensions, noise_mean, noise_deviation, meet_ends, seed_of(random_state)
    )


@dataclass(frozen=True)
class SimulatedCells:
    """Counts (CSR, cells x genes), the type of each cell, and the tree of the types in Newick format."""

    counts: scipy.sparse.csr_matrix
    types: np.ndarray
    newick: str

    def to_anndata(self) -> Any:
        """An AnnData of the counts, with obs["type"] ("type 1", ...) and names of genes ("gene1", ...)."""
        import anndata
        import pandas as pd

        cells, genes = self.counts.shape
        types = pd.DataFrame({"type": pd.Categorical([f"type {t + 1}" for t in self.types])}, index=[f"cell{i + 1}" for i in range(cells)])
        adata = anndata.AnnData(obs=types, var=pd.DataFrame(index=[f"gene{i + 1}" for i in range(genes)]))
        adata.X = self.counts.copy()  # as it is: the constructor of AnnData 0.8 rounds to single precision
        return adata


def cells(
    cells: int = 1000,
    genes: int = 2000,
    types: int = 8,
    *,
    imbalance: float = 0.5,
    gene_spread: float = 1.5,
    changed: float = 0.1,
    fold: float = 1.0,
    depth: float = 1000.0,
    depth_spread: float = 0.3,
    dispersion: float = 0.5,
    dropout: float = 0.0,
    random_state: Any = 0,
) -> SimulatedCells:
    """Negative-binomial single-cell counts with a tree of cell types.

    Examples
    --------
    >>> from pnmf.simulate import cells
    >>> drawn = cells(cells=50, genes=30, types=3)
    >>> drawn.counts.shape
    (50, 30)
    >>> drawn.to_anndata().obs["type"].nunique()
    3
    """
    options = {**locals(), "seed": seed_of(random_state)}
    drawn = _core.simulate.cells(options)
    return SimulatedCells(sparse_matrix((*drawn["counts"], (cells, genes))), drawn["types"], drawn["newick"])


@dataclass(frozen=True)
class SimulatedBranches:
    """Counts (CSR, cells x genes); the time and the branch of each cell; the ends that each branch leads to; the tree."""

    counts: scipy.sparse.csr_matrix
    time: np.ndarray
    branch: np.ndarray
    reaches: list[list[int]]
    newick: str


def branches(
    cells: int = 1000,
    genes: int = 1000,
    ends: int = 3,
    *,
    steps: int = 20,
    changed: float = 0.3,
    fold: float = 1.0,
    depth: float = 5000.0,
    dispersion: float = 0.3,
    dropout: float = 0.0,
    random_state: Any = 0,
) -> SimulatedBranches:
    """Counts of cells on the way from one start to several ends.

    Branch 0 leads from the start to the first fork. Time is counted in branches: 0 at the start, 1 at the first fork.

    Examples
    --------
    >>> from pnmf.simulate import branches
    >>> drawn = branches(cells=50, genes=30, ends=2)
    >>> drawn.counts.shape, drawn.reaches
    ((50, 30), [[0, 1], [0], [1]])
    """
    options = {**locals(), "seed": seed_of(random_state)}
    drawn = _core.simulate.branches(options)
    counts = sparse_matrix((*drawn["counts"], (cells, genes)))
    return SimulatedBranches(counts, drawn["time"], drawn["branch"], [list(ends) for ends in drawn["reaches"]], drawn["newick"])
