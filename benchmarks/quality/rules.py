"""Rules that choose the scale when the number of clusters is known, and what choosing among the rules costs.

All see the same fit, the same clusters at each scale, and no labels. A scale that has collapsed, or whose clusters have less
than half of the largest modularity, takes no part.
"""

import numpy as np
from sklearn.metrics import adjusted_rand_score, silhouette_score

import contestants
import neighbors

NEARLY, MODULAR = 0.95, 0.9  # of the largest silhouette, and of the largest modularity for the rule by stability
RULES = ("nearly the largest silhouette in the finest embedding", "the largest", "the coarsest", "the largest modularity", "stability")
STUDIES = {"PBMC68k": "Zheng", "PBMC FACS": "Zheng"}  # sets of one study; each other one is its own


def modularity(graph, clusters):
    """Of the edges, each alike (Newman and Girvan 2004)."""
    i, j = graph
    degree = np.bincount(np.concatenate(graph), minlength=len(clusters))
    share = np.bincount(clusters, weights=degree) / (2 * len(i))
    return np.mean(clusters[i] == clusters[j]) - np.sum(share**2)


def compare(program, one):
    """Rule → scores; and the best ARI of any scale."""
    with contestants.folder() as out:
        result = program.fit(out, one.counts, "--clusters", one.clusters)
        finest, clusters = result.array("H")[0].T.astype(float), result.array("clusters")
        stability, combined = result.array("scores/resampling"), result.array("scores/combined")
    takes_part = np.flatnonzero(combined > 0)  # the finest first
    finest /= np.maximum(np.linalg.norm(finest, axis=1, keepdims=True), 1e-300)
    graph = neighbors.edges(one.space(), contestants.NEIGHBORS)
    silhouette = np.array([silhouette_score(finest, clusters[t]) for t in takes_part])
    modular = np.array([modularity(graph, clusters[t]) for t in takes_part])
    nearly = np.flatnonzero(silhouette >= NEARLY * silhouette.max())
    chosen = (nearly[-1], np.argmax(silhouette), len(takes_part) - 1, np.argmax(modular),
              np.argmax(np.where(modular >= MODULAR * modular.max(), stability[takes_part], -np.inf)))
    answer = {rule: contestants.scores(one.labels, clusters[takes_part[at]]) for rule, at in zip(RULES, chosen)}
    return {**answer, "best": max(adjusted_rand_score(one.labels, each) for each in clusters)}


def left_out(names, answers):
    """The ARI of each set by the rule that is best on the sets of all other studies."""
    study = [STUDIES.get(name, name) for name in names]
    found = []
    for at, name in enumerate(study):
        others = [answer for other, answer in zip(study, answers) if other != name]
        rule = max(RULES, key=lambda rule: np.mean([answer[rule]["ari"] for answer in others]))
        found.append(answers[at][rule]["ari"])
    return found
