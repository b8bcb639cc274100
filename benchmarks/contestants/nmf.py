#!/usr/bin/python3
"""NMF without penalties by pnmf, scikit-learn and RcppML, at equal loss: nmf.py PROGRAM FOLDER [REPEATS [THREADS [RANK ...]]]

FOLDER holds matrix.mtx.gz, genes × cells, counts. The data are log10(1 + x) with cells of unit length. For each
rank and number of threads the target is the loss ‖X − WH‖² that scikit-learn reaches with its defaults (cd,
nndsvda, tol 1e-4, at most 200 iterations). pnmf and RcppML are given more and more iterations until they are at
or below it; the loss is computed by this script from W and H, for every contestant, before a time is printed.
Then all run REPEATS times in turns. Reading and writing files is not counted; the start (SVD) is. In a second
contest scikit-learn is given pnmf's start ("same start"): its time is without the SVD then, pnmf's with it.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

THREADS = sys.argv[4] if len(sys.argv) > 4 else "1"
if THREADS:  # before NumPy is loaded
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = THREADS

import resource
import time

import h5py
import numpy as np
import scipy.io
import scipy.sparse

LADDER = [5, 7, 10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320]


def loss(X, W, H):
    return X.multiply(X).sum() - 2 * (W * (X @ H.T)).sum() + ((W.T @ W) * (H @ H.T)).sum()


def run_sklearn(X, rank, start=None):
    from sklearn.decomposition import NMF

    before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    model = NMF(rank, init="custom" if start else "nndsvda", random_state=0)
    W = model.fit_transform(X, W=start[0].copy(), H=start[1].copy()) if start else model.fit_transform(X)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return loss(X, W, model.components_), cpu, wall, model.n_iter_


def read_factors(folder):
    with h5py.File(folder / "result.h5ad") as file:
        return file["uns/pnmf/W"][0], file["uns/pnmf/H"][0]


def run_pnmf(program, X, mtx, rank, steps, folder, seeding):
    out = folder / "pnmf"
    command = [program, "baseline", "nmf", mtx, "--overwrite", "--transform", "none", "--rank", rank, "--tolerance", 0, "--clusters", 1,
               "--max-steps", steps, "--seeding", seeding, "--threads", THREADS, "--json", "-o", out]
    run = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)
    summary = json.loads(run.stdout)
    W, H = read_factors(out)
    return loss(X, W, H), summary["cpu_seconds"], summary["seconds"], steps


def run_rcppml(X, mtx, rank, steps, folder):
    script = pathlib.Path(__file__).with_suffix(".R")
    out = folder / "rcppml"
    command = ["Rscript", script, mtx, rank, THREADS, steps, out]
    cpu, wall = map(float, subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout.split())
    return loss(X, np.loadtxt(f"{out}.W"), np.loadtxt(f"{out}.H")), cpu, wall, steps


def has_rcppml():
    """Whether R is here with RcppML, which Debian does not have."""
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(RcppML)"], capture_output=True).returncode == 0


def first_below(target, run):
    for steps in LADDER:
        result = run(steps)
        if result[0] <= target:
            return result
    return result


def contest(rank, repeats, first, others, remark=""):
    """Prints a row for scikit-learn, which sets the target, and one for each of the others."""
    target = first()[0]
    steps = {name: first_below(target, way)[3] for name, way in others.items()}
    times = {}
    for _ in range(repeats):
        times.setdefault("scikit-learn", []).append(first())
        for name, way in others.items():
            times.setdefault(name, []).append(way(steps[name]))
    for contestant, runs in times.items():
        losses, cpu, wall, iterations = zip(*runs)
        note = "" if max(losses) <= target * (1 + 1e-9) else " (above the target)"
        print(f"| {rank} | {THREADS} | {contestant}{remark} | {iterations[0]} | {losses[0]:.4f}{note} | "
              f"{statistics.median(cpu):.2f} ({min(cpu):.2f}–{max(cpu):.2f}) | "
              f"{statistics.median(wall):.2f} ({min(wall):.2f}–{max(wall):.2f}) |", flush=True)


def main():
    program, data, repeats = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3
    X = scipy.io.mmread(data / "matrix.mtx.gz").tocsc().astype(float)
    X = X[np.asarray(X.sum(axis=1)).ravel() > 0]
    X.data = np.log10(1 + X.data)
    X = X @ scipy.sparse.diags(1 / np.sqrt(np.asarray(X.multiply(X).sum(axis=0)).ravel()))
    X = X.tocsr()
    with_rcppml = has_rcppml()
    if not with_rcppml:
        print("RcppML is left out: R or its package RcppML is not here", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mtx = folder / "X.mtx"
        scipy.io.mmwrite(mtx, X, precision=17)
        print("| rank | threads | contestant | iterations | loss | CPU s | wall s |\n| --- | --- | --- | --- | --- | --- | --- |")
        for rank in map(int, sys.argv[5:] or [10, 30]):
            from_nndsvda = lambda s: run_pnmf(program, X, mtx, rank, s, folder, "nndsvda")
            others = {"pnmf": from_nndsvda,
                      "pnmf, random start": lambda s: run_pnmf(program, X, mtx, rank, s, folder, "random")}
            if with_rcppml:
                others["RcppML"] = lambda s: run_rcppml(X, mtx, rank, s, folder)
            contest(rank, repeats, lambda: run_sklearn(X, rank), others)
            from_nndsvda(0)
            start = read_factors(folder / "pnmf")
            contest(rank, repeats, lambda: run_sklearn(X, rank, start), {"pnmf": from_nndsvda}, ", same start")


if __name__ == "__main__":
    main()
