#!/usr/bin/python3
"""Order of cells: paths.py PROGRAM DATA [--seeds 5]

`pnmf paths` after `pnmf fit` with defaults, beside diffusion pseudotime (DPT) as its paper defines it (Haghverdi et al. 2016,
Nat. Methods 13:845, Methods), written here with NumPy. Both get the same root cell, and DPT the 30 principal components that
the fit takes its distances from, or all log-normalised genes; it is tried with several widths of its kernel, of all pairs and
of the nearest cells alone, and the best of all, chosen with the truth, is shown beside the width 20.

    time course   GSE75748time (758 cells, 100 genes): Spearman's rank correlation of time with the hours of the experiment;
                  the root is the central cell of hour 0
    branches      `pnmf simulate branches` (1,000 cells, 1,000 genes, 3 ends), several seeds: Spearman's correlation with the
                  known time; and the share of the cells behind a fork whose most probable end can be reached from their branch
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import anndata
import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

WIDTHS = (5, 10, 20, 40)
WIDTH = 20


def diffusion_pseudotime(points, root, width, nearest):
    """dpt(root, x) = |M(root, .) - M(x, .)| with M = sum over t of (T - psi_0 psi_0')^t, T the locally scaled kernel.

    The width of the kernel at a cell is the distance to its `width`-th neighbour; the diagonal is 0; the density is divided
    out once (alpha = 1); T is symmetric by D^-1/2 W D^-1/2. All eigenvectors are used. `nearest`: the kernel is 0 but for
    the `width` nearest cells, as programs for many cells have it. NaN where the graph falls apart.
    """
    D = cdist(points, points)
    sigma = np.sort(D, axis=1)[:, width]
    both = sigma[:, None] ** 2 + sigma[None] ** 2
    K = np.sqrt(2 * np.outer(sigma, sigma) / both) * np.exp(-(D**2) / both)
    np.fill_diagonal(K, 0.0)
    if nearest:
        near = D <= sigma[:, None]
        K = np.where(near | near.T, K, 0.0)
        if connected_components(K > 0)[0] > 1:
            return np.full(len(K), np.nan)
    density = K.sum(axis=1)
    W = K / np.outer(density, density)
    degree = W.sum(axis=1)
    values, vectors = np.linalg.eigh(W / np.sqrt(np.outer(degree, degree)))
    values, vectors = values[:-1], vectors[:, :-1]
    return np.sqrt((((values / (1 - values)) * (vectors - vectors[root])) ** 2).sum(axis=1))


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr[-800:])
    return done.stdout


def ours(program, out, root, groups=()):
    """Times and probabilities of the cells, the ends, the root's position."""
    table = out / "paths.tsv"
    said = json.loads(run(program, "paths", out, "--root", root, *groups, "-o", table, "--json"))
    rows = [line.split("\t") for line in table.read_text().splitlines()]
    cells = [row[0] for row in rows[1:]]
    return np.array([float(row[1]) for row in rows[1:]]), np.array([[float(x) for x in row[2:]] for row in rows[1:]]), rows[0][2:], cells.index(said["root"])


def log_genes(adata):
    X = adata.X.toarray() if hasattr(adata.X, "toarray") else np.asarray(adata.X)
    return np.log1p(X / X.sum(axis=1, keepdims=True) * 1e4)


def contestants(stored, raw, root):
    """(points and kernel, width, time) of diffusion pseudotime."""
    for space, points in (("30 components", np.asarray(stored.uns["pnmf"]["space"]["coordinates"])), ("genes", log_genes(raw))):
        for width in WIDTHS:
            yield f"{space}, all pairs", width, diffusion_pseudotime(points, root, width, False)
            yield f"{space}, nearest", width, diffusion_pseudotime(points, root, width, True)


def dpt_rows(stored, raw, root, truth):
    found = [(spearmanr(time, truth)[0], space, width) for space, width, time in contestants(stored, raw, root) if np.isfinite(time).all()]
    usual = [next((row[0] for row in found if row[1:] == (f"30 components, {kernel}", WIDTH)), np.nan) for kernel in ("all pairs", "nearest")]
    return *usual, max(found)


def ends_right(reached, probability, ends):
    """Share of the cells behind a fork, which lead to fewer ends, whose most probable end is one that they lead to.

    `reached`: the ends of each cell's branch, as "1+3"; `ends`: those of the columns.
    """
    behind = reached != max(reached, key=len)
    likely = np.array(ends)[probability.argmax(axis=1)]
    return np.mean([end in text.split("+") for end, text in zip(likely[behind], reached[behind])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    program = options.program.resolve()
    print("| data | pnmf paths | DPT, all pairs | DPT, nearest | DPT, best of all tried | ends |\n| --- | --- | --- | --- | --- | --- |", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        source = options.data / "GSE75748time_TF100"
        if source.exists():
            run(program, "convert", source, "--labels", "label", folder / "hours.h5ad")
            run(program, "fit", folder / "hours.h5ad", "--labels", "label", "--no-report", "-o", folder / "hours")
            raw, stored = anndata.read_h5ad(folder / "hours.h5ad"), anndata.read_h5ad(folder / "hours" / "result.h5ad")
            hours = np.array([float(str(label).rstrip("h")) for label in stored.obs["label"]])
            time, _, _, root = ours(program, folder / "hours", "00h", ("--groups", "label", "--ends", "96h"))
            pairs, nearest, best = dpt_rows(stored, raw, root, hours)
            print(f"| GSE75748time, hours | {spearmanr(time, hours)[0]:.3f} | {pairs:.3f} | {nearest:.3f} | {best[0]:.3f} ({best[1]}, width {best[2]}) | - |", flush=True)
        for seed in range(options.seeds):
            path = folder / f"branches{seed}.h5ad"
            run(program, "simulate", "branches", "--seed", seed, "-o", path)
            run(program, "fit", path, "--labels", "label", "--no-report", "-o", folder / f"b{seed}")
            raw, stored = anndata.read_h5ad(path), anndata.read_h5ad(folder / f"b{seed}" / "result.h5ad")
            truth, reached = raw.obs["time"].to_numpy(), raw.obs["ends"].astype(str).to_numpy()
            start = raw.obs_names[np.argmin(truth)]
            leaves = sorted({text for text in reached if "+" not in text})
            time, probability, ends, root = ours(program, folder / f"b{seed}", start, ("--groups", "ends", "--ends", ",".join(leaves)))
            pairs, nearest, best = dpt_rows(stored, raw, root, truth)
            right = ends_right(reached, probability, ends)
            print(f"| branches, seed {seed} | {spearmanr(time, truth)[0]:.3f} | {pairs:.3f} | {nearest:.3f} | {best[0]:.3f} ({best[1]}, width {best[2]}) | {100 * right:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
