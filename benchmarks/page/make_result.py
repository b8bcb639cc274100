#!/usr/bin/env python3
"""Writes a made-up result of a given size, as `pnmf fit` would: make_result.py CELLS SCALES RANK FILE.h5ad [tissue]

Cells of eight types drift together from scale to scale; of a tissue, they lie in a square, with domains and an image. The numbers mean nothing; their amount does.
"""

import json
import sys

import anndata
import numpy
import pandas

cells, scales, rank = map(int, sys.argv[1:4])
random = numpy.random.default_rng(0)
types = random.integers(0, 8, cells)
centres = random.gamma(0.6, 1.0, (rank, 8))
noise = random.gamma(1.0, 0.25, (rank, cells))
H = numpy.empty((scales, rank, cells), dtype=numpy.float32)
clusters = numpy.empty((scales, cells), dtype=numpy.int32)
for t in range(scales):
    share = t / max(1, scales - 1)
    H[t] = (1 - 0.9 * share) * (centres[:, types] + noise) + 0.9 * share * centres.mean(axis=1)[:, None]
    merged = types % max(2, 8 - int(7 * share))
    clusters[t] = numpy.where(random.random(cells) < 0.02, random.integers(0, 8, cells), merged)
deaths = numpy.sort(random.gamma(3.0, 1.0, cells - 1))
left = numpy.empty(cells - 1)
left[0], left[1:] = 0, cells + numpy.arange(cells - 2)  # a caterpillar: each cell joins the one tree
tree = numpy.column_stack([left, numpy.arange(1, cells), deaths, numpy.arange(2, cells + 1)])
epsilon = numpy.quantile(deaths, numpy.linspace(0, 1, scales)) * (1 + 1e-9)
genes = 2000
uns = {
    "H": H,
    "epsilon": epsilon,
    "betti0": cells - numpy.searchsorted(deaths, epsilon),
    "multiplicity": numpy.ones(scales, dtype=int),
    "clusters": clusters,
    "cluster_count": 8,
    "scores": {name: random.random(scales) for name in ["gap_prominence", "stability", "silhouette", "resampling", "combined"]},
    "kkt": random.random(scales) * 1e-4 + 1e-6,
    "effective_rank": numpy.linspace(rank, 1, scales),
    "objective": numpy.geomspace(2e6, 1e6, 60),
    **{f"objective_{name}": numpy.geomspace(5e5, 2e5, 60) for name in ["fit", "graph", "smoothness", "anchor"]},
    "deaths": deaths,
    "merge_tree": tree,
    "options": json.dumps({"rank": rank}),
    "recommended": 0,
    "stop": "converged",
    "transform": "none",
    "command": "made up for a measurement",
}
file = anndata.AnnData(
    obs=pandas.DataFrame({"label": pandas.Categorical([f"type {k}" for k in types])}, index=[f"CELL{j:06d}-ACGTTGCA" for j in range(cells)]),
    var=pandas.DataFrame(index=[f"GENE{g}" for g in range(genes)]),
    uns={"pnmf": uns},
)
if sys.argv[5:] == ["tissue"]:
    places = 2000 * random.random((cells, 2))
    layer = (places[:, 1] // 400).astype(numpy.int32)
    of_scale = numpy.where(random.random((scales, cells)) < 0.05, random.integers(0, 5, (scales, cells)), layer)
    uns["space"] = {"name": "obsm:spatial", "coordinates": places, "downwards": True}
    uns["domains"] = {"of_scale": of_scale, "neighbors": 2.0 ** numpy.arange(scales), "scale": scales - 1}
    file.obs["pnmf_clusters"] = file.obs["label"]
    file.obsm["spatial"] = places
    image = random.normal(0.7, 0.1, (1000, 1000, 3)).clip(0, 1).astype(numpy.float32)
    file.uns["spatial"] = {"slide": {"images": {"hires": image}, "scalefactors": {"tissue_hires_scalef": 0.5}}}
file.varm["pnmf_W"] = random.gamma(0.3, 1.0, (genes, rank))
file.write_h5ad(sys.argv[4])
