#!/usr/bin/env python3
"""Sweeps over ranks beside sweeps over threads, on one machine: the tables of benchmarks/results/mpi.md.

    ranks.py BENCH_DEVICE_SWEEP [--cores 16] [--cells 300000] [--scales 12] [--sweeps 6] [--output FILE]

BENCH_DEVICE_SWEEP is the program of that name from a build with -DPNMF_MPI=ON. Every run checks its objective before it
gives a time. All runs of one size must reach the same objective, to the last digit printed.
"""

import argparse
import os
import pathlib
import platform
import re
import subprocess
import sys

GENES, PERCENT, RANK, EDGES = 2000, 5, 30, 26


def measure(program, ranks, threads, cells, scales, sweeps):
    """Median seconds of a sweep, MB sent by rank 0, percent of time in exchanges, the objective, GB of a rank."""
    command = [program, "cpu", GENES, cells, PERCENT, RANK, scales, EDGES, sweeps]
    if ranks > 1:
        command = ["mpirun", "-n", ranks, "--oversubscribe", "--bind-to", "none", *command]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(["/usr/bin/env", "bash", "-c", 'exec "$0" "$@"', *map(str, command)], env=environment,
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{ranks} ranks of {threads} threads failed:\n{done.stdout}\n{done.stderr}")
    found = {
        "seconds": float(re.search(r"median sweep ([\d.]+)", done.stdout)[1]),
        "megabytes": float(re.search(r"sends ([\d.]+) MB", done.stdout)[1]),
        "percent": float(re.search(r"([\d.]+) % of its time", done.stdout)[1]),
        "objective": re.findall(r"sweep \d+: objective (\S+),", done.stdout)[-1],
        "operations": dict(re.findall(r"^\| (\w[^|]*) \| ([\d.]+) ms \|$", done.stdout, re.M)),
    }
    print(f"{ranks} x {threads}, {cells} cells: {found}", file=sys.stderr, flush=True)
    return found


def row(name, found, first, parts):
    efficiency = first["seconds"] / found["seconds"] / parts
    return (f"| {name} | {found['seconds']:.2f} s | {100 * efficiency:.0f} % | {found['megabytes']:.0f} MB | "
            f"{found['percent']:.0f} % |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--cells", type=int, default=300_000)
    parser.add_argument("--scales", type=int, default=12)
    parser.add_argument("--sweeps", type=int, default=6)
    parser.add_argument("--output", type=pathlib.Path)
    given = parser.parse_args()
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= given.cores]
    head = ["| | a sweep, median | efficiency | sent by rank 0 in a sweep | in exchanges |", "| --- | --- | --- | --- | --- |"]
    lines = [f"{given.cores} of the cores of {platform.processor() or platform.machine()} ({platform.node()}), "
             f"{GENES} genes, {PERCENT} % of the entries, rank {RANK}, {given.scales} scales, {EDGES} list entries a cell in "
             "random order, float. Efficiency: beside one core.", "", f"## Strong scaling: {given.cells:,} cells", "", *head]
    one = measure(given.program, 1, 1, given.cells, given.scales, given.sweeps)
    operations = {"1 core": one["operations"]}
    objectives = {one["objective"]}
    for kind in ("threads", "ranks"):
        for n in counts:
            ranks, threads = (n, 1) if kind == "ranks" else (1, n)
            found = one if n == 1 else measure(given.program, ranks, threads, given.cells, given.scales, given.sweeps)
            objectives.add(found["objective"])
            lines.append(row(f"{n} {kind}", found, one, n))
        operations[f"{n} {kind}"] = found["operations"]
    for ranks in (2, 4):
        if given.cores % ranks == 0 and given.cores > ranks:
            found = measure(given.program, ranks, given.cores // ranks, given.cells, given.scales, given.sweeps)
            objectives.add(found["objective"])
            lines.append(row(f"{ranks} ranks of {given.cores // ranks} threads", found, one, given.cores))
    if len(objectives) != 1:
        sys.exit(f"the objectives differ: {objectives}")
    lines += ["", f"All reach the objective {objectives.pop()} after {given.sweeps} sweeps.", "",
              "| operation | " + " | ".join(operations) + " |", "| --- |" + " --- |" * len(operations)]
    for name in one["operations"]:
        lines.append(f"| {name} | " + " | ".join(f"{found[name]} ms" for found in operations.values()) + " |")
    share = given.cells // max(counts)
    lines += ["", f"## Weak scaling: {share:,} cells for each rank", "", *head]
    first = measure(given.program, 1, 1, share, given.scales, given.sweeps)
    for n in counts:
        found = first if n == 1 else measure(given.program, n, 1, share * n, given.scales, given.sweeps)
        lines.append(row(f"{n} ranks", found, first, 1))
    text = "\n".join(lines) + "\n"
    print(text)
    if given.output:
        given.output.write_text(text)


if __name__ == "__main__":
    main()
