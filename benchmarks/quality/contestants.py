"""Who takes part, and what each of them answers on one set.

An answer has scores against the labels: ARI, NMI and F1, the mean over the labels of the largest F1 that a cluster has with
it, so that rare types count as much as large ones. Factorisations begin at NNDSVD, which is not random, so that the seed only
matters to k-means.
"""

import dataclasses
import functools
import importlib.util
import tempfile

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, confusion_matrix, normalized_mutual_info_score

import neighbors
import sets

SEEDS = 5  # of k-means, and of Leiden
NEIGHBORS = 8
SAME_GRAPH = ["--space", f"obsm:{sets.SPACE}", "--alpha", 2, "--neighbors", NEIGHBORS]
PREPARED = ["--transform", "none", "--labels", "label"]
AS_GIVEN = [*PREPARED, "--preset", "paper", "--precision", "float"]  # of `fit`: nothing but what is asked for
LEVELS = 6
SCORES = ("ari", "nmi", "f1")


def mean_f1(labels, clusters):
    """Mean over the labels of the largest F1 = 2|L ∩ C| / (|L| + |C|)."""
    count = int(max(labels.max(), clusters.max())) + 1
    shared = confusion_matrix(labels, clusters, labels=range(count))
    sizes = shared.sum(axis=1)[:, None] + shared.sum(axis=0)[None, :]
    best = np.max(2 * shared / np.maximum(sizes, 1), axis=1)
    return float(np.mean(best[shared.sum(axis=1) > 0]))


def scores(labels, clusters):
    return {"ari": adjusted_rand_score(labels, clusters), "nmi": normalized_mutual_info_score(labels, clusters),
            "f1": mean_f1(labels, clusters), "clusters": len(np.unique(clusters))}


def mean_scores(labels, found):
    """The means over several clusterings."""
    each = [scores(labels, clusters) for clusters in found]
    return {name: float(np.mean([one[name] for one in each])) for name in each[0]}


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    answer: object       # function(program, set) → answer
    whole: bool = True   # whether it gets all cells
    program: bool = True  # whether it runs the program
    needs: tuple = ()     # Python modules that may not be there

    def missing(self):
        """Why it cannot take part; empty when it can."""
        absent = [name for name in self.needs if importlib.util.find_spec(name) is None]
        return f"Python's {' and '.join(absent)} is not installed" if absent else ""


def folder():
    return tempfile.TemporaryDirectory(prefix="pnmf-quality-")


def baseline(method, preparation, program, one):
    with folder() as out:
        result = program.fit(out, one.prepared(preparation), *PREPARED, "--precision", "float", verb=("baseline", method))
        H = result.array("H")[0].T.astype(float)
    return mean_scores(one.labels, [KMeans(one.clusters, n_init=10, random_state=seed).fit_predict(H) for seed in range(SEEDS)])


def number_known(program, one):
    with folder() as out:
        result = program.fit(out, one.counts, "--clusters", one.clusters)
        found = scores(one.labels, result.column("pnmf_clusters"))
        every = result.array("clusters")
    return {**found, "best": max(adjusted_rand_score(one.labels, clusters) for clusters in every)}


def number_unknown(program, one):
    """As a user runs it, with the levels it lists."""
    with folder() as out:
        result = program.fit(out, one.counts)
        found = scores(one.labels, result.column("pnmf_clusters"))
        count = len(result.summary["resolutions"])
        levels = [scores(one.labels, result.column(f"pnmf_clusters_{r + 1}")) for r in range(count)]
    return {**found, "levels": [(level["clusters"], level["ari"], level["f1"]) for level in levels]}


def leiden(program, one):
    graph = neighbors.edges(one.space(sets.WIDE_SPACE), 15)
    return mean_scores(one.labels, [neighbors.leiden(graph, len(one.labels), seed) for seed in range(SEEDS)])


UNKNOWN, KNOWN, PART, LEIDEN = "default", "default, `--clusters k`", "default, `--clusters k`, 800 cells", "Leiden"
METHODS = {"nmf": "NMF", "gnmf": "GNMF", "ktnmf": "k-TNMF"}


def of_method(method, preparation):
    return f"{METHODS[method]}, {preparation}"


CONTESTANTS = [
    Contestant(UNKNOWN, number_unknown),
    Contestant(LEIDEN, leiden, program=False, needs=("igraph", "leidenalg")),
    Contestant(KNOWN, number_known),
    Contestant(PART, number_known, whole=False),
    *(Contestant(of_method(method, preparation), functools.partial(baseline, method, preparation), whole=False)
      for method in METHODS for preparation in sets.PREPARATIONS),
]


def missing_leiden():
    return next(one for one in CONTESTANTS if one.name == LEIDEN).missing()
