"""Data as users hold them, made ready for the compiled library."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse
import sklearn.utils.validation
from sklearn.utils import check_array, check_random_state

MISSING = ("", "nan", "na", "n/a", "<na>", "none", "null")  # as texts, in any case

def core_matrix(X: Any) -> Any:
    """The matrix as ``_core`` takes it: X itself, or the parts of a CSR matrix. X has been through `check_array`.

    Nothing is copied when X is float64 and C-ordered, or CSR with sorted indices of 32 bits and no duplicates.
    """
    if not scipy.sparse.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    X = X.tocsr()
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.shape[1] > np.iinfo(np.int32).max:
        raise ValueError(f"a sparse matrix can have up to {np.iinfo(np.int32).max} features, got {X.shape[1]}")
    indices = np.ascontiguousarray(X.indices, dtype=np.int32)
    return (np.ascontiguousarray(X.data, dtype=np.float64), indices, X.indptr, X.shape)


def validated(estimator: Any, X: Any, *, reset: bool = True) -> Any:
    """X as `checked` gives it; an estimator remembers the features (``reset``) or compares them with those of its fit."""
    validate = getattr(sklearn.utils.validation, "validate_data", None)  # a method of estimators until scikit-learn 1.6
    if validate is None:
        return estimator._validate_data(X, accept_sparse="csr", dtype=np.float64, order="C", reset=reset)
    return validate(estimator, X, accept_sparse="csr", dtype=np.float64, order="C", reset=reset)


def checked(X: Any) -> Any:
    """X as float64, C-ordered or CSR, cells as rows; ValueError unless it is a matrix of finite numbers."""
    return check_array(X, accept_sparse="csr", dtype=np.float64, order="C")


def looks_like_counts(X: Any) -> bool:
    """Whether the first cells look like counts of genes: many features, whole numbers, many of them 0."""
    entries_looked_at = 200_000
    part = X[: max(1, entries_looked_at // X.shape[1])]
    values = part.data if scipy.sparse.issparse(part) else part[part != 0]
    cells, features = part.shape
    return bool(
        features >= 100
        and 0 < values.size <= cells * features // 2
        and values.min() >= 0
        and values.max() > 1
        and np.array_equal(values, np.floor(values))
    )


def sparse_matrix(parts: tuple[Any, ...]) -> scipy.sparse.csr_matrix:
    """A CSR matrix from what ``_core`` gives."""
    data, indices, indptr, shape = parts
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=shape)


def seed_of(random_state: Any) -> int:
    """A seed from what scikit-learn calls a random state: an int is taken as it is; None draws one."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be at least 0, got {random_state}")
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31 - 1))


def labels_of(labels: Any, name: str = "labels", missing: bool = True) -> np.ndarray:
    """Labels of any kind as numbers from 0; ValueError unless there is one axis.

    Cells without a label (NaN, None, NA, "") get -1, and a warning says how many; ValueError unless `missing`.
    """
    import pandas as pd

    values = np.asarray(labels)
    if values.ndim != 1:
        raise ValueError(f"{name} must have one axis, got {values.ndim}")
    without = np.asarray(pd.isna(values))
    if values.dtype == object:
        values = values.astype(str)
    if values.dtype.kind in "US":
        without = without | np.isin(np.char.lower(np.char.strip(values.astype(str))), MISSING)
    numbers: np.ndarray = np.unique(values, return_inverse=True)[1].astype(np.int64)
    if without.any():
        if not missing or without.all():
            raise ValueError(f"{name}: {without.sum()} of {without.size} cells have none")
        warnings.warn(f"{name}: {without.sum()} of {without.size} cells have none and are left out", stacklevel=3)
        numbers[without] = -1
        numbers[~without] = np.unique(numbers[~without], return_inverse=True)[1]
    return numbers


def batches_of(batch: Any) -> list[str]:
    """Batches as text, one for each cell; what is missing is "". Whole numbers are batches too."""
    import pandas as pd

    values = pd.Series(np.asarray(batch, dtype=object) if not hasattr(batch, "dtype") else batch)
    whole = pd.api.types.is_float_dtype(values.dtype) and bool((values.dropna() % 1 == 0).all())
    return ["" if pd.isna(value) else str(int(value) if whole else value) for value in values]


def _count_of(value: Any, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name} must be a whole number or None, got {value!r}")
    return int(value)


def threads_of(threads: Any) -> int | None:
    """The number of threads; None for all."""
    return _count_of(threads, "threads")


def clusters_of(clusters: Any) -> int | None:
    """The number of clusters; None to choose it."""
    return _count_of(clusters, "clusters")
