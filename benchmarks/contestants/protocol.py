#!/usr/bin/python3
"""The program against a plain NumPy implementation of the published protocol: protocol.py PROGRAM ORACLE WORK [DATA]

ORACLE is reference_protocol.py. WORK is one of
  reference   one sweep of the published protocol and its start on simulated cells, 15,410 genes x 384, rank 20; both
              take the same steps to the same numbers, so the ratio of the times is that of a step
  stationary  the objective where the oracle ends on DATA (a folder with matrix.mtx.gz), same weights: all of the
              oracle's run against all of `pnmf fit`, reading, persistence and start included
Numbers are compared before a time is printed: embeddings and objective with `reference`; with `stationary` the
objective, computed here by the oracle's function from the W and H that the program wrote.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np
import scipy.io


def oracle_of(path):
    spec = importlib.util.spec_from_file_location("oracle", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def timed(command):
    """(wall seconds, peak memory in bytes) of a command."""
    began = time.perf_counter()
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return time.perf_counter() - began, usage.ru_maxrss * 1024


def simulated(program, folder, genes, cells):
    subprocess.run([program, "simulate", "cells", "--cells", str(cells), "--genes", str(genes), "--types", "5",
                    "-o", folder / "cells.h5ad"], check=True, stdout=subprocess.DEVNULL)


def unit_logarithms(program, source, folder):
    """The matrix of a data set as the program takes it, features x cells, and a file with these numbers."""
    subprocess.run([program, "convert", source, folder / "data.mtx", "--transform", "log-unit"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder / "data.mtx"


def contest_reference(program, oracle, folder, options):
    simulated(program, folder, options.genes, options.cells)
    data = unit_logarithms(program, folder / "cells.h5ad", folder)
    X = scipy.io.mmread(data).toarray()
    out = folder / "run"
    command = [program, "fit", data, "--preset", "paper", "--transform", "none", "--algorithm", "reference", "--rank", options.rank, "--max-sweeps", 1,
               "--lambda3", 1, "--clusters", 1, "--no-report", "--overwrite", "-o", out]
    ours, peak = timed(command)
    began = time.perf_counter()
    theirs = oracle.run(X, options.rank, 1.0, 1.0, 1.0, 1.5, 1, 1e-3)
    slow = time.perf_counter() - began
    with h5py.File(out / "result.h5ad") as file:
        H = file["uns/pnmf/H"][:]
    difference = np.abs(H - theirs["H"]).max() / np.abs(theirs["H"]).max()
    if difference > 1e-8:
        sys.exit(f"embeddings differ by {difference:.1e} of the largest entry: no time is given")
    scales, allowed = len(theirs["eps"]), len(theirs["eps"]) * X.shape[0] * options.rank * 8 + 300e6
    print(f"| {X.shape[0]:,} x {X.shape[1]:,}, {np.mean(X > 0):.1%} not zero, rank {options.rank} | {scales} | {theirs['inner'].sum():,} | {difference:.1e} | "
          f"{slow:.1f} s | {ours:.1f} s | **{slow / ours:.1f}** | {peak / 1e6:.0f} MB (at most {allowed / 1e6:.0f}) |")


# From the roughest to the default; what ends above the oracle is not shown.
WAYS = {"nested start alone": ["--tolerance", 1, "--max-sweeps", 0],
        "tolerance 0.1": ["--tolerance", 0.1],
        "to the certificate": []}


def contest_stationary(program, oracle, folder, options):
    data = unit_logarithms(program, options.data, folder)
    X = scipy.io.mmread(data).toarray()
    rank = int(np.ceil(np.sqrt(X.shape[1])))
    began = time.perf_counter()
    theirs = oracle.run(X, rank, 1.0, 1.0, 1.0, 1.5, 10, 1e-3)
    slow = time.perf_counter() - began
    target = theirs["objective"][-1]
    distances = oracle.pairwise_distances(X)
    graphs = [(A, A.sum(axis=0)) for A in (oracle.adjacency(distances, e, 1.5) for e in theirs["eps"])]

    def run(way, precision):
        out = folder / "run"
        command = [program, "fit", data, "--preset", "paper", "--transform", "none", "--rank", rank, "--lambda3", 1, *WAYS[way],
                   "--precision", precision, "--clusters", 1, "--no-report", "--overwrite", "-o", out]
        timed([*command, "--save-basis"])  # to judge W too; the run that is timed writes what the program writes by itself
        with h5py.File(out / "result.h5ad") as file:
            W, H = file["uns/pnmf/W"][:].astype(float), file["uns/pnmf/H"][:].astype(float)
        W = W if W.shape[1:] == (X.shape[0], rank) else W.transpose(0, 2, 1)
        return command, oracle.objective(X, W, H, graphs, 1.0, 1.0, 1.0)

    def row(way, precision, command, reached):
        times = sorted(timed(command)[0] for _ in range(5))
        print(f"| {way}, {precision} | {reached:.2f} | {times[2]:.2f} s ({times[0]:.2f} to {times[-1]:.2f}) | **{slow / times[2]:.0f}** |",
              flush=True)

    print(f"{pathlib.Path(options.data).name}, rank {rank}, {len(graphs)} scales: the oracle ends at {target:.2f} after {slow:.1f} s\n")
    print("| pnmf | objective | total | ratio |")
    print("| --- | --- | --- | --- |", flush=True)
    for precision in ["double", "float"]:
        for way in WAYS:
            command, reached = run(way, precision)
            if reached <= target:
                row(way, precision, command, reached)
            elif way == "to the certificate":
                sys.exit("the objective was not reached: no time is given")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("oracle")
    parser.add_argument("work", choices=["reference", "stationary"])
    parser.add_argument("data", nargs="?")
    parser.add_argument("--genes", type=int, default=15410)
    parser.add_argument("--cells", type=int, default=384)
    parser.add_argument("--rank", type=int, default=20)
    options = parser.parse_args()
    oracle = oracle_of(options.oracle)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if options.work == "reference":
            print("| data | scales | steps of the sweep | largest difference | oracle | pnmf | ratio | peak memory |")
            print("| --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
            contest_reference(options.program.resolve(), oracle, folder, options)
        else:
            contest_stationary(options.program.resolve(), oracle, folder, options)


if __name__ == "__main__":
    main()
