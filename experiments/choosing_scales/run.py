#!/usr/bin/python3
"""The table of docs/choosing-scales.md: run.py PROGRAM FOLDER

FOLDER holds what prepare.py wrote. Each set is fitted (fits are kept in FOLDER/fits and not made again) by the
four baselines with both algorithms and by pnmf with the dense and the sparse graph, and scored by `pnmf score`:
ten k-means seeds, the true number of clusters. Prints mean ARI ± its standard deviation over seeds for each
set, the mean over sets, the mean over the single donors of two of them, and the mean over all.
"""
import json
import pathlib
import subprocess
import sys

SETS = ["Yan", "Goolam", "Dendritic", "Pollen", "img", "PBMC68k", "GSE75748time", "Kang", "PBMC3k", "Baron"]
DONORS = ["Baron.1", "Baron.2"] + [f"Kang.{donor}" for donor in (101, 1015, 1016, 1039, 107, 1244, 1256, 1488)]
COMMON = ["--precision", "float", "--threads", "1"]
FIT = ["--max-scales", "24", "--max-sweeps", "120"]
WEAK = ["--lambda1", "0.2", "--lambda2", "0.2", "--lambda3", "0.02"]
GRAPHS = {"dense": [], "sparse": ["--neighbors", "8"], "sparse, weak": ["--neighbors", "8"] + WEAK}
METHODS = ["nmf", "gnmf", "tnmf", "ktnmf"]


def call(*command):
    return subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True).stdout


def fit(program, data, result, verb, options):
    if not (result / "result.h5ad").exists():
        call(program, *verb, data, *options, *COMMON, "--labels", data.with_suffix(".labels.csv"), "-o", result)


def rows(program, folder, name):
    data, fits = folder / f"{name}.npy", folder / "fits" / name
    for method in METHODS:
        for label, preset in [("", []), (" published", ["--preset", "published"])]:
            result = fits / (method + label.replace(" ", "."))
            fit(program, data, result, ["baseline", method], preset)
            scores = json.loads(call(program, "score", result, "--labels", "label", "--json"))
            yield method + label, scores["ari"]
    for graph, options in GRAPHS.items():
        result = fits / graph.replace(", ", ".")
        fit(program, data, result, ["fit"], ["--preset", "paper", *FIT, *options])
        scores = json.loads(call(program, "score", result, "--labels", "label", "--json"))
        yield f"pnmf {graph}, t = 1", scores["ari"]
        yield f"pnmf {graph}, recommended", scores["recommended"]["ari"]
        yield f"pnmf {graph}, consensus", scores["consensus"]["ari"]
        yield f"pnmf {graph}, hierarchy", scores["hierarchy"]["ari"]
        yield f"pnmf {graph}, best by labels", scores["best"]["ari"]


def mean(aris):
    return sum(ari["mean"] for ari in aris) / len(aris) if aris else float("nan")


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sets, donors = ([name for name in names if (folder / f"{name}.npy").exists()] for names in (SETS, DONORS))
    table = {}
    for name in sets + donors:
        for row, ari in rows(program, folder, name):
            table.setdefault(row, []).append(ari)
        print(name, "done", file=sys.stderr, flush=True)
    print("| |", " | ".join(sets), "| mean | mean of donors | mean of all |")
    print("|", " | ".join(["---"] * (len(sets) + 4)), "|")
    for row, aris in table.items():
        cells = [f"{ari['mean']:.3f} ± {ari['sd']:.3f}" for ari in aris[: len(sets)]]
        means = [mean(aris[: len(sets)]), mean(aris[len(sets) :]), mean(aris)]
        print("|", row, "|", " | ".join(cells), "|", " | ".join(f"{value:.3f}" for value in means), "|", flush=True)


if __name__ == "__main__":
    main()
