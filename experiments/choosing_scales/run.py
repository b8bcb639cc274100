#!/usr/bin/python3
"""The table of docs/choosing-scales.md: run.py PROGRAM FOLDER

FOLDER holds what prepare.py wrote. Each set is fitted (fits are kept in FOLDER/fits and not made again) by the
four baselines with both algorithms and by pnmf with the dense and the sparse graph, and scored by `pnmf score`:
ten k-means seeds, the true number of clusters. Prints mean ARI ± its standard deviation over seeds for each
set, and the mean over sets.
"""
import json
import pathlib
import subprocess
import sys

SETS = ["Yan", "Goolam", "Dendritic", "Pollen", "img", "PBMC68k", "GSE75748time", "Kang", "PBMC3k", "Baron"]
COMMON = ["--precision", "float", "--threads", "1"]
FIT = ["--max-scales", "24", "--max-sweeps", "120"]
GRAPHS = {"dense": [], "sparse": ["--neighbors", "8"]}
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
        fit(program, data, fits / graph, ["fit"], FIT + options)
        scores = json.loads(call(program, "score", fits / graph, "--labels", "label", "--json"))
        yield f"pnmf {graph}, t = 1", scores["ari"]
        yield f"pnmf {graph}, recommended", scores["recommended"]["ari"]
        yield f"pnmf {graph}, consensus", scores["consensus"]["ari"]
        yield f"pnmf {graph}, hierarchy", scores["hierarchy"]["ari"]
        yield f"pnmf {graph}, best by labels", scores["best"]["ari"]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    sets = [name for name in SETS if (folder / f"{name}.npy").exists()]
    table = {}
    for name in sets:
        for row, ari in rows(program, folder, name):
            table.setdefault(row, []).append(ari)
        print(name, "done", file=sys.stderr, flush=True)
    print("| |", " | ".join(sets), "| mean |")
    print("|", " | ".join(["---"] * (len(sets) + 2)), "|")
    for row, aris in table.items():
        cells = [f"{a['mean']:.3f} ± {a['sd']:.3f}" for a in aris]
        print("|", row, "|", " | ".join(cells), f"| {sum(a['mean'] for a in aris) / len(aris):.3f} |", flush=True)


if __name__ == "__main__":
    main()
