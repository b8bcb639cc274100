"""The labelled sets as the tables of docs/choosing-scales.md take them.

A set is a folder with matrix.mtx.gz (genes × cells) and cells.tsv with a column `label`. Each is made ready twice: with
all its cells, and with at most 800 of them, drawn with a fixed seed. Written as AnnData files:

    counts.h5ad           the values as they came: what a user would give to `pnmf fit`
    <preparation>.h5ad    what other methods are given, once for each preparation: the 2,000 genes of largest variance,
                          cells of unit length; `obsm` holds the principal components of the values before that
"""

import csv
import dataclasses
import gzip
import pathlib

import anndata
import numpy as np
import pandas
import scipy.io
import scipy.sparse
from sklearn.decomposition import PCA

CELLS, ALL_CELLS, GENES, COMPONENTS = 800, 10**9, 2000, (30, 50)
SPACE, WIDE_SPACE = (f"X_pca{count}" for count in COMPONENTS)

# Folder → name in the tables, in their order.
NAMES = {
    "Baron_human_2000g": "Baron", "Biase_GSE57249": "Biase", "CellBench_RNAmix_celseq2": "CellBench RNA mix", "Darmanis_GSE67835": "Darmanis",
    "Dendritic_batch1_HVG859": "Dendritic", "Deng_SC3_268": "Deng", "GSE75140_fetal220": "GSE75140", "GSE75748time_TF100": "GSE75748",
    "Goolam": "Goolam", "Kang_PBMC_12261": "Kang", "Klein_1000c_900g": "Klein", "PBMC3k": "PBMC3k", "PBMC68k_reduced700": "PBMC68k",
    "PBMC_FACS_Zheng": "PBMC FACS", "Pollen": "Pollen", "Segerstolpe_2000g": "Segerstolpe", "Ting": "Ting", "Xin_674c_980g": "Xin", "Yan": "Yan",
    "Zeisel_1464c_1000g": "Zeisel",
}
QUICK = ("Yan", "Goolam")


@dataclasses.dataclass(frozen=True)
class Set:
    name: str
    folder: pathlib.Path
    labels: np.ndarray  # 0 … k − 1, of each cell

    @property
    def clusters(self):
        return int(self.labels.max()) + 1

    @property
    def counts(self):
        return self.folder / "counts.h5ad"

    def prepared(self, preparation="cp10k"):
        return self.folder / f"{preparation}.h5ad"

    def space(self, name=SPACE):
        """Cells × components."""
        return np.asarray(anndata.read_h5ad(self.prepared(), backed="r").obsm[name])


def read(folder):
    """Values, cells × genes, and the labels."""
    with gzip.open(folder / "matrix.mtx.gz") as file:
        values = scipy.io.mmread(file).T.tocsr().astype(float)
    with open(folder / "cells.tsv") as file:
        labels = [row["label"] for row in csv.DictReader(file, delimiter="\t")]
    if len(labels) != values.shape[0]:
        raise ValueError(f"{folder.name}: {values.shape[0]} cells and {len(labels)} labels")
    return values, np.array(labels)


def some_cells(count, most):
    """At most so many of the cells, the same at every call, ascending."""
    return np.arange(count) if count <= most else np.sort(np.random.RandomState(0).choice(count, most, replace=False))


def logged(values):
    totals = np.asarray(values.sum(axis=1)).ravel()
    scaled = scipy.sparse.diags(1e4 / totals) @ values
    return scaled.log1p().tocsr()


def log10(values):
    return (values.log1p() / np.log(10)).tocsr()


# What other methods are given, by name: what is done to counts before genes are chosen.
PREPARATIONS = {"cp10k": logged, "log10": log10}


def variable_genes(values, count):
    """Positions of the genes of largest variance, ascending; none that does not vary."""
    mean = np.asarray(values.mean(axis=0)).ravel()
    variance = np.asarray(values.multiply(values).mean(axis=0)).ravel() - mean**2
    order = np.argsort(-variance, kind="stable")[:count]
    return np.sort(order[variance[order] > 0])


def principal_components(values, count):
    """Coordinates of the cells, cells × components."""
    count = min(count, min(values.shape) - 1)
    if values.shape[0] > CELLS:
        return PCA(count, svd_solver="randomized", random_state=0).fit_transform(values.toarray())
    dense = values.toarray()
    U, S, _ = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)
    return U[:, :count] * S[:count]


def prepare(values, preparation=logged):
    """Cells of unit length in the most variable genes, and the spaces of their log values."""
    logs = preparation(values)
    logs = logs[:, variable_genes(logs, GENES)]
    lengths = np.sqrt(np.asarray(logs.multiply(logs).sum(axis=1)).ravel())
    if not lengths.all():
        raise ValueError(f"cell {np.argmin(lengths)} is zero in all genes that are looked at")
    unit = scipy.sparse.diags(1 / lengths) @ logs
    space = principal_components(logs, max(COMPONENTS))
    return unit.tocsr(), {f"X_pca{count}": space[:, :count] for count in COMPONENTS}


def anndata_of(X, **parts):
    """In double precision, also with AnnData 0.8, whose constructor rounds."""
    adata = anndata.AnnData(var=pandas.DataFrame(index=[str(g) for g in range(X.shape[1])]), **parts)
    adata.X = X
    return adata


def write(source, folder, most=CELLS):
    values, labels = read(source)
    kept = some_cells(len(labels), most)
    values, labels = values[kept], labels[kept]
    table = pandas.DataFrame({"label": pandas.Categorical(labels)}, index=[f"cell{i}" for i in range(len(labels))])
    folder.mkdir(parents=True, exist_ok=True)
    anndata_of(values, obs=table).write_h5ad(folder / "counts.h5ad")
    for name, preparation in PREPARATIONS.items():
        X, spaces = prepare(values, preparation)
        anndata_of(X, obs=table, obsm=spaces).write_h5ad(folder / f"{name}.h5ad")
    np.save(folder / "labels.npy", np.unique(labels, return_inverse=True)[1])


def load(data, out, quick=False, most=CELLS):
    """(the sets that are there, made ready under `out`; sentences about those left out)."""
    found, left = [], []
    for folder, name in NAMES.items():
        if quick and name not in QUICK:
            continue
        if not (data / folder / "matrix.mtx.gz").exists():
            left.append(f"{name}: left out, {folder}/matrix.mtx.gz is not in the folder of the data sets")
            continue
        ready = out / "sets" / f"{name}-{most}"
        if not (ready / "labels.npy").exists():
            write(data / folder, ready, most)
        found.append(Set(name, ready, np.load(ready / "labels.npy")))
    return found, left
