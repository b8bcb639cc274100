#!/usr/bin/python3
"""Writes the oracle's results that the tests of `--algorithm reference` compare with.

    make_fixtures.py ORACLE PROGRAM [DENDRITIC_FOLDER]

ORACLE is reference_protocol.py, a plain NumPy run of the published protocol; PROGRAM is pnmf, which
simulates the circles; DENDRITIC_FOLDER holds Dendritic_batch1_HVG859 (lognorm.mtx.gz). Written beside this
script: circles_oracle.json and, when the folder is given, dendritic_oracle.json. Each holds the command
line of the oracle, the objective after each sweep (start first), the inner steps of each sweep and scale,
and embeddings, column by column, of some scales (positions from 0) and of every so many-th cell.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io

HERE = pathlib.Path(__file__).parent
CIRCLES = ["--points", "6", "--noise-dimensions", "17", "--seed", "3"]


def run_oracle(oracle, X, options, folder):
    np.savez(folder / "X.npz", X=X)
    command = [sys.executable, oracle, folder / "X.npz", folder / "result.npz", *options]
    subprocess.run(command, check=True)
    return np.load(folder / "result.npz")


def write(name, source, options, X, result, scales, cell_step):
    fixture = {
        "made by": "make_fixtures.py",
        "data": source,
        "oracle": "reference_protocol.py X.npz result.npz " + " ".join(options),
        "sum of X": float(X.sum()),
        "objective": result["objective"].tolist(),
        "inner steps": result["inner"].tolist(),
        "cell step": cell_step,
        "H": {str(t): [float(f"{v:.12g}") for v in result["H"][t].T[::cell_step].ravel()] for t in scales},
    }
    (HERE / name).write_text(json.dumps(fixture, separators=(",", ": "), indent=None) + "\n")


def main():
    oracle, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        simulate = ["simulate", "circles", *CIRCLES]
        subprocess.run([program, *simulate, "-o", folder / "circles.csv"], check=True)
        table = np.genfromtxt(folder / "circles.csv", delimiter=",", dtype=str)
        X = table[1:, 1:].astype(float)
        options = "--rank 2 --l1 100 --l2 100 --l3 1".split()
        result = run_oracle(oracle, X, options, folder)
        write("circles_oracle.json", "pnmf " + " ".join(simulate), options, X, result,
              range(len(result["H"])), 1)
        if len(sys.argv) > 3:
            X = scipy.io.mmread(pathlib.Path(sys.argv[3]) / "lognorm.mtx.gz").toarray().astype(float)
            X = X[X.sum(axis=1) > 0]
            X /= np.linalg.norm(X, axis=0)
            options = "--rank 17 --l1 1 --l2 1 --l3 1 --sweeps 2".split()
            result = run_oracle(oracle, X, options, folder)
            write("dendritic_oracle.json", "lognorm.mtx.gz, genes without counts dropped, unit columns", options, X,
                  result, [0, 99, 287], 4)


if __name__ == "__main__":
    main()
