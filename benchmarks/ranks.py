#!/usr/bin/env python3
"""Sweeps over ranks beside sweeps over threads, on one machine: the tables of benchmarks/results/mpi.md.

    ranks.py BENCH_DEVICE_SWEEP [--cores 16] [--cells 300000] [--large 1000000] [--orders near random] [--scales 12]
             [--sweeps 6] [--output FILE]

BENCH_DEVICE_SWEEP is the program of that name from a build with -DPNMF_MPI=ON. Every run checks its objective before it
gives a time. All runs of one size must reach the same objective, to the last digit printed.
"""

import argparse
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys

GENES, PERCENT, RANK, EDGES = 2000, 5, 30, 26


HEAD = ["| | a sweep, median | efficiency | sent by rank 0 in a sweep | in exchanges | memory of a rank |",
        "| --- | --- | --- | --- | --- | --- |"]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Bench:
    def __init__(self, given):
        self.given = given

    def command(self, cells, order, parts):
        return [str(part) for part in (self.given.program, "cpu", GENES, cells, PERCENT, RANK, self.given.scales, EDGES,
                                       self.given.sweeps, order, parts)]

    def measure(self, ranks, threads, cells, order, parts="sweeps"):
        """A median sweep in seconds and what else the program says of a run."""
        command = self.command(cells, order, parts)
        if ranks > 1:
            command = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", *command]
        done = subprocess.run(command, env={**ENVIRONMENT, "OMP_NUM_THREADS": str(threads)}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{ranks} ranks of {threads} threads failed:\n{done.stdout}\n{done.stderr}")
        found = self.figures(done.stdout)
        print(f"{order}, {ranks} x {threads}, {cells} cells: {found}", file=sys.stderr, flush=True)
        return found

    @staticmethod
    def figures(text):
        return {
            "seconds": float(re.search(r"median sweep ([\d.]+)", text)[1]),
            "megabytes": float(re.search(r"sends ([\d.]+) MB", text)[1]),
            "percent": float(re.search(r"([\d.]+) % of its time", text)[1]),
            "memory": float(re.search(r"held ([\d.]+) MB", text)[1]),
            "objective": re.findall(r"sweep \d+: objective (\S+),", text)[-1],
            "operations": dict(re.findall(r"^\| (\w[^|]*) \| ([\d.]+) ms \|$", text, re.M)),
        }

    def ceiling(self, cells, order):
        """As many programs of one thread as there are cores, at once and alone: what the machine gives to work that
        needs no exchange at all."""
        run = lambda: subprocess.Popen(self.command(cells, order, "sweeps"), env={**ENVIRONMENT, "OMP_NUM_THREADS": "1"},
                                       stdout=subprocess.PIPE, text=True)
        alone = self.figures(run().communicate()[0])["seconds"]
        together = [started.communicate()[0] for started in [run() for _ in range(self.given.cores)]]
        slowest = statistics.median(self.figures(text)["seconds"] for text in together)
        print(f"{order}: alone {alone} s, {self.given.cores} at once {slowest} s", file=sys.stderr, flush=True)
        return alone / slowest

    def strong(self, cells, order):
        counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= self.given.cores]
        cores = max(counts)
        one = self.measure(1, 1, cells, order, "all")
        every = {"1 core": one}
        for kind in ("threads", "ranks"):
            for n in counts[1:]:
                ranks, threads = (n, 1) if kind == "ranks" else (1, n)
                every[f"{n} {kind}"] = self.measure(ranks, threads, cells, order, "all" if n == cores else "sweeps")
        for ranks in (2, 4):
            if cores > ranks:
                every[f"{ranks} ranks of {cores // ranks} threads"] = self.measure(ranks, cores // ranks, cells, order)
        objectives = {found["objective"] for found in every.values()}
        if len(objectives) != 1:
            sys.exit(f"the objectives differ: {objectives}")
        ceiling = self.ceiling(cells // cores, order)
        lines = ["", f"## Strong scaling, cells in {order} order: {cells:,} cells", "", *HEAD]
        for name, found in every.items():
            parts = 1 if name == "1 core" else cores if " of " in name else int(name.split()[0])
            lines.append(row(name, found, one["seconds"] / found["seconds"] / parts))
        lines += ["", f"All reach the objective {objectives.pop()} after {self.given.sweeps} sweeps. {cores} programs of one "
                  f"thread at once, each with {cells // cores:,} cells and nothing to exchange, run at {100 * ceiling:.0f} % of "
                  "the speed of one alone: no more can be had from this machine.", ""]
        with_operations = {name: found["operations"] for name, found in every.items() if found["operations"]}
        lines += ["| operation | " + " | ".join(with_operations) + " |", "| --- |" + " --- |" * len(with_operations)]
        for name in one["operations"]:
            lines.append(f"| {name} | " + " | ".join(f"{found[name]} ms" for found in with_operations.values()) + " |")
        return lines

    def weak(self, share, order):
        counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= self.given.cores]
        lines = ["", f"## Weak scaling, cells in {order} order: {share:,} cells for each rank", "", *HEAD]
        first = self.measure(1, 1, share, order)
        for n in counts:
            found = first if n == 1 else self.measure(n, 1, share * n, order)
            lines.append(row(f"{n} ranks", found, first["seconds"] / found["seconds"]))
        return lines

    def large(self, cells, order):
        lines = ["", f"## {cells:,} cells in {order} order", "", *HEAD]
        threads = self.measure(1, self.given.cores, cells, order)
        ranks = self.measure(self.given.cores, 1, cells, order)
        lines.append(row(f"{self.given.cores} threads", threads, None))
        lines.append(row(f"{self.given.cores} ranks", ranks, None))
        return lines


def row(name, found, efficiency):
    share = "–" if efficiency is None else f"{100 * efficiency:.0f} %"
    return (f"| {name} | {found['seconds']:.3f} s | {share} | {found['megabytes']:.0f} MB | {found['percent']:.0f} % | "
            f"{found['memory']:.0f} MB |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--cells", type=int, default=300_000)
    parser.add_argument("--large", type=int, default=0, help="cells of one more run on all cores alone")
    parser.add_argument("--orders", nargs="+", default=["sorted", "near", "random"], choices=["near", "random", "sorted", "unsorted"])
    parser.add_argument("--scales", type=int, default=12)
    parser.add_argument("--sweeps", type=int, default=6)
    parser.add_argument("--output", type=pathlib.Path)
    given = parser.parse_args()
    bench = Bench(given)
    lines = [f"{given.cores} of the cores of {platform.processor() or platform.machine()} ({platform.node()}), "
             f"{GENES} genes, {PERCENT} % of the entries, rank {RANK}, {given.scales} scales, {EDGES} list entries a cell, "
             "float. Efficiency: beside one core."]

    def add(more):  # what is measured is kept, whatever ends the program
        lines.extend(more)
        if given.output:
            given.output.write_text("\n".join(lines) + "\n")

    for order in given.orders:
        add(bench.strong(given.cells, order))
    add(bench.weak(given.cells // given.cores, given.orders[0]))
    if given.large:
        add(bench.large(given.large, given.orders[0]))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
