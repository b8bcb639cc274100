#!/usr/bin/python3
"""Graph-regularised NMF by pnmf and by plain SciPy, at equal loss: gnmf.py PROGRAM FOLDER [REPEATS [THREADS [RANK ...]]]

FOLDER holds matrix.mtx.gz, genes × cells, counts; the data are log10(1 + x) with cells of unit length. Neither
scikit-learn nor RcppML has GNMF, so the contestant is written here as its authors published it (Cai et al. 2011):
multiplicative steps on sparse X and a sparse graph, 200 of them from NNDSVDA, as scikit-learn allows NMF. The graph is
the five nearest cells and heat weights as `pnmf baseline gnmf` has it, made here. The loss is
‖X − WH‖² + λ tr(HLHᵀ) for unit columns of W and rows of H scaled with them, computed here for both before a time is
printed. pnmf is given more and more sweeps until it is at or below. Reading and writing files and the graph are counted
for neither; the start (SVD) is counted for both.
"""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

THREADS = sys.argv[4] if len(sys.argv) > 4 else "1"
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = THREADS

import time

import h5py
import numpy as np
import scipy.io
import scipy.sparse

LADDER = [5, 7, 10, 14, 20, 28, 40, 56, 80]
LAMBDA, NEIGHBOURS, STEPS = 0.1, 5, 200


def unit(W, H):
    scale = np.linalg.norm(W, axis=0)
    scale[scale == 0] = 1
    return W / scale, H * scale[:, None]


def loss(X, A, W, H):
    W, H = unit(W, H)
    degree = np.asarray(A.sum(axis=0)).ravel()
    fit = X.multiply(X).sum() - 2 * (W * (X @ H.T)).sum() + ((W.T @ W) * (H @ H.T)).sum()
    return fit + LAMBDA * ((H**2 * degree).sum() - ((A @ H.T).T * H).sum())


def run_scipy(X, A, rank):
    from sklearn.decomposition._nmf import _initialize_nmf

    began = time.perf_counter()
    W, H = _initialize_nmf(X, rank, init="nndsvda", random_state=0)
    degree = np.asarray(A.sum(axis=0)).ravel()
    for _ in range(STEPS):
        W *= (X @ H.T) / (W @ (H @ H.T) + 1e-12)
        H *= ((X.T @ W).T + LAMBDA * (A @ H.T).T) / ((W.T @ W) @ H + LAMBDA * H * degree + 1e-12)
    return loss(X, A, W, H), time.perf_counter() - began, STEPS


def run_pnmf(program, X, A, mtx, rank, steps, folder):
    out = folder / "pnmf"
    command = [program, "baseline", "gnmf", mtx, "--overwrite", "--transform", "none", "--rank", rank, "--lambda", LAMBDA, "--tolerance", 0,
               "--clusters", 1, "--max-steps", steps, "--threads", THREADS, "--json", "-o", out]
    summary = json.loads(subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout)
    with h5py.File(out / "result.h5ad") as file:
        W, H = file["uns/pnmf/W"][0], file["uns/pnmf/H"][0]
    found = loss(X, A, W, H)
    if abs(found / summary["objective"]["total"] - 1) > 1e-6:
        sys.exit(f"the loss here is {found}, the program's {summary['objective']['total']}: not the same graph, no time is given")
    return found, summary["seconds"], steps


def heat_graph(X):
    """The weights of `pnmf baseline gnmf`: the k nearest cells of each, exp(-d²/s^1.5) with s the largest distance of all
    pairs, joined when either counts the other."""
    cells = X.T.toarray()
    squares = (cells**2).sum(axis=1)
    rows, columns, lengths, largest = [], [], [], 0.0
    for begin in range(0, len(cells), 512):
        block = np.arange(begin, min(begin + 512, len(cells)))
        distances = squares[block, None] + squares - 2 * cells[block] @ cells.T
        distances[np.arange(len(block)), block] = np.inf
        near = np.argpartition(distances, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        distances[np.arange(len(block)), block] = 0
        for i, far in zip(block, distances.argmax(axis=1)):
            largest = max(largest, np.linalg.norm(cells[i] - cells[far]))
        rows.append(np.repeat(block, NEIGHBOURS))
        columns.append(near.ravel())
        lengths.append(np.linalg.norm(cells[rows[-1]] - cells[columns[-1]], axis=1))
    weights = np.exp(-(np.concatenate(lengths) ** 2) / largest**1.5)
    near = scipy.sparse.csr_matrix((weights, (np.concatenate(rows), np.concatenate(columns))), (len(cells), len(cells)))
    return near.maximum(near.T).tocsr()


def main():
    program, data, repeats = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3
    X = scipy.io.mmread(data / "matrix.mtx.gz").tocsc().astype(float)
    X = X[np.asarray(X.sum(axis=1)).ravel() > 0]
    X.data = np.log10(1 + X.data)
    X = (X @ scipy.sparse.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel()))).tocsr()
    A = heat_graph(X)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mtx = folder / "X.mtx"
        scipy.io.mmwrite(mtx, X, precision=17)
        print("| rank | threads | contestant | iterations | loss | wall s |\n| --- | --- | --- | --- | --- | --- |", flush=True)
        for rank in map(int, sys.argv[5:] or [10, 30]):
            theirs = [run_scipy(X, A, rank)]
            target = theirs[0][0]
            steps = next(s for s in LADDER if s == LADDER[-1] or run_pnmf(program, X, A, mtx, rank, s, folder)[0] <= target)
            ours = []
            for _ in range(repeats):
                ours.append(run_pnmf(program, X, A, mtx, rank, steps, folder))
                theirs.append(run_scipy(X, A, rank))
            for contestant, runs in [("SciPy, multiplicative", theirs), ("pnmf", ours)]:
                losses, wall, iterations = zip(*runs)
                note = "" if max(losses) <= target * (1 + 1e-9) else " (above the target)"
                print(f"| {rank} | {THREADS} | {contestant} | {iterations[0]} | {losses[0]:.4f}{note} | "
                      f"{statistics.median(wall):.2f} ({min(wall):.2f}–{max(wall):.2f}) |", flush=True)


if __name__ == "__main__":
    main()
