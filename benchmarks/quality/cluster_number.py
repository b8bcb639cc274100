"""Rules for the number of clusters, compared by leaving one set out.

The rule of the program and its neighbours, written again here from the embeddings of a fit: k-means for every k at up
to 12 scales, modularity in a neighbour graph; the smallest k whose best modularity over the scales is at least a share
of the largest; then the scale whose clusters have the largest silhouette in the finest embedding, cells of unit length.
Candidates differ in the share and in the neighbours of the graph.
"""

import itertools

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, silhouette_score

import contestants
import neighbors

SHARES, GRAPHS = (0.97, 0.98, 0.99, 1.0), (8, 15)
CANDIDATES = list(itertools.product(SHARES, GRAPHS))
SEEDS, STARTS = 3, 5
MOST_CLUSTERS, MOST_SCALES = 20, 12


def name(candidate):
    share, graph = candidate
    return f"{100 * share:.0f} % of the largest, {graph} neighbours" if share < 1 else f"the largest, {graph} neighbours"


def unit(H):
    return H / np.maximum(np.linalg.norm(H, axis=1, keepdims=True), 1e-300)


def measure(program, one, seed):
    """Of every scale (rows) and k (columns): ARI, silhouette, and the modularity in each graph."""
    with contestants.folder() as out:
        result = program.fit(out, one.counts, "--clusters", one.clusters)
        H = result.array("H").transpose(0, 2, 1).astype(float)
        rank = result.array("effective_rank")
    # An embedding that has lost most of its directions takes no part.
    standing = np.flatnonzero(rank - 1 >= 0.25 * (rank[0] - 1))
    scales = standing[np.unique(np.linspace(0, len(standing) - 1, MOST_SCALES).round().astype(int))]
    numbers = list(range(2, min(MOST_CLUSTERS, len(one.labels) // 4) + 1))
    graphs = [neighbors.edges(one.space(), count) for count in GRAPHS]
    finest = unit(H[0])
    ari, silhouette, modularity = [], [], []
    for t in scales:
        found = [KMeans(k, n_init=STARTS, random_state=seed).fit_predict(H[t]) for k in numbers]
        ari.append([adjusted_rand_score(one.labels, clusters) for clusters in found])
        silhouette.append([silhouette_score(finest, clusters) for clusters in found])
        modularity.append([[neighbors.modularity(graph, clusters) for clusters in found] for graph in graphs])
    return {"numbers": numbers, "ari": ari, "silhouette": silhouette, "modularity": np.swapaxes(modularity, 0, 1).tolist()}


def choose(measured, candidate):
    """(k, ARI) by a candidate."""
    share, graph = candidate
    best = np.array(measured["modularity"][GRAPHS.index(graph)]).max(axis=0)
    column = int(np.argmax(best >= share * best.max()))
    silhouette = np.array(measured["silhouette"])[:, column]
    row = int(np.flatnonzero(silhouette == silhouette.max()).max())
    return measured["numbers"][column], measured["ari"][row][column]


def compare(measured):
    """(candidate → [(k, ARI) of each set], the candidate chosen for each set by all others).

    `measured` has a list for each set, with an entry for each seed.
    """
    found = {}
    for candidate in CANDIDATES:
        of_sets = [[choose(one, candidate) for one in seeds] for seeds in measured]
        found[candidate] = [tuple(np.mean(seeds, axis=0)) for seeds in of_sets]
    chosen = []
    for left_out in range(len(measured)):
        others = [i for i in range(len(measured)) if i != left_out]
        score = lambda candidate: np.mean([found[candidate][i][1] for i in others])
        chosen.append(max(CANDIDATES, key=score) if others else CANDIDATES[0])
    return found, chosen
