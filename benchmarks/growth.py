#!/usr/bin/python3
"""How time and memory grow with cells, scales and genes: growth.py PROGRAM [--largest 131072]

Simulated cells, 5 % of the entries not zero, 15 neighbours, rank 10, float, five sweeps of `stationary` from the same
start at every size: the work of a sweep, not how many it takes. Prints a table for each of the three and the exponent b
of cost = a x^b, fitted over the upper half of the sizes, and for cells over all of them too. Cells are searched for
neighbours in two ways: the screened one looks at all pairs for the spanning tree; the automatic one does so up to 50,000
cells. Stages are timed by the program itself (summary.json).
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SWEEPS = 5


def simulate(program, folder, cells, genes):
    path = folder / f"{cells}x{genes}.h5ad"
    if not path.exists():
        # The counts of a cell grow with the genes, so that the share of entries that are not zero stays.
        command = [program, "simulate", "cells", "--cells", cells, "--genes", genes, "--types", 12, "--depth", 145 * genes / 2000]
        subprocess.run([str(word) for word in [*command, "-o", path]], check=True, stdout=subprocess.DEVNULL)
    return path


def measure(program, folder, cells=2048, genes=2000, scales=16, search="automatic"):
    out = folder / "run"
    command = [program, "fit", simulate(program, folder, cells, genes), "--preset", "paper", "--neighbors", 15, "--search", search, "--max-scales", scales, "--rank", 10,
               "--precision", "float", "--start", "broadcast", "--tolerance", 0, "--max-sweeps", SWEEPS, "--clusters", 12,
               "--no-report", "--overwrite", "-o", out]
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command} failed")
    summary = json.loads((out / "summary.json").read_text())
    if summary["sweeps"] != SWEEPS or not np.isfinite(summary["objective"]["total"]):
        sys.exit(f"{command}: {summary['sweeps']} sweeps, objective {summary['objective']}")
    stages = summary["seconds_of"]
    whole = sum(stages[name] for name in ["preparing", "sweeps", "assessing"])
    return [stages["preparing"], stages["sweeps"] / SWEEPS, stages["assessing"], whole, usage.ru_maxrss / 1024]


def table(what, sizes, run):
    print(f"\n| {what} | preparing, s | a sweep, s | assessing, s | these with five sweeps, s | peak MB |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    rows = []
    for size in sizes:
        rows.append(run(size))
        print(f"| {size:,} | " + " | ".join(f"{value:.3g}" for value in rows[-1]) + " |", flush=True)
    parts = {"exponent": len(sizes) // 2, **({"exponent, all sizes": 0} if what.startswith("cells") else {})}
    for part, first in parts.items():
        exponents = [np.polyfit(np.log(sizes[first:]), np.log([row[i] for row in rows[first:]]), 1)[0] for i in range(len(rows[0]))]
        print(f"| {part} | " + " | ".join(f"**{b:.2f}**" for b in exponents) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--largest", type=int, default=2**17, help="cells")
    parser.add_argument("--largest-pairs", type=int, default=2**15, help="cells, where all pairs are looked at")
    options = parser.parse_args()
    program = options.program.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        table("scales (2,048 cells, 2,000 genes)", [8, 16, 32, 64, 128, 256], lambda T: measure(program, folder, scales=T))
        table("genes (2,048 cells, 16 scales)", [500, 1000, 2000, 4000, 8000, 16000], lambda p: measure(program, folder, genes=p))
        for search, largest in [("automatic", options.largest), ("screened", options.largest_pairs)]:
            sizes = [n for n in (2**e for e in range(10, 21)) if n <= largest]
            table(f"cells (2,000 genes, 16 scales, search {search})", sizes, lambda n: measure(program, folder, cells=n, search=search))


if __name__ == "__main__":
    main()
