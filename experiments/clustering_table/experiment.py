"""Every method on every labelled set: k-means on the embedding, mean ± sd over ten seeds."""

import csv

import datasets
import numpy as np
from datasets import BASELINES, METRICS, NAMES, PAPER
from lab import DIFFERS, MEASURED, NOT_RUN, REPRODUCED, plt

CLAIM = "clustering of single cells"


def rows_of(lab, one):
    """(method, scores, command) of one set, in the order of the paper's columns."""
    rows = []
    for method in BASELINES:
        fitted = datasets.baseline(lab, one, method)
        rows.append((NAMES[method], datasets.four(datasets.score(lab, fitted)), fitted.command))
    algorithms = ["reference", "stationary"] if one.reference else ["stationary"]
    for algorithm in algorithms:
        fitted = datasets.fit(lab, one, algorithm)
        scores = datasets.score(lab, fitted)
        recommended = fitted.summary["recommended_scale"]
        rows.append((f"pNMF {algorithm}, t = 1", datasets.four(scores), fitted.command))
        if recommended != 1:
            rows.append((f"pNMF {algorithm}, recommended t = {recommended}",
                         datasets.four(scores["scales"][recommended - 1]), fitted.command))
        rows.append((f"pNMF-best {algorithm}, t = {scores['best']['scale']} chosen with the labels",
                     datasets.four(scores["best"]), fitted.command))
    return rows


PAPER_COLUMN = {"NMF": "nmf", "GNMF": "gnmf", "TNMF": "tnmf", "k-TNMF": "ktnmf", "pNMF reference, t = 1": "pnmf"}


def run(lab):
    sets, left = datasets.present(lab)
    table, best_graph, finest = [], [], []
    for one in sets:
        rows = rows_of(lab, one)
        for method, scores, command in rows:
            column = PAPER_COLUMN.get(method, "best" if method.startswith("pNMF-best reference") else None)
            paper = PAPER.get(one.paper, {}).get(column)
            table.append([one.name, method] + [f"{m:.3f} ± {s:.3f}" for m, s in scores])
            lab.claim(f"{one.name}, {method}: ARI, NMI, purity, accuracy",
                      " ".join(f"{v:.3f}" for v in paper) if paper else "",
                      " ".join(f"{m:.3f}±{s:.3f}" for m, s in scores), MEASURED, command,
                      note=f"partial copy of the paper's data: {one.partial}" if paper else "")
        by_name = {method: scores[0][0] for method, scores, _ in rows}
        baseline = max(by_name[NAMES[m]] for m in BASELINES)
        best_graph.append(baseline)
        finest.append(by_name["pNMF stationary, t = 1"])
        if one.reference:
            ours = by_name["pNMF reference, t = 1"]
            lab.claim(f"{one.name}: pNMF (published protocol, t = 1) has a higher ARI than every baseline",
                      "higher", f"{ours:.3f} against {baseline:.3f} of the best baseline",
                      REPRODUCED if ours > baseline else DIFFERS, "", note=f"partial copy: {one.partial}")
    lab.claim("mean ARI over the sets: pNMF stationary at t = 1 against the best baseline of each set", "competitive or superior",
              f"{np.mean(finest):.3f} against {np.mean(best_graph):.3f} (best of four, chosen with the labels), {len(sets)} sets",
              REPRODUCED if np.mean(finest) >= np.mean(best_graph) else DIFFERS, "")
    for name, why in left:
        lab.claim(f"{name}: all methods", "", "", NOT_RUN, "", note=why)
    published(lab)
    with open(lab.folder / "table.csv", "w", newline="") as file:
        csv.writer(file).writerows([["data", "method", *METRICS], *table])
    draw(lab, table)


def published(lab):
    """The embeddings that the authors published, scored here: does the table of the paper come out?"""
    folder = lab.data / "published_Dendritic_batch1"
    if not folder.exists():
        lab.claim("published embeddings of Dendritic_batch1", "", "", NOT_RUN, "", note="not in the folder of the data sets")
        return
    for method in BASELINES:
        name = "kTNMF" if method == "ktnmf" else method.upper()
        arguments = [folder / f"{name}.mat", "--cells", "columns", "--labels", f"{folder / 'labels.csv'}:x"]
        wanted = PAPER["Dendritic_batch1"][method]
        seeds = [lab.score(arguments[0], *arguments[1:], "--seeds", 1, "--seed", seed) for seed in range(10)]
        ten = datasets.four(lab.score(arguments[0], *arguments[1:]))
        found = [all(abs(s[m]["mean"] - w) < 6e-4 for m, w in zip(METRICS, wanted)) for s in seeds]
        lab.claim(f"Dendritic_batch1, the published embedding of {NAMES[method]}: does a seed of k-means give the paper's row",
                  " ".join(f"{v:.3f}" for v in wanted),
                  (f"yes, {sum(found)} of 10 seeds" if any(found) else "no seed of 10") + "; mean of ten " +
                  " ".join(f"{m:.3f}±{s:.3f}" for m, s in ten), REPRODUCED if any(found) else DIFFERS,
                  note="one seed is not enough to rank methods")


def draw(lab, table):
    names = list(dict.fromkeys(row[0] for row in table))
    figure, axes = plt.subplots(len(names), 1, figsize=(10, 2.6 * len(names)), squeeze=False)
    for panel, name in zip(axes[:, 0], names):
        rows = [row for row in table if row[0] == name]
        for k, metric in enumerate(METRICS):
            means = [float(row[2 + k].split()[0]) for row in rows]
            deviations = [float(row[2 + k].split()[2]) for row in rows]
            panel.bar(np.arange(len(rows)) + 0.2 * k, means, 0.2, yerr=deviations, label=metric, error_kw={"lw": 0.7})
        panel.set_xticks(np.arange(len(rows)) + 0.3, [row[1].split(" chosen")[0].replace(", ", "\n") for row in rows], fontsize=6)
        panel.set_title(name, fontsize=9), panel.set_ylim(0, 1)
    axes[0, 0].legend(fontsize=7, ncol=4, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    figure.tight_layout()
    lab.figure(figure, "table.png")
