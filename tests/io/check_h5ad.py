"""Opens a file that the writing tests wrote, with warnings as errors, saves it again with AnnData, and compares
both files element by element: check_h5ad.py FILE COPY CHECK, where CHECK names what must be in it."""

import sys
import warnings

import anndata
import h5py
import numpy as np
import pandas as pd

file, copy, check = sys.argv[1:]


def same_values(name, a, b):
    assert a.shape == b.shape, (name, a.shape, b.shape)
    assert a.dtype == b.dtype, (name, a.dtype, b.dtype)
    x, y = a[()], b[()]
    equal = np.array_equal(x, y, equal_nan=True) if a.dtype.kind == "f" else np.array_equal(x, y)
    assert equal, (name, x, y)


def same(name, a, b):
    assert type(a) is type(b), name
    assert set(a.attrs) == set(b.attrs), (name, dict(a.attrs), dict(b.attrs))
    for key in a.attrs:
        x, y = np.asarray(a.attrs[key]), np.asarray(b.attrs[key])
        # An empty list has no type that Python would keep.
        assert np.array_equal(x, y) and (x.dtype == y.dtype or x.size == 0), (name, key, x, y)
    if isinstance(a, h5py.Dataset):
        same_values(name, a, b)
    else:
        assert set(a) == set(b), (name, set(a), set(b))
        for key in a:
            same(f"{name}/{key}", a[key], b[key])


def value(i, j):
    return (3 * i + 5 * j) % 7 + 1 if (i + 2 * j) % 3 == 0 else 0


def check_dataset(adata):
    assert adata.shape == (7, 5)
    X = adata.X.toarray() if check == "sparse" else adata.X
    assert np.array_equal(X, [[value(i, j) for j in range(5)] for i in range(7)])
    assert list(adata.obs_names) == [f"cell-{i}" for i in range(7)]
    label = adata.obs["label"]
    assert list(label.cat.categories) == ["c", "b", "a", "unused"] and not label.cat.ordered
    assert label.isna().sum() == 1 and list(label[:3]) == ["b", "a", "b"]
    assert list(adata.obs["batch"].cat.categories) == ["p", "q"]
    assert list(adata.obs["note"]) == [f"n\u00e4me {i}" for i in range(7)]
    assert adata.obs["depth"].dtype == np.int64 and list(adata.obs["depth"]) == list(range(7))
    assert adata.obs["kept"].dtype == bool and list(adata.obs["kept"]) == [i % 2 == 0 for i in range(7)]
    assert np.isnan(adata.obs["score"][3]) and adata.obs["score"][2] == 0.5
    assert list(adata.var.columns) == []


def check_result(adata):
    result = adata.uns["pnmf"]
    assert adata.X is None and adata.shape == (7, 5)
    assert adata.obsm["X_pnmf"].shape == (7, 3) and adata.obsm["X_pnmf"][4, 2] == 42
    assert adata.varm["loadings"].shape == (5, 2) and adata.varm["loadings"][3, 1] == 31
    assert result["H"].shape == (4, 3, 7) and result["H"].dtype == np.float64
    assert result["W"].shape == (4, 5, 3) and result["W"].dtype == np.float32
    assert all(result["H"][t][k, j] == 100 * t + 10 * k + j for t in range(4) for k in range(3) for j in range(7))
    assert all(result["W"][t][i, k] == 100 * t + 10 * i + k for t in range(4) for i in range(5) for k in range(3))
    assert list(result["epsilon"]) == [0.5, 1.5, 2.5, 3.5] and list(result["betti0"]) == [7, 5, 2, 1]
    assert result["betti0"].dtype == np.int64
    assert result["options"] == '{"rank": 3}' and isinstance(result["options"], str)
    assert result["rank"] == 3 and result["sweeps"]["total"] == 2.5 and bool(result["converged"]) is True
    assert list(result["terms"]) == ["fit", "graph"]


warnings.simplefilter("error")
adata = anndata.read_h5ad(file)
(check_result if check == "result" else check_dataset)(adata)
adata.write_h5ad(copy)
with h5py.File(file) as a, h5py.File(copy) as b:
    same("", a["/"], b["/"])
