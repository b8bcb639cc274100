#!/usr/bin/python3
"""Scanpy's steps from counts to clusters, with scikit-learn and leidenalg: graph_clustering.py INPUT.h5ad LABELS.npy

Counts per 10,000, log1p, the 2,000 genes of largest variance, 50 principal components, 15 neighbours, Leiden at
resolution 1. Exact neighbours: scikit-learn has no approximate ones. Writes the cluster of each cell.
"""

import pathlib
import sys

import anndata
import numpy as np
import scipy.sparse
from sklearn.decomposition import PCA

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "quality"))
import neighbors
import sets


def main():
    counts = scipy.sparse.csr_matrix(anndata.read_h5ad(sys.argv[1]).X).astype(np.float32)
    logs = sets.logged(counts)
    logs = logs[:, sets.variable_genes(logs, sets.GENES)].toarray()
    components = min(50, *(side - 1 for side in logs.shape))
    space = PCA(components, svd_solver="arpack", random_state=0).fit_transform(logs)
    np.save(sys.argv[2], neighbors.leiden(neighbors.edges(space, 15), len(space), seed=0))


if __name__ == "__main__":
    main()
