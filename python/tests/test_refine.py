"""One cluster of an AnnData divided further: which cells move, which names stay, and what is refused."""

import unittest

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import pnmf


def cells():
    """Four far types; the last two are called one cluster, with a name of the user's own."""
    adata = pnmf.simulate.cells(cells=240, genes=150, types=4, imbalance=0.0, fold=2.5, changed=0.3, depth=3000.0, random_state=1).to_anndata()
    types = adata.obs["type"].astype(str)
    adata.obs["truth"] = types
    called = dict(zip(sorted(set(types)), ["T cells", "B cells", "myeloid", "myeloid"]))
    adata.obs["pnmf_clusters"] = pd.Categorical(types.map(called), categories=["T cells", "myeloid", "B cells"])
    return adata


class Refined(unittest.TestCase):
    def test_a_cluster_of_two_types_becomes_two_and_the_other_names_stay(self):
        adata = cells()
        before = adata.obs["pnmf_clusters"].copy()
        adata.uns["pnmf_clusters_colors"] = ["#000000", "#111111", "#222222"]
        pnmf.tl.refine(adata, "myeloid")
        after = adata.obs["pnmf_clusters"]
        self.assertEqual(list(after.cat.categories), ["T cells", "myeloid.1", "myeloid.2", "B cells"])
        others = before != "myeloid"
        self.assertTrue((after[others].astype(str) == before[others].astype(str)).all())
        self.assertEqual(adjusted_rand_score(adata.obs["truth"], after), 1.0)
        self.assertNotIn("pnmf_clusters_colors", adata.uns)

    def test_a_cluster_of_one_type_stays_whole(self):
        adata = cells()
        before = adata.obs["pnmf_clusters"].copy()
        pnmf.tl.refine(adata, "T cells", key_added="finer")
        self.assertTrue(adata.obs["finer"].equals(before))
        self.assertTrue(adata.obs["pnmf_clusters"].equals(before))

    def test_a_copy_leaves_the_data_as_they_are_and_several_clusters_are_fitted_together(self):
        adata = cells()
        copy = pnmf.tl.refine(adata, ["B cells", "T cells"], copy=True)
        self.assertEqual(list(adata.obs["pnmf_clusters"].cat.categories), ["T cells", "myeloid", "B cells"])
        self.assertEqual(list(copy.obs["pnmf_clusters"].cat.categories), ["T cells+B cells.1", "T cells+B cells.2", "myeloid"])
        self.assertEqual(adjusted_rand_score(adata.obs["pnmf_clusters"], copy.obs["pnmf_clusters"]), 1.0)

    def test_the_layer_of_the_fit_is_taken_again(self):
        adata = cells()
        adata.layers["mine"] = adata.X.copy()
        adata.X = np.ones(adata.shape)
        pnmf.tl.pnmf(adata, layer="mine", rank=4, max_scales=3)
        name = adata.obs["pnmf_clusters"].cat.categories[0]
        pnmf.tl.refine(adata, name, clusters=2)
        self.assertIn(f"{name}.2", adata.obs["pnmf_clusters"].cat.categories)

    def test_what_is_not_there_is_said(self):
        adata = cells()
        with self.assertRaisesRegex(ValueError, "has no cluster 'NK'; there are"):
            pnmf.tl.refine(adata, "NK")
        with self.assertRaisesRegex(ValueError, r"obs\['leiden'\] is missing"):
            pnmf.tl.refine(adata, "1", column="leiden")
        with self.assertRaisesRegex(TypeError, "must be an AnnData"):
            pnmf.tl.refine("cells.h5ad", "1")

    def test_a_name_that_is_taken_is_not_given_twice(self):
        adata = cells()
        adata.obs["pnmf_clusters"] = adata.obs["pnmf_clusters"].cat.rename_categories({"B cells": "myeloid.1"})
        with self.assertRaisesRegex(ValueError, "'myeloid.1' already"):
            pnmf.tl.refine(adata, "myeloid")


if __name__ == "__main__":
    unittest.main()
