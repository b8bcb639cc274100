#!/usr/bin/python3
"""What approximation costs: approximation.py PROGRAM DATA [SET ...] [--scales 61] [--rank 20] [--neighbors 15]

For each labelled set of DATA with at most 1,000 cells (or those named): the fit with all pairs, all scales and double
precision, run to its certificate, against the same with 15 neighbours, with 16 of the scales, and in float. Where all
scales are too many, --scales keeps some of them in every fit but the one with 16 (61 = 4 x 15 + 1 has these among its
own); where all pairs are too many, --neighbors takes that graph in every fit, and the objective is compared in the
program's own words, between fits of one problem; --rank sets the rank of all. Given are
  objective   what the approximate factors reach in the exact problem (all pairs; the scales both have), relative to
              the exact ones
  H           ||H - H'|| / ||H|| at the finest scale, rows of H' matched to those of H by the Hungarian method
  ARI         of k-means at the finest scale, mean of ten seeds, exact and approximate
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import scipy.io
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

WAYS = {"15 neighbours": ["--neighbors", 15], "16 scales": ["--max-scales", 16], "float": ["--precision", "float"]}
LAMBDA1, LAMBDA3 = 1.0, 0.1  # that between scales is in the result: it depends on how many are kept
ALPHA = 1.5


def call(*words):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True).stdout


def fit(program, source, folder, name, extra):
    out = folder / name.replace(" ", "_")
    summary = json.loads(call(program, "fit", source, "--preset", "paper", "--transform", "log-unit", "--labels", "label", "--save-basis", "--no-report",
                              "--json", "--overwrite", "-o", out, *extra))
    with h5py.File(out / "result.h5ad") as file:
        found = {"smoothness": file["uns/pnmf/penalty"][1], "W": file["uns/pnmf/W"][:].astype(float), "H": file["uns/pnmf/H"][:].astype(float),
                 "epsilon": file["uns/pnmf/epsilon"][:].astype(float)}
    return found, summary, out


def scale_terms(X, distances, W, H, epsilon):
    """Fit, graph and anchor of one scale, all pairs at distance < epsilon."""
    A = np.where(distances < epsilon, np.exp(-(distances**2) / epsilon**ALPHA), 0.0)
    np.fill_diagonal(A, 0.0)
    graph = ((H * A.sum(axis=0)) * H).sum() - ((H @ A) * H).sum()
    return ((X - W @ H) ** 2).sum() + LAMBDA1 * graph + LAMBDA3 * (H**2).sum()


def objective(X, distances, found, at, smoothness):
    """Of the exact problem restricted to the scales `at` (epsilons), with this weight between neighbours."""
    position = {e: t for t, e in enumerate(np.round(found["epsilon"], 12))}
    chosen = [position[e] for e in at]
    total = sum(scale_terms(X, distances, found["W"][t], found["H"][t], found["epsilon"][t]) for t in chosen)
    return total + smoothness * sum(((found["H"][b] - found["H"][a]) ** 2).sum() for a, b in zip(chosen, chosen[1:]))


def difference(H, other):
    likeness = (H / (np.linalg.norm(H, axis=1, keepdims=True) + 1e-300)) @ (other / (np.linalg.norm(other, axis=1, keepdims=True) + 1e-300)).T
    rows, columns = linear_sum_assignment(-likeness)
    return np.linalg.norm(H[rows] - other[columns]) / np.linalg.norm(H)


def compare(program, data, name, folder, common, scales, neighbors):
    folder.mkdir()
    source = data / name
    if not neighbors:
        call(program, "convert", source, folder / "data.mtx", "--transform", "log-unit")
        X = scipy.io.mmread(folder / "data.mtx")
        X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
        distances = cdist(X.T, X.T)

    def ari(out):
        scored = json.loads(call(program, "score", out, "--labels", "label", "--json"))
        return (scored["scales"][0] if "scales" in scored else scored)["ari"]["mean"]

    def options(extra):
        return [*common, *(["--neighbors", neighbors] if neighbors else []), *([] if "--max-scales" in extra or not scales else ["--max-scales", scales]), *extra]

    exact, summary, out = fit(program, source, folder, "exact", options([]))
    exact_ari = ari(out)
    best = summary["objective"]["total"]
    graph = f", {neighbors} neighbours" if neighbors else ""
    print(f"| {name} | exact{graph}: {summary['cells']} cells, {summary['scales']} scales, rank {summary['rank']}, {summary['sweeps']} sweeps | {summary['seconds']:.1f} s | | | {exact_ari:.3f} |", flush=True)
    for way, extra in WAYS.items():
        if neighbors and "--neighbors" in extra:
            continue
        found, summary, out = fit(program, source, folder, way, options(extra))
        if not neighbors:
            shared = [e for e in np.round(found["epsilon"], 12) if e in set(np.round(exact["epsilon"], 12))]
            ours, theirs = (objective(X, distances, one, shared, found["smoothness"]) for one in (exact, found))
            change = f"{theirs / ours - 1:+.1e}"
        else:
            change = f"{summary['objective']['total'] / best - 1:+.1e}" if "--max-scales" not in extra else "not one problem"
        print(f"| | {way}: {summary['sweeps']} sweeps | {summary['seconds']:.1f} s | {change} | "
              f"{difference(exact['H'][0], found['H'][0]):.1e} | {ari(out):.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--scales", type=int)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--neighbors", type=int)
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "experiments"))
    import datasets

    sets = options.sets or [one.name for one in datasets.SETS if one.cells <= 1000 and (options.data / one.name).exists()]
    print("| set | way | time | objective | H | ARI |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in sets:
            compare(options.program.resolve(), options.data, name, pathlib.Path(folder) / name,
                    ["--rank", options.rank] if options.rank else [], options.scales, options.neighbors)


if __name__ == "__main__":
    main()
