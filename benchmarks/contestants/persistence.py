"""H0 deaths of a point cloud: pnmf against SciPy's spanning tree, on the same points, in one run.

    /usr/bin/python3 benchmarks/contestants/persistence.py build/release/pnmf [--cells 10000] [--features 50] [--gudhi]

Deaths are compared first (1e-9 relative); a wrong answer is not timed. Each contestant runs in a process of its own,
which reports its time and its largest resident memory; reading the file is part of pnmf's time and of no other's.
`--gudhi` adds GUDHI's Rips complex of dimension 1 (Debian's python3-gudhi), which keeps all pairs as edges.
Ripser is not timed: asked for dimension 0 alone, Debian's 1.2.1 ends in a failed assertion.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SCIPY = """
import json, resource, sys, time
import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
X = np.load(sys.argv[1])
start = time.perf_counter()
deaths = np.sort(minimum_spanning_tree(cdist(X, X), overwrite=True).data)
seconds = time.perf_counter() - start
np.save(sys.argv[2], deaths)
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""

GUDHI = """
import json, resource, sys, time
import gudhi
import numpy as np
X = np.load(sys.argv[1])
start = time.perf_counter()
tree = gudhi.RipsComplex(points=X).create_simplex_tree(max_dimension=1)
tree.compute_persistence(homology_coeff_field=2, min_persistence=-1)
deaths = tree.persistence_intervals_in_dimension(0)[:, 1]
seconds = time.perf_counter() - start
np.save(sys.argv[2], np.sort(deaths[np.isfinite(deaths)]))
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def run_pnmf(program, points, out):
    start = time.perf_counter()
    child = subprocess.Popen([program, "scales", points, "--points", "--max-scales", "2", "-o", str(out)],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit("pnmf failed")
    deaths = [death for _, death in json.loads(Path(out).read_text())["diagram"] if death is not None]
    return seconds, usage.ru_maxrss / 1024, np.array(deaths)


def run_python(code, points, out):
    result = subprocess.run([sys.executable, "-c", code, points, str(out)], check=True, capture_output=True, text=True)
    seconds, memory = json.loads(result.stdout)
    return seconds, memory, np.load(out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cells", type=int, default=10000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--gudhi", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        points = f"{folder}/points.npy"
        np.save(points, np.random.default_rng(0).normal(size=(options.cells, options.features)))
        contestants = {
            "pnmf scales (reads the file, counts edges too)":
                lambda: run_pnmf(options.program, points, f"{folder}/pnmf.json"),
            "SciPy cdist + minimum_spanning_tree": lambda: run_python(SCIPY, points, f"{folder}/scipy.npy"),
        }
        if options.gudhi:
            contestants["GUDHI, Rips complex of dimension 1"] = lambda: run_python(GUDHI, points, f"{folder}/gudhi.npy")
        first = {name: run() for name, run in contestants.items()}
        deaths = [result[2] for result in first.values()]
        if any(len(deaths[0]) != len(other) or not np.allclose(deaths[0], other, rtol=1e-9, atol=0) for other in deaths[1:]):
            sys.exit("the deaths differ: nothing is timed")
        print(f"{options.cells} cells x {options.features} features, {len(deaths[0])} deaths agree\n")
        print("| contestant | median s | min to max s | MB | ratio |\n| --- | --- | --- | --- | --- |")
        best = None
        for name, run in contestants.items():
            runs = [run() for _ in range(options.repeats)]
            seconds = [r[0] for r in runs]
            median = statistics.median(seconds)
            best = best or median
            print(f"| {name} | {median:.2f} | {min(seconds):.2f} to {max(seconds):.2f} | {max(r[1] for r in runs):.0f} "
                  f"| {median / best:.1f} |")


if __name__ == "__main__":
    main()
