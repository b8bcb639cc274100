"""The paper's theorems held against data and fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from ._data import checked, core_matrix, seed_of, threads_of
from .result import as_result


@dataclass(frozen=True)
class Finding:
    """One statement of the paper held against the data.

    `verdict` is "holds", "fails", "vacuous" (true, but its bound is trivial or its assumption does not hold) or
    "not checked"; `bound` is NaN where the statement has none.
    """

    statement: str
    what: str
    measured: float
    bound: float
    verdict: str
    note: str


class Findings(list[Finding]):
    """A list of `Finding`; printed as a table."""

    @property
    def failed(self) -> list[Finding]:
        """Those that do not hold."""
        return [finding for finding in self if finding.verdict == "fails"]

    def __repr__(self) -> str:
        rows = [f"{one.verdict:<11}  {one.measured:>10.3g}  {one.bound:>10.3g}  {one.what}" for one in self]
        return "\n".join([f"{'verdict':<11}  {'measured':>10}  {'bound':>10}  statement", *rows])


def check(
    X: Any,
    fit: Any = None,
    *,
    alpha: float = 1.5,
    metric: str = "euclidean",
    scales: str = "canonical",
    max_scales: int | None = None,
    neighbors: int | None = None,
    random_state: Any = 0,
    most_intervals: int | None = None,
    threads: int | None = None,
) -> Findings:
    """Evaluate the paper's theorems on data, and on a fit of them: what ``pnmf check`` does.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_cells, n_features)
        With `fit`, the data it was made from, as they were given to the fit.
    fit : PersistentNMF, Result, AnnData or path, optional
        With its bases. Its own options are used, and those below are not.
    alpha, metric, scales, max_scales, neighbors, random_state
        As in `PersistentNMF`.
    most_intervals : int, optional
        Look at no more intervals between distances than this.

    Returns
    -------
    Findings

    Examples
    --------
    >>> import pnmf
    >>> X, labels = pnmf.simulate.circles(points=8)
    >>> found = pnmf.check(X, max_scales=4)
    >>> found.failed
    []
    """
    matrix = core_matrix(checked(X))
    options: dict[str, Any] = {
        "alpha": alpha,
        "metric": metric,
        "scales": scales,
        "max_scales": max_scales,
        "neighbors": neighbors,
        "seed": seed_of(random_state),
    }
    parts = None
    if fit is not None:
        result = as_result(fit)
        bases = [result.basis(t).T for t in range(len(result))]
        parts = {**result._parts, "uns": {**result._parts["uns"], "objective": np.asarray(result.objective), "W": np.stack(bases)}}
    rows = _core.check(matrix, options, parts, most_intervals, threads_of(threads))
    return Findings(Finding(*row) for row in rows)
