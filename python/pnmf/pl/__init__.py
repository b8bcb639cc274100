"""Pictures of a fit, with matplotlib. Each function takes a fitted `PersistentNMF`, a `Result`, an AnnData or the
path of a result, draws on the axes it is given or on new ones, and returns the axes."""

from ._cells import embedding
from ._clusters import cluster_flow, top_features
from ._embeddings import animate_embeddings, embeddings
from ._fit import convergence, radar, scores
from ._loop import loop
from ._persistence import barcode, betti0, h0_diagram, merge_tree
from ._programs import programs
from ._rank import rank_curve
from ._tissue import tissue

__all__ = [
    "animate_embeddings",
    "barcode",
    "betti0",
    "cluster_flow",
    "convergence",
    "embedding",
    "embeddings",
    "h0_diagram",
    "loop",
    "merge_tree",
    "programs",
    "radar",
    "rank_curve",
    "scores",
    "tissue",
    "top_features",
]
