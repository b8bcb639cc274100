"""Who takes part, and what each of them answers on one set with one seed.

An answer is {"ari": …} against the labels, "clusters": how many it found, and more where there is more to say.
Where the seed only matters to k-means, one factorisation is clustered with all seeds by `pnmf score`, and the answer
has the mean and the standard deviation over them. NMF, GNMF, TNMF, k-TNMF and pNMF all begin at NNDSVD, which is not
random, so this is so for all of them.
"""

import dataclasses
import importlib.util
import tempfile

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import neighbors
from sets import SPACE, WIDE_SPACE

SEEDS = 10
NEIGHBORS = 8
SAME_SPACE = ["--space", f"obsm:{SPACE}", "--alpha", 2]
SAME_GRAPH = [*SAME_SPACE, "--neighbors", NEIGHBORS]
PREPARED = ["--transform", "none", "--labels", "label"]
AS_GIVEN = [*PREPARED, "--preset", "paper", "--precision", "float"]  # of `fit`: nothing but what is asked for


@dataclasses.dataclass(frozen=True)
class Contestant:
    name: str
    answer: object       # function(program, set, seed) → answer
    seeds: int = SEEDS   # 1 where an answer holds the mean over the seeds
    program: bool = True  # whether it runs the program
    needs: tuple = ()     # Python modules that may not be there

    def missing(self):
        """Why it cannot take part; empty when it can."""
        absent = [name for name in self.needs if importlib.util.find_spec(name) is None]
        return f"Python's {' and '.join(absent)} is not installed" if absent else ""


def folder():
    return tempfile.TemporaryDirectory(prefix="pnmf-quality-")


def baseline(method, *words):
    def answer(program, one, seed):
        with folder() as out:
            result = program.fit(out, one.prepared, *PREPARED, "--precision", "float", *words, verb=("baseline", method))
            scores = program.score(result, "--labels", "label", "--seeds", SEEDS)
        return {"ari": scores["ari"]["mean"], "sd": scores["ari"]["sd"], "clusters": one.clusters}
    return answer


def single_scale(program, one, seed):
    """Without λ₂ the scales know nothing of each other: the coarsest of two is a fit of that scale alone."""
    with folder() as out:
        result = program.fit(out, one.prepared, *AS_GIVEN, *SAME_GRAPH, "--max-scales", 2, "--lambda2", 0, "--clusters", one.clusters)
        scores = program.score(result, "--labels", "label", "--seeds", SEEDS)["scales"][-1]
    return {"ari": scores["ari"]["mean"], "sd": scores["ari"]["sd"], "clusters": one.clusters}


def default(known):
    """As a user runs it, on the counts; with the true number of clusters or without."""
    def answer(program, one, seed):
        with folder() as out:
            result = program.fit(out, one.counts, "--seed", seed, *(["--clusters", one.clusters] if known else []))
            found = result.column("pnmf_clusters")
            every = result.array("clusters")
        answer = {"ari": adjusted_rand_score(one.labels, found), "clusters": len(np.unique(found)),
                  "scales": len(every), "available": result.summary.get("scales_all")}
        if known:
            answer["best"] = max(adjusted_rand_score(one.labels, clusters) for clusters in every)
        return answer
    return answer


def components_and_means(program, one, seed):
    found = KMeans(one.clusters, n_init=10, random_state=seed).fit_predict(one.space())
    return {"ari": adjusted_rand_score(one.labels, found), "clusters": one.clusters}


def leiden(space, count, tree):
    def answer(program, one, seed):
        found = neighbors.leiden(neighbors.edges(one.space(space), count, tree), len(one.labels), seed)
        return {"ari": adjusted_rand_score(one.labels, found), "clusters": int(found.max()) + 1}
    return answer


KNOWN, UNKNOWN = "pNMF, default, `--clusters k`", "pNMF, default"
PLAIN = "NMF"

WITH_TRUE_NUMBER = [
    Contestant("PCA + k-means", components_and_means, program=False),
    Contestant(PLAIN, baseline("nmf"), seeds=1),
    Contestant("GNMF", baseline("gnmf"), seeds=1),
    Contestant("TNMF", baseline("tnmf"), seeds=1),
    Contestant("k-TNMF", baseline("ktnmf"), seeds=1),
    Contestant("NMF, published protocol", baseline("nmf", "--preset", "published"), seeds=1),
    Contestant("GNMF, published protocol", baseline("gnmf", "--preset", "published"), seeds=1),
    Contestant("TNMF, published protocol", baseline("tnmf", "--preset", "published"), seeds=1),
    Contestant("k-TNMF, published protocol", baseline("ktnmf", "--preset", "published"), seeds=1),
    Contestant("GNMF, space and neighbours of pNMF", baseline("gnmf", *SAME_GRAPH), seeds=1),
    Contestant("TNMF, space and neighbours of pNMF", baseline("tnmf", *SAME_GRAPH), seeds=1),
    Contestant("k-TNMF, space of pNMF", baseline("ktnmf", *SAME_SPACE), seeds=1),
    Contestant("pNMF, one scale, same graph", single_scale, seeds=1),
    Contestant(KNOWN, default(known=True)),
]
WITHOUT_NUMBER = [
    Contestant("Leiden, 15 neighbours in 50 components", leiden(WIDE_SPACE, 15, False), program=False, needs=("igraph", "leidenalg")),
    Contestant("Leiden, space and graph of pNMF", leiden(SPACE, NEIGHBORS, True), program=False, needs=("igraph", "leidenalg")),
    Contestant(UNKNOWN, default(known=False)),
]
