"""Reading a .h5ad file: pnmf against AnnData, on one machine in one run.

    /usr/bin/python3 benchmarks/contestants/read_h5ad.py BENCH_READ DATA [REPEATS]

BENCH_READ is the program bench_read, DATA a folder with matrix.mtx.gz, genes.tsv and cells.tsv. The file is made
once for each way of storing it; both readers must agree on every value before anything is timed; rounds alternate.
AnnData leaves a matrix stored by genes (CSC) as it is, pnmf orders it by cells; the row "then by cells" gives AnnData
that work too.
Prints a table.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import anndata
import numpy as np
import pandas as pd
import scipy.io
import scipy.sparse as sp

warnings.simplefilter("ignore")
program, data = sys.argv[1:3]
repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 9


def weights(cells, features):
    return (np.arange(features) % 97 + 1.0)[None, :] * (np.arange(cells) % 89 + 1.0)[:, None]


def verify(path, ours):
    adata = anndata.read_h5ad(path)
    X = adata.X if not sp.issparse(adata.X) else adata.X.tocoo()
    cells, features = adata.shape
    if sp.issparse(X):
        sum_ = float(np.sum(X.data.astype(float) * (X.col % 97 + 1.0) * (X.row % 89 + 1.0)))
    else:
        sum_ = float(np.sum(X.astype(float) * weights(cells, features)))
    assert (ours["cells"], ours["features"], ours["columns"]) == (cells, features, adata.obs.shape[1]), ours
    assert abs(ours["checksum"] - sum_) <= 1e-9 * abs(sum_), (ours["checksum"], sum_)


def run_ours(path, count=1):
    return json.loads(subprocess.run([program, path, str(count)], check=True, capture_output=True, text=True).stdout)


def compare(path, by_cells):
    verify(path, run_ours(path))
    ours, theirs = [], []
    for _ in range(repeats):
        ours += run_ours(path, 2)["seconds"][1:]
        begin = time.perf_counter()
        X = anndata.read_h5ad(path).X
        if by_cells:
            X.tocsr()
        theirs.append(time.perf_counter() - begin)
    return ours, theirs[1:]


def show(times):
    return f"{1000 * statistics.median(times):.0f} ({1000 * min(times):.0f} to {1000 * max(times):.0f})"


X = sp.csr_matrix(scipy.io.mmread(os.path.join(data, "matrix.mtx.gz")).T.astype(np.float32))
obs = pd.read_csv(os.path.join(data, "cells.tsv"), sep="\t", index_col=0)
obs.index = obs.index.astype(str)
genes = [line.split("\t")[0].strip() for line in open(os.path.join(data, "genes.tsv"))][-X.shape[1] :]
adata = anndata.AnnData(X, obs=obs, var=pd.DataFrame(index=genes))
print(f"{os.path.basename(data)}: {X.shape[0]} cells x {X.shape[1]} genes, {X.nnz} entries, float32; {repeats} rounds\n")
print("| stored as | pnmf, ms: median (range) | AnnData, ms: median (range) | AnnData / pnmf |")
print("| --- | --- | --- | --- |")
with tempfile.TemporaryDirectory() as folder:
    for name, matrix, options in (("CSR", X, {}), ("CSR, gzip", X, {"compression": "gzip"}), ("CSC", X.tocsc(), {}),
                                  ("CSC, then by cells", X.tocsc(), {}),
                                  ("dense", X.toarray(), {}), ("dense, gzip", X.toarray(), {"compression": "gzip"})):
        path = os.path.join(folder, "data.h5ad")
        adata.X = matrix
        adata.write_h5ad(path, **options)
        ours, theirs = compare(path, name.endswith("by cells"))
        ratio = statistics.median(theirs) / statistics.median(ours)
        print(f"| {name} | {show(ours)} | {show(theirs)} | {ratio:.2f} |", flush=True)
