#!/usr/bin/python3
"""Batches, with and without balanced neighbours: batches.py PROGRAM DATA [--sets Kang Baron Dendritic]

`pnmf fit INPUT` beside `pnmf fit INPUT --batch COLUMN`, else with defaults. Prints, in the space that distances come from
(30 principal components), in the embedding at the recommended scale (cells of length 1) and in the graph of the fit:

    mixing   (mean over cells of 1 / sum_b p_b^2 - 1) / (1 / sum_b pi_b^2 - 1), p_b the share of batch b among the 30
             nearest cells, pi_b among all: 0 where batches are apart, about 1 where they lie on each other
    purity   the mean share of the 30 nearest cells that have the cell's label
    ARI      of the clusters with the labels, and with the batches (0: clusters do not follow batches)

The measures are computed here, from the definitions, and compared with what `summary.json` says.

Kang: eight donors. Baron: two donors. Dendritic: one batch alone is at hand, so that a second one is made of every other
cell of each type: each gene is multiplied by a factor of its own, exp(0.7 z) with z normal, the same for all types, and 30 %
of the values are lost. This is an artificial batch effect, and a strong one.
"""

import argparse
import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

import anndata
import h5py
import numpy as np
import pandas
import scipy.io
import scipy.sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

SETS = {"Kang": ("Kang_PBMC_12261", "sample_id"), "Baron": ("Baron_human_2000g", "subject"), "Dendritic": ("Dendritic_batch1_HVG859", None)}
NEIGHBORS, CELLS = 30, 1000


def read(folder):
    """Values, cells x genes, and the table of cells."""
    with gzip.open(folder / "matrix.mtx.gz") as file:
        values = scipy.io.mmread(file).T.tocsr().astype(float)
    return values, pandas.read_csv(folder / "cells.tsv", sep="\t", quoting=csv.QUOTE_NONE, dtype=str)


def with_second_batch(values, labels):
    """Every other cell of each type, as another laboratory might have seen it."""
    random = np.random.default_rng(0)
    second = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        second[np.flatnonzero(labels == label)[1::2]] = True
    dense = values.toarray()
    factor = np.exp(0.7 * random.standard_normal(dense.shape[1]))
    kept = random.random(dense.shape) >= 0.3
    dense[second] *= factor * kept[second]
    return scipy.sparse.csr_matrix(dense), np.where(second, "second", "first")


def prepared(source, column, path):
    """Writes the set as AnnData; gives its labels and batches."""
    values, table = read(source)
    labels = table["label"].to_numpy()
    if column is None:
        values, batch = with_second_batch(values, labels)
    else:
        batch = table[column].to_numpy()
    adata = anndata.AnnData(obs=pandas.DataFrame({"label": pandas.Categorical(labels), "batch": pandas.Categorical(batch)}, index=table["cell"].to_numpy()), var=pandas.DataFrame(index=[str(g) for g in range(values.shape[1])]))
    adata.X = values  # in double precision, also with AnnData 0.8
    adata.write_h5ad(path)
    return labels, batch


def scores(points, batch, labels):
    """Mixing and purity, from their definitions."""
    n = len(points)
    k = min(NEIGHBORS, n - 1)
    sample = np.unique(np.floor(np.arange(min(CELLS, n)) * (n - 1) / (min(CELLS, n) - 1) + 0.5).astype(int))
    found = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(points).kneighbors(points[sample], return_distance=False)
    near = np.array([row[row != i][:k] for row, i in zip(found, sample)])
    codes = np.unique(batch, return_inverse=True)[1]
    shares = np.stack([(codes[near] == b).mean(axis=1) for b in range(codes.max() + 1)])
    whole = np.bincount(codes) / n
    mixing = ((1 / (shares**2).sum(axis=0)).mean() - 1) / (1 / (whole**2).sum() - 1)
    return mixing, (labels[near] == labels[sample][:, None]).mean()


def fit(program, path, out, extra):
    subprocess.run([program, "fit", path, "-o", out, "--overwrite", "--no-report", "--labels", "label", *extra], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with h5py.File(out / "result.h5ad") as file:
        H = file["uns/pnmf/H"][int(file["uns/pnmf/recommended"][()])].T
        space = file["uns/pnmf/space/coordinates"][()]
        clusters = file["obs/pnmf_clusters/codes"][()]
    return H / np.maximum(np.linalg.norm(H, axis=1, keepdims=True), 1e-300), space, clusters, json.loads((out / "summary.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS))
    options = parser.parse_args()
    print("| data | neighbours | mixing, space | mixing, embedding | purity, space | purity, embedding | clusters | ARI, labels | ARI, batches |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name in options.sets:
            source, column = SETS[name]
            if not (options.data / source / "matrix.mtx.gz").exists():
                print(f"{name}: left out, {source} is not in the folder of the data sets", file=sys.stderr)
                continue
            path = folder / f"{name}.h5ad"
            labels, batch = prepared(options.data / source, column, path)
            for who, extra in (("as they are", []), ("balanced", ["--batch", "batch"])):
                H, space, clusters, summary = fit(options.program.resolve(), path, folder / "out", extra)
                before, after = scores(space, batch, labels), scores(H, batch, labels)
                if extra:
                    said = summary["batch"]
                    if abs(said["mixing"] - after[0]) > 0.02 or abs(said["label_purity"] - after[1]) > 0.02:
                        raise RuntimeError(f"summary.json says {said}, the definitions {after}")
                print(
                    f"| {name} | {who} | {before[0]:.2f} | {after[0]:.2f} | {before[1]:.2f} | {after[1]:.2f} | {clusters.max() + 1} "
                    f"| {adjusted_rand_score(labels, clusters):.2f} | {adjusted_rand_score(batch, clusters):.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
