"""What solving on few scales costs: the same fit with all of them.

At most 300 cells, because a fit of all scales has as many as cells. All fits get the prepared values and their space.
The few scales are solved twice: to the tolerance of all scales, which shows what fewer scales cost, and to that of the
preset, which stops sooner.
The terms of a scale are evaluated here, from W and H alone:

    ‖X − WH‖² + λ₁ tr(HLHᵀ) + λ₃‖H‖²
"""

import anndata
import numpy as np
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import contestants
import neighbors
from sets import SPACE

CELLS = 300
SETS = ("Yan", "Goolam", "Dendritic", "Pollen", "PBMC68k", "GSE75748", "Kang", "PBMC3k", "Baron")
ALPHA = 2
TOLERANCE = 3e-4
FEW = [*contestants.PREPARED, "--preset", "cells"]
ALL = [*contestants.AS_GIVEN, "--tolerance", TOLERANCE]  # of the rank, too, the defaults are the same up to 900 cells


def terms(X, space, graph, epsilon, penalty, W, H):
    """The objective of one scale without its coupling to others; X is genes × cells."""
    i, j = graph
    distances = np.linalg.norm(space[i] - space[j], axis=1)
    # A tree edge of length ε is not in the graph at ε; rounded here and in the program it need not be the same number.
    weights = np.where(distances < epsilon * (1 - 1e-9), np.exp(-(distances**2) / epsilon**ALPHA), 0)
    A = scipy.sparse.coo_matrix((weights, (i, j)), shape=(len(space),) * 2)
    A = (A + A.T).tocsr()
    degrees = np.asarray(A.sum(axis=1)).ravel()
    fit = np.sum((X - W @ H) ** 2)
    smooth = np.sum(degrees * np.sum(H**2, axis=0)) - np.sum((H @ A) * H)
    return fit + penalty[0] * smooth + penalty[2] * np.sum(H**2)


class Evaluated:
    """A fit: scales, terms of each, clusters."""

    def __init__(self, program, one, *words):
        data = anndata.read_h5ad(one.prepared())
        X, space = data.X.toarray().T, data.obsm[SPACE]
        graph = neighbors.edges(space, contestants.NEIGHBORS, tree=True)
        with contestants.folder() as out:
            result = program.fit(out, one.prepared(), *contestants.SAME_GRAPH, *words, "--save-basis", "--clusters", one.clusters)
            self.epsilon, self.clusters = result.array("epsilon"), result.array("clusters")
            self.found, self.seconds = result.column("pnmf_clusters"), result.summary["seconds"]
            W, H, penalty = (result.array(name).astype(float) for name in ("W", "H", "penalty"))
            self.said = sum(result.array(f"objective_{term}")[-1] for term in ("fit", "graph", "anchor"))
        self.terms = np.array([terms(X, space, graph, epsilon, penalty, *pair) for epsilon, *pair in zip(self.epsilon, W, H)])


def difference(few, every):
    """Of few scales from all: in the objective at the scales of the few, and in the clusters."""
    place = {epsilon: t for t, epsilon in enumerate(every.epsilon)}
    shared = [place[epsilon] for epsilon in few.epsilon]  # the few are some of all
    risen = few.terms - every.terms[shared]
    return {
        "kept": len(few.epsilon), "sum": risen.sum() / every.terms[shared].sum(), "largest": np.max(np.abs(risen / every.terms[shared])),
        "recommended": adjusted_rand_score(few.found, every.found),
        "scales": np.mean([adjusted_rand_score(a, every.clusters[t]) for a, t in zip(few.clusters, shared)]), "seconds": few.seconds,
    }


def compare(program, one):
    every = Evaluated(program, one, *ALL)
    if abs(every.terms.sum() / every.said - 1) > 1e-4:
        raise ValueError(f"the terms of all scales are {every.terms.sum():.6g} here and {every.said:.6g} in the program")
    equal, default = (difference(Evaluated(program, one, *FEW, *words), every) for words in (["--tolerance", TOLERANCE], []))
    return {"all": len(every.epsilon), "seconds": every.seconds, "equal": equal, "default": default}
