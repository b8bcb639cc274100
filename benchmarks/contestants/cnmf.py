#!/usr/bin/python3
"""cNMF's choice of a rank (Kotliar et al., eLife 2019), written with scikit-learn: cnmf.py INPUT.h5ad OUT.json RANKS RESTARTS WORKERS

RANKS is FIRST:LAST or FIRST:LAST:STEP. For each rank RESTARTS factorisations from random numbers, with cNMF's settings (multiplicative
updates, Frobenius loss, tolerance 1e-4, at most 1,000 iterations). Then, as its `consensus` does for the picture of
stability and error: programs of length 1, k-means into as many groups as the rank, the silhouette of the groups, the median
of each, usages refitted to the medians, and the error of their product. WORKERS processes, each with one thread.

The values are those that `pnmf rank` factorises: counts per 10,000, log1p, the 2,000 genes of largest variance, cells of
length 1. (cNMF's own are not logged, and genes are divided by their deviation: that is its preparation, not its method.)
"""

import json
import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # before NumPy is loaded: processes share the cores
    os.environ[name] = "1"

import multiprocessing
import pathlib
import warnings

import anndata
import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import non_negative_factorization
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import normalize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "quality"))
import sets

SETTINGS = {"init": "random", "solver": "mu", "beta_loss": "frobenius", "tol": 1e-4, "max_iter": 1000}


def values(path):
    logs = sets.logged(scipy.sparse.csr_matrix(anndata.read_h5ad(path).X).astype(np.float32))
    return normalize(scipy.sparse.csr_matrix(logs[:, sets.variable_genes(logs, sets.GENES)]))


def restart(job):
    rank, seed = job
    warnings.simplefilter("ignore")
    _, programs, iterations = non_negative_factorization(X, n_components=rank, random_state=seed, **SETTINGS)
    return rank, programs, iterations


def consensus(rank, programs):
    """(stability, relative squared error) of the programs of all restarts of a rank."""
    warnings.simplefilter("ignore")
    unit = normalize(np.vstack(programs))
    groups = KMeans(rank, n_init=10, random_state=1).fit(unit).labels_
    medians = np.vstack([np.median(unit[groups == k], axis=0) for k in range(rank)])
    usages, _, _ = non_negative_factorization(X, H=medians.astype(X.dtype), n_components=rank, update_H=False, **SETTINGS)
    size = float(X.multiply(X).sum())
    rest = size - 2.0 * np.sum((X @ medians.T) * usages) + np.sum((usages.T @ usages) * (medians @ medians.T))
    return float(silhouette_score(unit, groups)), float(rest / size)


def finish(job):
    return job[0], *consensus(*job)


if __name__ == "__main__":
    X = values(sys.argv[1])  # the processes below are forked: they have it
    first, last, step = (*(int(end) for end in sys.argv[3].split(":")), 1)[:3]
    restarts, workers = int(sys.argv[4]), int(sys.argv[5])
    ranks = list(range(first, last + 1, step))
    jobs = [(rank, seed) for rank in reversed(ranks) for seed in range(restarts)]
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        found = {rank: [] for rank in ranks}
        iterations = {rank: [] for rank in ranks}
        for rank, programs, count in pool.imap_unordered(restart, jobs):
            found[rank].append(programs)
            iterations[rank].append(int(count))
        curve = sorted(pool.map(finish, [(rank, found[rank]) for rank in ranks]))
    rows = [{"rank": rank, "stability": stability, "error": error, "iterations": float(np.mean(iterations[rank]))} for rank, stability, error in curve]
    pathlib.Path(sys.argv[2]).write_text(json.dumps(rows))
