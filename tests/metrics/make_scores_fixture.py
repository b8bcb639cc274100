"""Writes scores_fixture.json beside this file: what scikit-learn and SciPy say about random and degenerate
labellings, silhouettes of random points, and k-means of random points, seed by seed.

    /usr/bin/python3 tests/metrics/make_scores_fixture.py

With the folder of the published Dendritic_batch1 embeddings as argument it also adds k-means of those, k = 4, best of
10 starts, seeds 0 to 9 (numbers only; the embeddings themselves are not kept here).
"""

import csv
import json
import pathlib
import sys

import numpy as np
import scipy
import scipy.io
import sklearn
from scipy.optimize import linear_sum_assignment
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.metrics.cluster import contingency_matrix


def scores(labels, clusters):
    table = contingency_matrix(labels, clusters)
    rows, cols = linear_sum_assignment(-table)
    return {
        "ari": metrics.adjusted_rand_score(labels, clusters),
        "nmi": metrics.normalized_mutual_info_score(labels, clusters),
        "ami": metrics.adjusted_mutual_info_score(labels, clusters),
        "purity": table.max(axis=0).sum() / table.sum(),
        "accuracy": table[rows, cols].sum() / table.sum(),
    }


def tables(random):
    yield "one cell", [0], [0]
    yield "one cluster each", [0] * 7, [3] * 7
    yield "one label, several clusters", [0] * 9, [0, 0, 1, 1, 2, 2, 2, 3, 3]
    yield "several labels, one cluster", [0, 0, 1, 1, 2, 2, 2, 3, 3], [5] * 9
    yield "all singletons against one cluster", list(range(8)), [0] * 8
    yield "all singletons against groups", list(range(8)), [0, 0, 0, 1, 1, 1, 2, 2]
    yield "perfect, all singletons", list(range(8)), [3, 1, 0, 2, 7, 6, 5, 4]
    yield "perfect", [0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 2]
    yield "perfect with other names", [0, 0, 1, 1, 1, 2], [7, 7, 4, 4, 4, 9]
    yield "worse than chance", [0, 0, 1, 1], [0, 1, 0, 1]
    yield "two cells", [0, 1], [0, 0]
    for n, a, b in [(10, 2, 3), (30, 5, 5), (60, 4, 9), (100, 12, 3), (150, 6, 6), (150, 40, 30)]:
        for mixed in (0.1, 0.5, 1.0):
            labels = random.integers(a, size=n)
            clusters = np.where(random.random(n) < mixed, random.integers(b, size=n), labels % b)
            yield f"{n} cells, {a} labels, {b} clusters, {mixed} mixed", labels.tolist(), clusters.tolist()


def kmeans_runs(points, clusters, starts, seeds):
    runs = []
    for seed in seeds:
        fit = KMeans(clusters, n_init=starts, random_state=seed).fit(points)
        runs.append({"seed": seed, "labels": fit.labels_.tolist(), "inertia": fit.inertia_})
    return runs


def published(folder):
    with open(folder / "labels.csv", newline="") as file:
        labels = [row[1] for row in csv.reader(file)][1:]
    for name in ("NMF", "GNMF", "TNMF", "kTNMF"):
        cells = scipy.io.loadmat(folder / f"{name}.mat")[name].T
        runs = kmeans_runs(cells, 4, 10, range(10))
        rows = [scores(labels, run["labels"]) for run in runs]
        yield name, {
            "inertia": [run["inertia"] for run in runs],
            **{score: float(np.mean([row[score] for row in rows])) for score in ("ari", "nmi", "purity", "accuracy")},
        }


def main():
    path = pathlib.Path(__file__).with_name("scores_fixture.json")
    random = np.random.default_rng(0)
    result = {"made_by": f"scikit-learn {sklearn.__version__}, scipy {scipy.__version__}, numpy {np.__version__}"}
    result["tables"] = [
        {"name": name, "labels": labels, "clusters": clusters, **scores(labels, clusters)}
        for name, labels, clusters in tables(random)
    ]
    points = np.concatenate([random.normal(size=(20, 3)) + centre for centre in ([0, 0, 0], [3, 0, 1], [0, 4, 2])])
    points = np.round(points, 3)
    groups = KMeans(4, n_init=1, random_state=1).fit(points).labels_
    result["points"] = points.tolist()
    result["silhouette"] = {"clusters": groups.tolist(), "values": metrics.silhouette_samples(points, groups).tolist()}
    result["kmeans"] = [
        {"clusters": k, "starts": starts, "runs": kmeans_runs(points, k, starts, (0, 1, 2, 12345))}
        for k, starts in [(1, 1), (3, 1), (4, 10), (9, 3), (60, 1)]
    ]
    if len(sys.argv) > 1:
        result["published"] = dict(published(pathlib.Path(sys.argv[1])))
    elif path.exists():
        result["published"] = json.loads(path.read_text()).get("published", {})
    # One entry a line: short enough to read a difference, and the arrays stay on one line.
    lines = []
    for key, value in result.items():
        if isinstance(value, list):
            lines.append(f"{json.dumps(key)}: [\n" + ",\n".join(json.dumps(item) for item in value) + "\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
