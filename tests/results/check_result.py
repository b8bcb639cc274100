"""Opens the result of a fit in AnnData, looks at what the contract promises, and saves it again:
check_result.py FILE COPY DTYPE. Both files must hold the same, element by element."""

import json
import sys

import anndata
import h5py
import numpy as np

file, copy, dtype = sys.argv[1:]


def same(name, a, b):
    assert type(a) is type(b), name
    assert set(a.attrs) == set(b.attrs), (name, dict(a.attrs), dict(b.attrs))
    for key in a.attrs:
        assert np.array_equal(a.attrs[key], b.attrs[key]), (name, key)
    if isinstance(a, h5py.Dataset):
        assert a.shape == b.shape and a.dtype == b.dtype, (name, a, b)
        assert np.array_equal(a[()], b[()]), name
    else:
        assert set(a) == set(b), (name, set(a), set(b))
        for key in a:
            same(f"{name}/{key}", a[key], b[key])


adata = anndata.read_h5ad(file)
fit = adata.uns["pnmf"]
cells, features = adata.shape
scales, rank, _ = fit["H"].shape
assert (cells, features, rank) == (7, 5, 2)
assert fit["H"].shape == (scales, rank, cells) and fit["H"].dtype == dtype
assert fit["W"].shape == (scales, features, rank) and fit["W"].dtype == dtype
assert adata.obsm["X_pnmf"].shape == (cells, rank)
assert np.array_equal(adata.obsm["X_pnmf"], fit["H"][fit["recommended"]].T)
assert np.array_equal(adata.varm["pnmf_W"], fit["W"][fit["recommended"]])
assert fit["clusters"].shape == (scales, cells) and fit["clusters"].dtype == np.int32
assert adata.obs["pnmf_clusters"].dtype == "category"
assert np.array_equal(adata.obs["pnmf_clusters"].astype(int), fit["clusters"][fit["recommended"]] + 1)
combined = fit["scores"]["combined"]
assert combined[fit["recommended"]] == np.nanmax(combined)
assert list(adata.obs["label"].cat.categories) == ["a", "b"]
assert isinstance(fit["options"], str) and json.loads(fit["options"])["rank"] == 2
assert np.all(np.diff(fit["epsilon"]) > 0) and fit["betti0"][-1] == 1 and fit["betti0"].dtype == np.int64
terms = ["fit", "graph", "smoothness", "anchor"]
assert np.allclose(fit["objective"], sum(fit[f"objective_{term}"] for term in terms), rtol=1e-14)
assert np.all(np.diff(fit["objective"]) <= 0)
adata.write_h5ad(copy)
with h5py.File(file) as a, h5py.File(copy) as b:
    same("", a["/"], b["/"])
