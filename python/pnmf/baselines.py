"""Methods that are one factorisation with one graph, solved by the same code. Cells are rows.

Each gives a `Result` of one scale: ``result.embeddings[0]`` is cells x rank, ``result.basis()`` rank x features.
Graphs and weights are the published ones; ``algorithm="multiplicative"`` is the published protocol too.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from . import _core
from ._data import checked, clusters_of, core_matrix, seed_of, threads_of
from ._progress import Callback, Progress
from .result import Result

__all__ = ["gnmf", "ktnmf", "nmf", "tnmf"]


def _run(
    method: str,
    X: Any,
    options: dict[str, Any],
    *,
    clusters: int | None = None,
    random_state: Any = 0,
    precision: str = "double",
    threads: int | None = None,
    verbose: bool = False,
    callback: Callback | None = None,
) -> Result:
    names = np.asarray(X.columns).astype(str) if hasattr(X, "columns") else None
    chosen = {**options, "seed": seed_of(random_state)}
    with Progress(verbose, callback) as progress:
        parts = _core.baseline(core_matrix(checked(X)), method, chosen, clusters_of(clusters), precision, threads_of(threads), progress.callback())
    for text in parts["uns"]["pnmf"]["warnings"]:
        warnings.warn(text, ConvergenceWarning if text.startswith("not converged") else UserWarning, stacklevel=3)
    return Result(parts["uns"]["pnmf"], bases=parts["W"], var_names=names)


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def nmf(X: Any, rank: int | None = None, **options: Any) -> Result:
    """Nonnegative matrix factorisation (Lee and Seung 1999): no graph.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_cells, n_features)
    rank : int, optional
        Default the square root of the number of cells, rounded up.
    **options
        algorithm ("stationary" or "multiplicative"), tolerance, max_steps, seeding; and clusters, random_state,
        precision, threads, verbose, callback as in `PersistentNMF`.

    Returns
    -------
    Result

    Examples
    --------
    >>> import pnmf
    >>> X, labels = pnmf.simulate.circles()
    >>> result = pnmf.baselines.nmf(X, rank=3)
    >>> result.embeddings.shape, result.basis().shape
    ((1, 80, 3), (3, 100))
    """
    return _call("nmf", X, rank, options)


def gnmf(X: Any, rank: int | None = None, *, neighbors: int | None = None, weight: float | None = None, **options: Any) -> Result:
    """Graph-regularised NMF (Cai et al. 2011): k nearest neighbours, heat weights.

    Parameters
    ----------
    neighbors : int, optional
        k; default 5.
    weight : float, optional
        Of the graph term, the program's ``--lambda``; default 0.1.
    **options
        alpha, metric, and those of `nmf`.
    """
    return _call("gnmf", X, rank, {**options, **_given(neighbors=neighbors), **_given(**{"lambda": weight})})


def tnmf(
    X: Any,
    rank: int | None = None,
    *,
    neighbors: int | None = None,
    weight: float | None = None,
    weights: Any = None,
    **options: Any,
) -> Result:
    """Topological NMF (Hozumi and Wei 2024): heat weights of nearest neighbours at several thresholds.

    Parameters
    ----------
    neighbors : int, optional
        k; default 20.
    weight : float, optional
        Of the graph term, the program's ``--lambda``; default 0.1.
    weights : list of float, optional
        Of the thresholds.
    **options
        alpha, metric, and those of `nmf`.
    """
    given = _given(neighbors=neighbors, weights=None if weights is None else [float(w) for w in weights])
    return _call("tnmf", X, rank, {**options, **given, **_given(**{"lambda": weight})})


def ktnmf(X: Any, rank: int | None = None, *, weight: float | None = None, weights: Any = None, **options: Any) -> Result:
    """k-TNMF (Hozumi and Wei 2024): nearest neighbours for several k.

    Parameters
    ----------
    weight : float, optional
        Of the graph term, the program's ``--lambda``; default 1.
    weights : list of float, optional
        Of k = 1, 2, and so on.
    **options
        metric, and those of `nmf`.
    """
    given = _given(weights=None if weights is None else [float(w) for w in weights])
    return _call("ktnmf", X, rank, {**options, **given, **_given(**{"lambda": weight})})


_OWN = ("clusters", "random_state", "precision", "threads", "verbose", "callback")


def _call(method: str, X: Any, rank: int | None, options: dict[str, Any]) -> Result:
    own = {name: options.pop(name) for name in _OWN if name in options}
    return _run(method, X, {"rank": rank, **options}, **own)
