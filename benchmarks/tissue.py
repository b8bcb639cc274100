#!/usr/bin/python3
"""Types and domains of cells in a tissue: tissue.py PROGRAM DATA [--seeds 4] [--only NAME]

The figures of docs/tissue.md: agreement (adjusted Rand index, mean over seeds) of domains with layers drawn by hand and
of types with the types of the studies, beside `--preset cells`, which knows no places, and two other ways:

- k-means of principal components averaged over the k nearest cells, k chosen by the labels: an upper bound;
- Leiden of a sum of two neighbour graphs, of expression and of places, its share of places chosen by the labels and
  its resolution so that the number of groups is right.

Sets are folders of DATA with matrix.mtx.gz and cells.tsv (x, y, label, perhaps celltype). Those that are not there are
left out, with a line that says so.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import h5py
import igraph
import leidenalg
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

SETS = {"spatial_STARmap_mPFC_1": 4, "spatial_STARmap_mPFC_2": 4, "spatial_DLPFC_151510": 7}


def agreement(labels, found):
    """ARI over the cells that have a label."""
    known = labels.notna().to_numpy()
    return adjusted_rand_score(labels[known], np.asarray(found)[known])


def fit(program, source, *words):
    """{column: codes} and number of scales of `pnmf fit`."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = [program, "fit", source, "-o", out, "--no-report", *words]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
        with h5py.File(out / "result.h5ad") as file:
            return {name: file[f"obs/{name}/codes"][()] for name in ("pnmf_clusters", "pnmf_domains") if name in file["obs"]}


def components(source):
    """30 principal components of log-normalised counts."""
    X = scipy.sparse.csr_matrix(scipy.io.mmread(source / "matrix.mtx.gz").T, dtype=float)
    X = np.log1p(X.multiply(1e4 / np.maximum(X.sum(axis=1), 1)).toarray())
    return PCA(30, random_state=0).fit_transform(X)


def averaged(Y, places, labels, count, seeds):
    """Best over k of the mean ARI of k-means after averaging over k neighbours, and that k."""
    near = NearestNeighbors(n_neighbors=129).fit(places).kneighbors(places, return_distance=False)
    best = (-1.0, 0)
    for k in (0, 1, 2, 4, 8, 16, 32, 64, 128):
        mean = Y[near[:, : k + 1]].mean(axis=1)
        found = [agreement(labels, KMeans(count, n_init=5, random_state=seed).fit_predict(mean)) for seed in range(seeds)]
        best = max(best, (float(np.mean(found)), k))
    return best


def graph_of(points, k):
    n = len(points)
    near = NearestNeighbors(n_neighbors=k + 1).fit(points).kneighbors(points, return_distance=False)[:, 1:]
    A = scipy.sparse.csr_matrix((np.ones(n * k), (np.repeat(np.arange(n), k), near.ravel())), shape=(n, n))
    return A.maximum(A.T) / k


def leiden(A, count, seed):
    """Groups of a graph, at a resolution where there are so many, or nearly."""
    A = scipy.sparse.triu(A, 1).tocoo()
    graph = igraph.Graph(n=A.shape[0], edges=list(zip(A.row.tolist(), A.col.tolist())))
    low, high = 0.01, 5.0
    best = None
    for _ in range(12):
        resolution = np.sqrt(low * high)
        found = leidenalg.find_partition(graph, leidenalg.RBConfigurationVertexPartition, weights=A.data.tolist(), resolution_parameter=resolution, seed=seed, n_iterations=2)
        if best is None or abs(len(found) - count) < abs(len(best) - count):
            best = found
        if len(found) == count:
            break
        low, high = (resolution, high) if len(found) < count else (low, resolution)
    return best.membership


def joint_leiden(Y, places, labels, count, seeds):
    """Best over the share of places of the mean ARI, and that share."""
    expression, tissue = graph_of(Y, 15), graph_of(places, 8)
    best = (-1.0, 0.0)
    for share in (0.0, 0.2, 0.5, 0.8):
        A = (1 - share) * expression + share * tissue
        found = [agreement(labels, leiden(A, count, seed)) for seed in range(seeds)]
        best = max(best, (float(np.mean(found)), share))
    return best


def ours(program, source, table, domains, seeds):
    """Rows of `pnmf fit`: what, mean and each seed's."""
    tissue = ["--preset", "spatial", "--places", "x,y"]
    types = ["--clusters", str(table["celltype"].nunique())] if "celltype" in table else []
    rows = {}

    def add(what, value):
        rows.setdefault(what, []).append(value)

    for seed in range(seeds):
        found = fit(program, source, *tissue, "--domains", domains, *types, "--seed", seed)
        add("domains, number known", agreement(table["label"], found["pnmf_domains"]))
        if types:
            add("types, number known", agreement(table["celltype"], found["pnmf_clusters"]))
        found = fit(program, source, *tissue, "--seed", seed)
        add("domains, number unknown", agreement(table["label"], found["pnmf_domains"]))
        add("number of domains", len(np.unique(found["pnmf_domains"])))
        if types:
            add("types, number unknown", agreement(table["celltype"], found["pnmf_clusters"]))
            add("number of types", len(np.unique(found["pnmf_clusters"])))
            add("types by --preset cells, number known", agreement(table["celltype"], fit(program, source, "--preset", "cells", *types, "--seed", seed)["pnmf_clusters"]))
            found = fit(program, source, "--preset", "cells", "--seed", seed)
            add("types by --preset cells, number unknown", agreement(table["celltype"], found["pnmf_clusters"]))
            add("number of types by --preset cells", len(np.unique(found["pnmf_clusters"])))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--only", choices=["pnmf", "others"])
    options = parser.parse_args()
    print("| data | what | mean | each |\n| --- | --- | --- | --- |", flush=True)
    for name, domains in SETS.items():
        source = options.data.resolve() / name
        if not (source / "matrix.mtx.gz").exists():
            print(f"{name}: left out, it is not in the folder of the data sets", file=sys.stderr)
            continue
        table = pd.read_csv(source / "cells.tsv", sep="\t")
        if options.only != "others":
            for what, values in ours(options.program.resolve(), source, table, domains, options.seeds).items():
                print(f"| {name} | {what} | {np.mean(values):.3f} | {' '.join(f'{value:.3g}' for value in values)} |", flush=True)
        if options.only != "pnmf":
            Y, places = components(source), table[["x", "y"]].to_numpy(float)
            for what, column, count in (("domains", "label", domains), ("types", "celltype", None)):
                if column not in table:
                    continue
                labels = table[column]
                count = count or labels.nunique()
                value, k = averaged(Y, places, labels, count, options.seeds)
                print(f"| {name} | {what}: k-means after averaging over {k} neighbours | {value:.3f} | |", flush=True)
                value, share = joint_leiden(Y, places, labels, count, options.seeds)
                print(f"| {name} | {what}: Leiden, {share:g} of the graph from places | {value:.3f} | |", flush=True)


if __name__ == "__main__":
    main()
