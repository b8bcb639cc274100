#!/usr/bin/python3
"""From counts to clusters with nothing but defaults: answers.py PROGRAM DATA [--largest 100000]

`pnmf fit INPUT -o FOLDER`, page included, beside Scanpy's steps for the same answer (contestants/graph_clustering.py:
principal components, neighbours, Leiden). Both read the same .h5ad file and use all cores. Prints wall time, peak memory,
number of clusters and their agreement with the labels (ARI); the ratio is the other's time over ours. Sets that are not
there are left out, with a line that says so.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import anndata
import h5py
import numpy as np
from sklearn.metrics import adjusted_rand_score

CONTESTANT = pathlib.Path(__file__).resolve().parent / "contestants" / "graph_clustering.py"
SETS = {"PBMC3k": "PBMC3k", "Kang": "Kang_PBMC_12261"}


def timed(command):
    """(seconds, peak memory in MB) of a command that must succeed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if status:
            said.seek(0)
            raise RuntimeError(f"{command[0]} ended with {child.returncode}: {said.read().decode()[-500:]}")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def inputs(program, data, folder, largest):
    """(name, .h5ad file with a column `label`) of each set that is there."""
    for name, source in SETS.items():
        path = folder / f"{name}.h5ad"
        if not (data / source / "matrix.mtx.gz").exists():
            print(f"{name}: left out, {source} is not in the folder of the data sets", file=sys.stderr)
            continue
        subprocess.run([program, "convert", data / source, "--labels", "label", path], check=True, stderr=subprocess.DEVNULL)
        yield name, path
    path = folder / "simulated.h5ad"
    subprocess.run([str(word) for word in [program, "simulate", "cells", "--cells", largest, "--types", 12, "-o", path]], check=True, stdout=subprocess.DEVNULL)
    yield "simulated", path


def our_clusters(folder):
    if not (folder / "report.html").exists():
        raise RuntimeError("the page was not written")
    with h5py.File(folder / "result.h5ad") as file:
        return file["obs/pnmf_clusters/codes"][()]


def measure(program, path, folder):
    """Rows of (who, seconds, MB, clusters)."""
    out, labels = folder / "out", folder / "clusters.npy"
    seconds, peak = timed([program, "fit", path, "-o", out, "--overwrite"])
    yield "`pnmf fit`", seconds, peak, our_clusters(out)
    seconds, peak = timed([sys.executable, "-B", CONTESTANT, path, labels])
    yield "PCA, neighbours, Leiden", seconds, peak, np.load(labels)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--largest", type=int, default=100_000, help="simulated cells")
    options = parser.parse_args()
    program = options.program.resolve()
    print("| data | who | wall s | peak MB | clusters | ARI | ratio |\n| --- | --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, path in inputs(program, options.data.resolve(), folder, options.largest):
            table = anndata.read_h5ad(path, backed="r").obs
            ours = None
            for who, seconds, peak, clusters in measure(program, path, folder):
                ours = ours or seconds
                print(f"| {name}, {len(table):,} cells | {who} | {seconds:.1f} | {peak:.0f} | {len(np.unique(clusters))} "
                      f"| {adjusted_rand_score(table['label'], clusters):.2f} | {seconds / ours:.2f} |", flush=True)
            path.unlink()


if __name__ == "__main__":
    main()
