"""Persistent nonnegative matrix factorisation as a scikit-learn estimator. Cells are rows."""

from __future__ import annotations

import os
import warnings
from inspect import signature
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._data import batches_of, clusters_of, core_matrix, looks_like_counts, seed_of, threads_of, validated
from ._options import described
from ._progress import Callback, Progress
from .result import Result

_LISTED = {name for name, *_ in _core.options()["fit"]}
_OF_RUN = {"clusters", "precision", "threads", "verbose", "callback", "checkpoint", "resume", "memory"}

# Checks of scikit-learn that an estimator whose transform is not its fit_transform cannot pass.
_OF_TRANSFORM = "transform embeds each cell alone; the fit also has the graph and the scales beside"
FAILED_CHECKS = {"check_transformer_general": _OF_TRANSFORM, "check_transformer_data_not_an_array": _OF_TRANSFORM}

COUNTS_AS_THEY_ARE = (
    "X looks like counts of genes. PersistentNMF uses values as they are, with the defaults of the paper. "
    "pnmf.tl.pnmf(anndata.AnnData(X)) normalises counts first and has defaults for cells."
)


def fit_parts(
    X: Any,
    options: dict[str, Any],
    *,
    clusters: Any,
    precision: str,
    threads: Any,
    verbose: bool | None,
    callback: Callback | None,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    memory: str | float | None = None,
    space: np.ndarray | None = None,
    columns: dict[str, Any] | None = None,
    batch: tuple[str, list[str]] | None = None,
    domains: int | None = None,
    expression: np.ndarray | None = None,
) -> dict[str, Any]:
    """Runs a fit, warns of what the library warns of, and gives what the program would write, and the bases."""
    with Progress(verbose, callback) as progress:
        parts = _core.fit(
            core_matrix(X),
            options,
            clusters_of(clusters),
            precision,
            threads_of(threads),
            progress.callback(),
            checkpoint=None if checkpoint is None else os.fspath(checkpoint),
            resume=bool(resume),
            memory=None if memory is None else str(memory),
            space=space,
            columns=columns or {},
            batch=batch,
            domains=domains,
            expression=expression,
        )
    for text in parts["uns"]["pnmf"]["warnings"]:
        warnings.warn(text, ConvergenceWarning if text.startswith("not converged") else UserWarning, stacklevel=3)
    return parts


def rank_of(rank: int | None, n_components: int | None) -> int | None:
    """The rank, which scikit-learn calls n_components."""
    if rank is not None and n_components is not None and rank != n_components:
        raise ValueError(f"rank and n_components are two names of one thing, got rank={rank} and n_components={n_components}")
    return n_components if rank is None else rank


@described("fit", without={"rank", "seed"})
class PersistentNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Nonnegative factorisations X ~ H_t W_t, one for each scale at which the connectivity of the cells changes.

    The values of X are used as they are, and the defaults are those of the paper (``--preset paper`` of the program, without
    its logarithm): all pairs of cells, all scales. `pnmf.tl.pnmf` prepares counts and has defaults for cells. A warning
    points to it when X looks like counts.

    Parameters
    ----------
    rank : int, optional
        Columns of every embedding; default the square root of the number of cells, rounded up, at most
        min(n_cells, n_features).
    n_components : int, optional
        The same as scikit-learn spells it: give one of the two.
    {options}
    clusters : int, optional
        Clusters of the cells at each scale; default found by testing splits where there is a neighbour graph, else the
        number that is most stable when cells are left out.
    random_state : int, RandomState, Generator or None
        The program's ``--seed``; None draws one.
    precision : {"double", "float"}
    threads : int, optional
        Results do not depend on it. All cores by default.
    verbose : bool
        Say what is going on, on stderr: in notebooks and terminals a bar of tqdm when that is installed, else a line every few sweeps.
    callback : callable, optional
        Called with a dictionary (phase, fraction of the run, sweep, max_sweeps, objective, kkt) after each sweep. An exception
        it raises ends the fit.
    checkpoint : path, optional
        A folder that the fit is saved in every five minutes, and when Ctrl-C ends it; then it ends after the sweep it
        is in. A fit that is done takes its checkpoint away.
    resume : bool
        Continue from the checkpoint; the result is bit-identical to that of one uninterrupted fit. Data and options
        must be the same.
    memory : str or number, optional
        Most memory to use, as "8G", "800M" or bytes. What does not fit is kept in files of `checkpoint`, or of the
        folder for temporary files, or is given up: fewer scales, more sweeps. Without it the result does not depend
        on the memory that is free, and what does not fit is refused.

    Attributes
    ----------
    embeddings_ : ndarray of shape (T, n_cells, rank)
        One embedding for each scale, finest first.
    components_ : ndarray of shape (rank, n_features)
        The basis at the recommended scale; ``basis_(t)`` is that of scale t.
    scales_, betti0_ : ndarray of shape (T,)
        The scales and the components of the graph at each.
    objective_ : ndarray, one number more than ``n_sweeps_``
    kkt_, effective_rank_ : ndarray of shape (T,)
        The certificate and the effective rank of each embedding.
    n_sweeps_ : int
    seconds_ : float
        Time spent in the compiled library.
    recommended_scale_ : int
        Position of the recommended scale, from 0.
    labels_ : ndarray of shape (n_cells,)
        Clusters at the recommended scale; ``result_.clusters`` has those of every scale.
    result_ : Result
        Everything, as `read_result` gives it.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from pnmf import PersistentNMF, simulate
    >>> X, labels = simulate.circles()
    >>> model = PersistentNMF(rank=2, lambda1=100, lambda2=100, max_scales=5).fit(X)
    >>> model.embeddings_.shape
    (5, 80, 2)
    >>> model.betti0_
    array([80, 60, 40, 21,  1])
    >>> model.transform(X[:3]).shape
    (3, 2)
    """

    lambda3: float
    threads: int | None

    def __init__(
        self,
        rank: int | None = None,
        *,
        lambda1: float = 1.0,
        lambda2: float = 1.0,
        lambda3: float = 0.1,
        alpha: float = 1.5,
        metric: str = "euclidean",
        scales: str = "canonical",
        max_scales: int | None = None,
        scale_error: float | None = None,
        neighbors: int | None = None,
        search: str = "automatic",
        algorithm: str = "stationary",
        start: str | None = None,
        seeding: str = "nndsvda",
        tolerance: float | None = None,
        stop_rule: str = "certificate",
        max_sweeps: int | None = None,
        inner_tolerance: float = 1e-3,
        inner_limit: int = 1000,
        basis_passes: int | None = None,
        embedding_passes: int = 2,
        extrapolate: bool = True,
        shift_components: bool = True,
        device: str = "auto",
        out_of_core: bool | None = None,
        n_components: int | None = None,
        clusters: int | None = None,
        random_state: Any = 0,
        precision: str = "double",
        threads: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        resume: bool = False,
        memory: str | float | None = None,
    ) -> None:
        given = locals()
        for name in signature(PersistentNMF).parameters:
            setattr(self, name, given[name])

    def _options(self) -> dict[str, Any]:
        given = self.get_params(deep=False)
        options = {name: value for name, value in given.items() if name in _LISTED}
        return {**options, "rank": rank_of(given["rank"], given["n_components"]), "seed": seed_of(given["random_state"])}

    def fit(self, X: Any, y: Any = None, batch: Any = None) -> PersistentNMF:
        """Factorise X, cells x features, at every scale.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_cells, n_features)
            Finite values, at least 0. Not copied when float64 and C-ordered, or CSR.
        y : ignored
        batch : array-like of shape (n_cells,), optional
            The batch of each cell: each cell then gets neighbours in every batch, so that tree, scales and graphs join
            types and not batches. Needs `neighbors`. X itself is not corrected.

        Returns
        -------
        self
        """
        X = validated(self, X)
        if looks_like_counts(X):
            warnings.warn(COUNTS_AS_THEY_ARE, UserWarning, stacklevel=2)
        try:
            parts = fit_parts(
                X,
                self._options(),
                batch=None if batch is None else ("batch", batches_of(batch)),
                **{name: value for name, value in self.get_params(deep=False).items() if name in _OF_RUN},
            )
        except ValueError as error:
            if (X.data if scipy.sparse.issparse(X) else X).min(initial=0.0) < 0:  # in scikit-learn's words, which its checks want
                raise ValueError(f"Negative values in data passed to {type(self).__name__}: {error}") from None
            raise
        names = getattr(self, "feature_names_in_", None)
        self.result_ = Result(parts["uns"]["pnmf"], bases=parts["W"], var_names=names)
        self.embeddings_ = self.result_.embeddings
        self.labels_ = None if self.result_.clusters is None else self.result_.clusters[self.result_.recommended]
        self.recommended_scale_ = self.result_.recommended
        self.components_ = self.result_.basis()
        self.scales_ = self.result_.epsilon
        self.betti0_ = self.result_.betti0
        self.objective_ = self.result_.objective
        self.kkt_ = self.result_.kkt
        self.effective_rank_ = self.result_.effective_rank
        self.n_sweeps_ = len(self.result_.objective) - 1  # type: ignore[arg-type]
        self.notices_ = list(parts["notices"])
        self.seconds_ = float(parts["seconds"])
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Factorise X and give the embedding at the recommended scale, cells x rank.

        This is not ``fit(X).transform(X)``: in the fit each cell is also drawn to its neighbours (lambda1) and to itself
        at the scales beside (lambda2), which `transform` does not know. With lambda1 = lambda2 = 0 both are the same up
        to the tolerance. Of fits of an AnnData, ``pnmf.tl.transform(..., graph=adata)`` knows the neighbours too.
        """
        if set(fit_params) - {"batch"}:
            raise TypeError(f"fit takes X and batch alone, got {sorted(fit_params)}")
        embedding: np.ndarray = self.fit(X, **fit_params).embeddings_[self.recommended_scale_]
        return embedding.copy()

    def transform(self, X: Any) -> np.ndarray:
        """Embed cells with the basis at the recommended scale.

        Each cell alone: min over h >= 0 of ||x - hW||^2 + lambda3 ||h||^2. Graph and smoothness play no part, so
        the cells of the fit are embedded near, not at, their places in ``embeddings_``.
        """
        check_is_fitted(self)
        X = validated(self, X, reset=False)
        basis = np.ascontiguousarray(self.components_, dtype=np.float64)
        found = _core.embed(core_matrix(X), basis, float(self.lambda3), threads_of(self.threads))
        if not found["converged"]:
            warnings.warn(f"not converged: the residual is {found['residual']:.1e}", ConvergenceWarning, stacklevel=2)
        embedding: np.ndarray = found["H"]
        return embedding

    def score(self, X: Any, y: Any = None) -> float:
        """How much of X the basis at the recommended scale explains: 1 - ||X - HW||^2 / ||X||^2 with H = transform(X).

        1 when X is met exactly; larger is better, as GridSearchCV has it. More components explain more: compare ranks on
        cells that were not in the fit, or with `pnmf.choose_rank`.
        """
        check_is_fitted(self)
        H = self.transform(X)
        X = validated(self, X, reset=False)
        W = np.asarray(self.components_, dtype=np.float64)
        size = float(X.multiply(X).sum()) if scipy.sparse.issparse(X) else float(np.vdot(X, X))
        # ||X - HW||^2 = ||X||^2 - 2 <XW^T, H> + <H^T H, W W^T>: X stays sparse.
        error = size - 2.0 * float(np.sum((X @ W.T) * H)) + float(np.sum((H.T @ H) * (W @ W.T)))
        return 1.0 - error / size if size > 0.0 else 0.0

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Cells x features from embeddings, cells x rank: H W at the recommended scale."""
        check_is_fitted(self)
        H = X.toarray() if scipy.sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        if H.ndim != 2 or H.shape[1] != len(self.components_):
            raise ValueError(f"an embedding must be cells x {len(self.components_)}, got {' x '.join(map(str, H.shape))}")
        product: np.ndarray = H @ self.components_
        return product

    def basis_(self, t: int) -> np.ndarray:
        """The basis at scale t, rank x features; scales are numbered from 0, the finest."""
        check_is_fitted(self)
        return self.result_.basis(t)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"requires_positive_X": True, "preserves_dtype": [], "_xfail_checks": FAILED_CHECKS}
