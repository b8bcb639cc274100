"""The rank that predicts best what it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._data import checked, core_matrix, seed_of, threads_of


@dataclass
class RankCurve:
    """The error of each rank on held-out entries, and the rank it leads to.

    Attributes
    ----------
    ranks, error, deviation : ndarray
        The ranks that were tried; the mean over splits of the relative squared error; the standard error of that.
    chosen : int
        The smallest rank whose error is within one standard error of the smallest.
    """

    ranks: np.ndarray
    error: np.ndarray
    deviation: np.ndarray
    chosen: int


def choose_rank(
    X: Any,
    *,
    ranks: Sequence[int] | None = None,
    held_out: float = 0.2,
    repeats: int = 3,
    random_state: Any = 0,
    threads: int | None = None,
) -> RankCurve:
    """Choose the rank by held-out entries, as ``pnmf fit --choose-rank`` does.

    In each split an NMF of the other cells gives a basis; each held-out cell is embedded by a random half of its
    features alone, and the other half is predicted.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_cells, n_features)
        At least 4 x 4 finite values, at least 0.
    ranks : list of int, optional
        Candidates, ascending; default 2, 3, 4, 6, 8, 11, ... up to the square root of the number of cells.
    held_out : float
        Share of the cells, at most 500 of them.
    repeats : int
        Random splits.

    Returns
    -------
    RankCurve

    Examples
    --------
    >>> import pnmf
    >>> X, labels = pnmf.simulate.circles()
    >>> pnmf.choose_rank(X, ranks=[1, 2, 3]).ranks
    array([1, 2, 3])
    """
    candidates = [] if ranks is None else [int(rank) for rank in ranks]
    found = _core.choose_rank(core_matrix(checked(X)), candidates, float(held_out), int(repeats), seed_of(random_state), threads_of(threads))
    return RankCurve(**found)
