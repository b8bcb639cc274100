#!/usr/bin/python3
"""What Python costs beside the compiled library: time over its call, and memory over the matrix.

    overhead.py DATA: a folder with matrix.mtx.gz, genes x cells; prints a table in Markdown.

The compiled call is timed inside the module, from the call of the library's fit() to its return; the rest of the
Python call is overhead: checking the matrix, the estimator's attributes. That the numbers equal the program's bit for
bit is a test, python/tests/test_anndata.py.
"""

import argparse
import statistics
import subprocess
import sys
import time
import warnings

import numpy as np
import scipy.io
import scipy.sparse

import pnmf

warnings.simplefilter("ignore")
OPTIONS = {"rank": 10, "max_scales": 4, "neighbors": 15, "max_sweeps": 5}


def memory(field):
    """VmRSS: what the process holds; VmHWM: the most it has held since forget_peak()."""
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024


def forget_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def matrix_of(folder, kind):
    X = pnmf.tl.log_unit(scipy.io.mmread(f"{folder}/matrix.mtx.gz").T.tocsr().astype(np.float64))
    return np.ascontiguousarray(X.toarray()) if kind == "dense" else X


def measure(folder, kind, repeats):
    """One process for each kind, so that nothing freed by another is used again."""
    X = matrix_of(folder, kind)
    size = X.nbytes if kind == "dense" else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    pnmf.PersistentNMF(rank=2, max_scales=2).fit(X[:50])
    forget_peak()
    before = memory("VmRSS")
    pnmf.h0_persistence(X)
    persistence = memory("VmHWM") - before
    over = []
    for _ in range(repeats):
        began = time.perf_counter()
        model = pnmf.PersistentNMF(**OPTIONS).fit(X)
        wall = time.perf_counter() - began
        over.append((wall, model.seconds_))
    growth = memory("VmHWM") - before
    ratios = [100 * (wall - inside) / inside for wall, inside in over]
    print(
        f"| {kind} | {X.shape[0]} x {X.shape[1]} | {size / 1e6:.0f} MB | {statistics.median(w for w, _ in over):.2f} s"
        f" | {statistics.median(ratios):.2f} % ({min(ratios):.2f} to {max(ratios):.2f}) | {persistence / 1e6:.0f} MB | {growth / 1e6:.0f} MB |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data")
    parser.add_argument("--kind", choices=["dense", "csr"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if options.kind:
        measure(options.data, options.kind, options.repeats)
        return
    print("| matrix | cells x genes | size | fit | overhead over the compiled call | memory added by persistence | by persistence and fit |")
    print("| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for kind in ["csr", "dense"]:
        subprocess.run([sys.executable, __file__, options.data, "--kind", kind, "--repeats", str(options.repeats)], check=True)


if __name__ == "__main__":
    main()
