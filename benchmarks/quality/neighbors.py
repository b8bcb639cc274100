"""Neighbour graphs of cells in some space, and what is done with them: Leiden.

Edges are pairs (i, j), i < j, each once and all alike.
"""

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.neighbors import NearestNeighbors


def edges(space, count, tree=False):
    """Two arrays of ends: each cell with its `count` nearest ones and, if asked, the minimum spanning tree."""
    cells = len(space)
    found = NearestNeighbors(n_neighbors=min(count + 1, cells)).fit(space).kneighbors(space, return_distance=False)
    # A cell is its own nearest one, unless another has the same place.
    pairs = [(np.repeat(np.arange(cells), found.shape[1]), found.ravel())]
    if tree:
        joined = minimum_spanning_tree(squareform(pdist(space))).tocoo()
        pairs.append((joined.row, joined.col))
    i, j = (np.concatenate(ends).astype(np.int64) for ends in zip(*pairs))
    keys = np.unique(np.minimum(i, j) * cells + np.maximum(i, j))
    i, j = keys // cells, keys % cells
    return i[i != j], j[i != j]


def leiden(graph, cells, seed, resolution=1.0):
    """Clusters of each cell (Traag et al. 2019), as Scanpy calls it: until an iteration changes nothing."""
    import igraph
    import leidenalg

    network = igraph.Graph(cells, list(zip(*(ends.tolist() for ends in graph))))
    found = leidenalg.find_partition(network, leidenalg.RBConfigurationVertexPartition, resolution_parameter=resolution,
                                     n_iterations=-1, seed=seed)
    return np.array(found.membership)
