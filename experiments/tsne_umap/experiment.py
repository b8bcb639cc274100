"""t-SNE and UMAP of the data and of each method's embedding, and how well the maps separate the types."""

import os
import pathlib
import subprocess
import sys
import warnings

import datasets
import numpy as np
from datasets import BASELINES, NAMES
from lab import DIFFERS, MEASURED, NOT_RUN, REPRODUCED, plt

CLAIM = "t-SNE and UMAP of the embeddings"
HERE = pathlib.Path(__file__).resolve().parent


def columns(lab, one):
    """[(name, cells × features)] of the data and of every method's embedding, and the labels."""
    converted = lab.out / "runs" / f"{one.name}.h5ad"
    if not converted.exists():
        lab.run("convert", lab.dataset(one.name), "--transform", "log-unit", converted)
    import anndata
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = anndata.read_h5ad(converted)
    X = data.X.toarray() if hasattr(data.X, "toarray") else np.asarray(data.X)
    labels = data.obs["label"].astype(str).to_numpy()
    found = [("X", X)]
    for method in BASELINES:
        found.append((NAMES[method], datasets.baseline(lab, one, method).H[0].T))
    for algorithm in (["reference", "stationary"] if one.reference else ["stationary"]):
        found.append((f"pNMF {algorithm}", datasets.fit(lab, one, algorithm).H[0].T))
    return found, labels


# Without numba's compiler umap-learn is hundreds of times slower: few epochs, small sets alone.
SLOW_EPOCHS, SLOW_CELLS, SLOW_FEATURES = 60, 300, 1000


def umap(lab, values):
    """UMAP by a process of its own, and how: by the compiler, without it, or not at all (None)."""
    given, made = lab.folder / "given.npy", lab.folder / "made.npy"
    reduced = ""
    if values.shape[1] > SLOW_FEATURES and lab.umap_way:
        from sklearn.decomposition import PCA
        values, reduced = PCA(50, random_state=0).fit_transform(values), "; X by its first 50 principal components"
    np.save(given, values)
    made.unlink(missing_ok=True)
    ways = [("", {}, 0)]
    if len(values) <= SLOW_CELLS:
        ways.append((f"without numba's compiler, {SLOW_EPOCHS} epochs", {"NUMBA_DISABLE_JIT": "1"}, SLOW_EPOCHS))
    for how, environment, epochs in ways[lab.umap_way:]:
        done = subprocess.run([sys.executable, "-B", HERE / "umap_map.py", given, made, str(epochs)],
                              capture_output=True, text=True, env={**os.environ, **environment})
        if done.returncode == 0:
            return np.load(made), how + reduced
        lab.umap_way = 1  # a processor that numba does not suit will not suit it the next time
        if not reduced and values.shape[1] > SLOW_FEATURES:
            return umap(lab, values)
    return None, "umap-learn does not run on this machine, and without its compiler it is too slow for this set"


def maps(lab, values):
    from sklearn.manifold import TSNE
    yield "t-SNE", TSNE(init="pca", learning_rate="auto", random_state=0).fit_transform(values), ""
    if not lab.quick:
        yield "UMAP", *umap(lab, values)


def accuracy(lab, name, values, labels):
    """Mean accuracy of k-means over ten seeds, by the program."""
    np.save(lab.folder / f"{name}.npy", np.ascontiguousarray(values, dtype=float))
    table = lab.folder / "labels.tsv"
    table.write_text("label\n" + "\n".join(labels) + "\n")
    scores = lab.score(lab.folder / f"{name}.npy", "--labels", f"{table}:label", "--cells", "rows")
    return scores["accuracy"]["mean"], scores["ari"]["mean"]


def run(lab):
    lab.umap_way = 0
    chosen = [s for s in datasets.present(lab, 1000)[0] if s.paper or (s.name == "Pollen" and not lab.quick)]
    for one in chosen:
        found, labels = columns(lab, one)
        kinds = ["t-SNE"] if lab.quick else ["t-SNE", "UMAP"]
        figure, axes = plt.subplots(len(kinds), len(found), figsize=(2.6 * len(found), 2.8 * len(kinds)), squeeze=False)
        classes = sorted(set(labels))
        score = {kind: {} for kind in kinds}
        note = {}
        for column, (name, values) in enumerate(found):
            for row, (kind, places, how) in enumerate(maps(lab, values)):
                note[kind] = max(note.get(kind, ""), how, key=len)
                if places is None:
                    axes[row, column].axis("off")
                    continue
                for k, label in enumerate(classes):
                    axes[row, column].plot(*places[labels == label].T, ".", ms=2.5, color=plt.cm.tab20(k % 20), label=label)
                axes[row, column].set_xticks([]), axes[row, column].set_yticks([])
                axes[row, column].set_title(f"{kind} of {name}", fontsize=8)
                score[kind][name] = accuracy(lab, "map", places, labels)
        axes[0, -1].legend(fontsize=5, markerscale=2, loc="center left", bbox_to_anchor=(1, 0.5))
        figure.suptitle(one.name, fontsize=9)
        figure.tight_layout()
        lab.figure(figure, f"{one.name}.png")
        for kind in kinds:
            if not score[kind]:
                lab.claim(f"{one.name}: {kind}", "", "", NOT_RUN, "", note=note[kind])
                continue
            values = {name: pair[0] for name, pair in score[kind].items()}
            ours = max(v for n, v in values.items() if n.startswith("pNMF"))
            others = max(v for n, v in values.items() if not n.startswith("pNMF") and n != "X")
            lab.claim(f"{one.name}: {kind} of pNMF's embedding (t = 1) separates the types more clearly: accuracy of k-means on "
                      "the map", "more clearly" if one.paper else "",
                      ", ".join(f"{name} {value:.3f}" for name, value in values.items()),
                      (REPRODUCED if ours > others + 0.01 else DIFFERS) if one.paper else MEASURED, "",
                      note="; ".join(filter(None, [f"partial copy: {one.partial}" if one.partial else "", note[kind]])))
        if one.name == "GSE75748time_TF100":
            early(lab, found, labels)
    if lab.quick:
        lab.claim("UMAP of the embeddings", "", "", NOT_RUN, "", note="left out of the quick run")


def early(lab, found, labels):
    """The sentence about the cells of 0 and 12 hours: two clusters looked for among these cells alone."""
    chosen = np.isin(labels, ["00h", "12h"])
    values = {name: accuracy(lab, "early", X[chosen], labels[chosen]) for name, X in found if name != "X"}
    ours = max(v[1] for n, v in values.items() if n.startswith("pNMF"))
    others = max(v[1] for n, v in values.items() if not n.startswith("pNMF"))
    lab.claim("GSE75748time: pNMF distinguishes 00h from 12h where baselines overlap: ARI of two clusters among these cells",
              "distinguishes", ", ".join(f"{n} {v[1]:.3f}" for n, v in values.items()),
              REPRODUCED if ours > others else DIFFERS, "", note="on the embeddings; 100 of 19,189 genes")
