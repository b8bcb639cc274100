"""The rank, chosen by restarts: how well each predicts what it has not seen, and how stable its programs are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from ._data import checked, core_matrix, seed_of, threads_of
from ._progress import Callback, Progress


_CURVES = ("error", "deviation", "difference_deviation", "stability", "consensus_error")


@dataclass
class RankCurve:
    """What the restarts of each rank say, and the rank they lead to.

    Attributes
    ----------
    ranks, error, deviation : ndarray
        The ranks that were tried; the mean over restarts of the relative squared error on held-out entries; the standard
        error of that mean.
    difference_deviation : ndarray
        The standard error of the mean difference from the rank with the smallest error. A restart is shown the same
        cells at every rank, so what makes some cells harder to predict than others cancels.
    stability : ndarray
        How far the programs are the same in every restart: the mean silhouette of their copies, as cNMF draws it
        (Kotliar et al., eLife 2019). 1 when they are the same, 0 when copies are as far from each other as from other
        programs.
    consensus_error : ndarray
        The relative squared error of all cells with the consensus programs.
    by_error : int
        The smallest rank whose error is within one standard error (that of the difference) of the smallest.
    by_stability : int
        The last rank before the stability falls: the one whose stability is most above that of all larger ranks.
    chosen : int
        One of the two, by the rule that was asked for.
    programs : list of ndarray
        Of each rank its consensus programs, rank x features, rows of length 1, the most stable first: the median of
        their copies.
    program_stability, program_similarity : list of ndarray
        Of each rank and program: the mean silhouette of its copies, and their mean cosine with the consensus.
    features : ndarray of str or None
    """

    ranks: np.ndarray
    error: np.ndarray
    deviation: np.ndarray
    difference_deviation: np.ndarray
    stability: np.ndarray
    consensus_error: np.ndarray
    by_error: int
    by_stability: int
    chosen: int
    programs: list[np.ndarray] = field(repr=False)
    program_stability: list[np.ndarray] = field(repr=False)
    program_similarity: list[np.ndarray] = field(repr=False)
    features: np.ndarray | None = field(default=None, repr=False)

    def consensus(self, rank: int | None = None) -> Any:
        """The consensus programs of a rank, the chosen one by default.

        Returns
        -------
        DataFrame
            A row for each program ("P1", ...) with a stability of at least 0: its weight for every feature.
            ``.attrs["stability"]`` has their stabilities.
        """
        import pandas as pd

        wanted = self.chosen if rank is None else int(rank)
        found = np.flatnonzero(self.ranks == wanted)
        if not len(found):
            raise ValueError(f"rank {wanted} was not tried; there are {self.ranks.tolist()}")
        stability = np.asarray(self.program_stability[found[0]])  # descending
        W = self.programs[found[0]][stability >= 0]
        names = [f"P{k + 1}" for k in range(len(W))]
        table = pd.DataFrame(W, index=pd.Index(names, name="program"), columns=self.features)
        table.attrs["stability"] = stability[stability >= 0].tolist()
        return table

    def to_frame(self) -> Any:
        """The curves, a row for each rank: error, standard_error, difference_error, stability, consensus_error."""
        import pandas as pd

        columns = {
            "error": self.error,
            "standard_error": self.deviation,
            "difference_error": self.difference_deviation,
            "stability": self.stability,
            "consensus_error": self.consensus_error,
        }
        return pd.DataFrame(columns, index=pd.Index(self.ranks, name="rank"))

    def to_dict(self) -> dict[str, Any]:
        """As `pnmf.tl.choose_rank` keeps it in uns: arrays and numbers alone, which .h5ad files can hold."""
        held: dict[str, Any] = {name: getattr(self, name) for name in ("ranks", *_CURVES)}
        held.update(by_error=self.by_error, by_stability=self.by_stability, chosen=self.chosen)
        for name in ("programs", "program_stability", "program_similarity"):
            held[name] = {str(rank): values for rank, values in zip(self.ranks, getattr(self, name))}
        if self.features is not None:
            held["features"] = np.asarray(self.features, dtype=object)
        return held

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> RankCurve:
        """The inverse of `to_dict`."""
        ranks = np.asarray(held["ranks"])
        parts: dict[str, Any] = {name: np.asarray(held[name]) for name in _CURVES}
        parts.update({name: int(held[name]) for name in ("by_error", "by_stability", "chosen")})
        for name in ("programs", "program_stability", "program_similarity"):
            parts[name] = [np.asarray(held[name][str(rank)]) for rank in ranks]
        features = held.get("features")
        return cls(ranks=ranks, features=None if features is None else np.asarray(features), **parts)


def ranks_of(ranks: Iterable[int] | int | None) -> list[int]:
    """The ranks to try as the compiled library takes them; empty: it chooses."""
    if ranks is None:
        return []
    found = [ranks] if isinstance(ranks, (int, np.integer)) else list(ranks)
    for rank in found:
        if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)):
            raise ValueError(f"ranks must be whole numbers, got {rank!r}")
    if not found:
        raise ValueError("ranks is empty: give at least one, or None for the usual ones")
    return [int(rank) for rank in found]


def choose_rank(
    X: Any,
    *,
    ranks: Iterable[int] | int | None = None,
    restarts: int = 10,
    held_out: float = 0.2,
    rule: str = "error",
    random_state: Any = 0,
    device: str = "cpu",
    threads: int | None = None,
    verbose: bool | None = None,
    callback: Callback | None = None,
) -> RankCurve:
    """Choose the rank by restarts, as ``pnmf rank`` does.

    For each rank, `restarts` nonnegative factorisations (one scale, no graph) are made, each from its own random start
    and with its own random part of the cells. Each cell that a restart was not shown is embedded by a random half of its
    features alone, and the other half is predicted: the error. The programs of all restarts are matched with each other:
    the stability. Which part of the cells a restart is shown is the same for all ranks.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_cells, n_features)
        At least 4 x 4 finite values, at least 0. They are taken as they are; `pnmf.tl.choose_rank` normalises counts.
    ranks : iterable of int, optional
        Candidates, ascending, such as ``range(5, 31)``; default 2, 3, 4, 6, 8, 11, ... up to the square root of the
        number of cells.
    restarts : int
        Fits of each rank, at least 2.
    held_out : float
        Share of the cells that a restart is not shown; the error is measured on at most 500 of them.
    rule : {"error", "stability"}
        What decides on ``chosen``. error: the smallest rank whose error is within one standard error (of the difference)
        of the smallest. stability: the last rank before the stability falls, most above all larger ranks.
    random_state : int, RandomState, Generator or None
        Seed of the starts and of the cells that are drawn.
    device : {"cpu", "cuda", "auto"}
        Where the factorisations are made. A GPU makes one at a time, and does about as much as 11 processors.
    threads : int, optional
        Results do not depend on it. All cores by default.
    verbose : bool, optional
        Default: show progress in a terminal and in a notebook.
    callback : callable, optional
        Called with a dictionary after each fit: ``fraction`` is the share that is done. An exception it raises ends the
        computation.

    Returns
    -------
    RankCurve

    Examples
    --------
    >>> import pnmf
    >>> X, labels = pnmf.simulate.circles()
    >>> curve = pnmf.choose_rank(X, ranks=[1, 2, 3], restarts=3)
    >>> curve.ranks, curve.consensus(3).shape
    (array([1, 2, 3]), (3, 100))
    """
    names = np.asarray(X.columns).astype(str) if hasattr(X, "columns") else None
    return rank_curve(core_matrix(checked(X)), names, ranks, restarts, held_out, rule, random_state, device, threads, verbose, callback)


def rank_curve(
    matrix: Any,
    features: Any,
    ranks: Iterable[int] | int | None,
    restarts: int,
    held_out: float,
    rule: str,
    random_state: Any,
    device: str,
    threads: int | None,
    verbose: bool | None,
    callback: Callback | None,
) -> RankCurve:
    """The curve of a matrix as ``_core`` takes it."""
    with Progress(verbose, callback) as progress:
        found = _core.choose_rank(
            matrix, ranks_of(ranks), int(restarts), float(held_out), str(rule), seed_of(random_state), str(device), threads_of(threads), progress.callback()
        )
    return RankCurve(**found, features=features)
