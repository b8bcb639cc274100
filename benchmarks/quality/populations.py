"""One population, and two: what the default finds in counts whose truth is known.

1,500 genes with log-normal means (−1.5 and 1.5 in the logarithm). The kinds of one population differ in their noise and in
what a cell was measured to; those of `GRADIENTS` vary along one or two directions, with 10 % of the genes changing.
"""

import anndata
import numpy as np
import pandas
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import contestants
import neighbors
import sets
from sets import SPACE, WIDE_SPACE

GENES = 1500
KINDS = {
    "Poisson": {}, "negative binomial": {"size": 2.0}, "library sizes, log-normal (sd .5)": {"library": "normal"},
    "library sizes, tenfold": {"library": "tenfold"}, "library sizes, tenfold, negative binomial": {"library": "tenfold", "size": 2.0},
    "ambient counts": {"ambient": 0.2}, "ambient counts, negative binomial": {"ambient": 0.2, "size": 2.0},
}
GRADIENTS = {
    "one gradient, uniform": {"gradients": 1, "library": "normal"}, "two gradients, uniform": {"gradients": 2, "library": "normal"},
    "one gradient, normal": {"gradients": 1, "even": False, "library": "normal"},
}
SIZES = {100: 20, 300: 20, 1000: 10, 5000: 4, 20000: 1}  # cells: runs of each kind
FOLDS, SHARES, PAIRS = (1.0, 1.25, 1.5, 2.0), (0.5, 0.1), {300: 6, 1000: 3}
FIRST_SEED = 500  # settings were chosen with smaller ones
ONE_EACH = ("CellBench RNA mix", "PBMC FACS")  # sets each of whose labels was one mixture, or sorted


def counts(cells, seed, size=None, library=None, ambient=0.0, gradients=0, even=True, fold=0.0, share=0.0):
    """Counts (cells × genes), and the population of each cell."""
    random = np.random.RandomState(seed)
    mean = np.exp(random.normal(-1.5, 1.5, GENES))
    second = np.arange(cells) < round(share * cells)
    change = np.where(random.rand(GENES) < 0.05, random.normal(0, 1, GENES), 0) * fold
    log_mean = np.log(mean) + np.outer(second, change)
    for _ in range(gradients):
        place = random.uniform(-1, 1, cells) if even else random.normal(0, 0.6, cells)
        log_mean = log_mean + np.outer(place, np.where(random.rand(GENES) < 0.1, random.normal(0, 1.5, GENES), 0))
    rate = np.exp(log_mean)
    if ambient > 0:  # the mean of all cells, in another measure in each
        part = random.uniform(0, 2 * ambient, cells)[:, None]
        rate = (1 - part) * rate + part * rate.mean(axis=0)
    if library == "normal":
        rate *= np.exp(random.normal(0, 0.5, cells))[:, None]
    elif library == "tenfold":
        rate *= 10 ** random.uniform(-0.5, 0.5, cells)[:, None]
    if size is not None:
        rate *= random.gamma(size, 1 / size, rate.shape)
    return random.poisson(rate).astype(float), second.astype(int)


def fitted(program, values):
    """Clusters of the default."""
    with contestants.folder() as out:
        names = pandas.DataFrame(index=[f"cell{i}" for i in range(values.shape[0])])
        sets.anndata_of(scipy.sparse.csr_matrix(values), obs=names).write_h5ad(f"{out}/cells.h5ad")
        return program.fit(f"{out}/fit", f"{out}/cells.h5ad", "--preset", "cells").column("pnmf_clusters")


def single(program, one):
    """One population: the number of clusters found. `one`: kind, cells, seed."""
    kind, cells, seed = one
    values, _ = counts(cells, seed, **{**KINDS, **GRADIENTS}[kind])
    return {"clusters": len(np.unique(fitted(program, values)))}


def real(program, one):
    """The cells of one label of a set: its name, the number of clusters found. `one`: folder, name of the set, number."""
    folder, _, number = one
    cells = np.load(f"{folder}/labels.npy") == number
    data = anndata.read_h5ad(f"{folder}/counts.h5ad")[cells]
    return {"label": str(data.obs["label"].iloc[0]), "clusters": len(np.unique(fitted(program, data.X)))}


def most_stable(space, seed, most=8):
    """The k-means clusters, 2 to `most`, that agree best with those of four fifths of the cells, in five draws."""
    random = np.random.RandomState(seed)
    cluster = lambda cells, k: KMeans(k, n_init=3, random_state=seed).fit(space[cells])
    best, clusters = -1.0, None
    for k in range(2, most + 1):
        all_cells = cluster(np.arange(len(space)), k)
        draws = [random.choice(len(space), len(space) * 4 // 5, replace=False) for _ in range(5)]
        agreement = np.mean([adjusted_rand_score(all_cells.labels_[draw], cluster(draw, k).labels_) for draw in draws])
        if agreement > best:
            best, clusters = agreement, all_cells.labels_
    return clusters


def pair(program, one):
    """Two populations: clusters found, and ARI, also of Leiden at resolution 1 and of the most stable k-means in the same
    components. `one`: fold, share, cells, seed."""
    fold, share, cells, seed = one
    values, truth = counts(cells, 1000 + seed, size=2.0, library="normal", fold=fold, share=share)
    found = fitted(program, values)
    _, spaces = sets.prepare(scipy.sparse.csr_matrix(values))
    answer = {"clusters": len(np.unique(found)), "ari": adjusted_rand_score(truth, found),
              "stable": adjusted_rand_score(truth, most_stable(spaces[SPACE], seed))}
    if not contestants.missing_leiden():
        other = neighbors.leiden(neighbors.edges(spaces[WIDE_SPACE], 15), cells, seed)
        answer["leiden"] = adjusted_rand_score(truth, other)
        answer["leiden_clusters"] = len(np.unique(other))
    return answer


def seeds(runs):
    return range(FIRST_SEED, FIRST_SEED + runs)


def questions(quick, of_sets):
    """(the runs of one population, those of one label, those of two populations)."""
    if quick:
        return [("Poisson", 100, 0)], [], [(2.0, 0.5, 300, 0)]
    ones = [(kind, cells, seed) for kind in (*KINDS, *GRADIENTS) for cells, runs in SIZES.items() for seed in seeds(runs)]
    reals = [(str(one.folder), one.name, number) for one in of_sets if one.name in ONE_EACH for number in range(one.clusters)]
    twos = [(fold, share, cells, seed) for fold in FOLDS for share in SHARES for cells, runs in PAIRS.items() for seed in seeds(runs)]
    return ones, reals, twos
