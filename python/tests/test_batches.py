"""Batches in Python: the same as in the program, and what is refused."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import numpy as np
import pandas as pd

import pnmf
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]


def cells(count=120):
    """Three types in two batches; the second sees every fifth gene twenty times as often."""
    drawn = pnmf.simulate.cells(cells=count, genes=200, types=3, changed=0.3, fold=1.5, depth=2000, imbalance=0.0, random_state=2)
    counts = drawn.counts.toarray()
    counts[1::2, ::5] *= 20
    adata = anndata_of(counts)
    adata.obs["type"] = pd.Categorical([f"type{t + 1}" for t in drawn.types])
    adata.obs["lane"] = np.arange(count) % 2 + 1
    adata.obs["run"] = pd.Categorical(["first", "second"] * (count // 2))
    return adata


class BatchKey(unittest.TestCase):
    def test_is_what_the_program_does(self):
        adata = cells()
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "cells.h5ad"
            adata.write_h5ad(path)
            done = subprocess.run([PROGRAM, "fit", path, "--batch", "lane", "--no-report", "-o", pathlib.Path(name) / "out"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            theirs = pnmf.read_result(pathlib.Path(name) / "out")
            said = json.loads((pathlib.Path(name) / "out" / "summary.json").read_text())["batch"]
        pnmf.tl.pnmf(adata, batch_key="lane")
        ours = pnmf.read_result(adata)
        np.testing.assert_array_equal(ours.embeddings, theirs.embeddings)
        self.assertEqual(ours.batch_scores(), said)
        self.assertEqual(said["column"], "lane")
        labelled = ours.batch_scores(adata.obs["type"])
        plain = cells()
        pnmf.tl.pnmf(plain)
        agreement = [pnmf.metrics.adjusted_rand_index(one.obs["type"], one.obs["pnmf_clusters"]) for one in (plain, adata)]
        self.assertLess(agreement[0], 0.8)  # clusters follow batches
        self.assertGreater(agreement[1], 0.95)
        self.assertGreater(labelled["mixing"], labelled["mixing_before"])
        self.assertGreater(labelled["label_purity"], 0.9)
        shares = pd.crosstab(adata.obs["pnmf_clusters"], adata.obs["lane"])
        of_cluster = shares.sum(axis=1) ** 2 / (shares**2).sum(axis=1)  # how many batches, by their shares
        expected = np.average(of_cluster, weights=shares.sum(axis=1)) - 1  # two batches of one size: divided by 1
        self.assertAlmostEqual(labelled["mixing_of_clusters"], expected, places=12)
        self.assertGreater(labelled["mixing_of_clusters"], 0.8)
        self.assertEqual(list(adata.uns["pnmf"]["batch"]["names"]), ["1", "2"])
        # Cells that are taken out or put into another order keep their batches.
        part = adata[::-1][:60].copy()
        some = pnmf.read_result(part).batch_scores(part.obs["type"])
        self.assertEqual(sum(batch["cells"] for batch in some["batches"]), 60)

    def test_names_and_numbers_give_the_same(self):
        numbers, names = cells(), cells()
        pnmf.tl.pnmf(numbers, batch_key="lane", max_scales=3)
        pnmf.tl.pnmf(names, batch_key="run", max_scales=3)
        np.testing.assert_array_equal(numbers.obsm["X_pnmf"], names.obsm["X_pnmf"])
        plain = cells()
        pnmf.tl.pnmf(plain, max_scales=3)
        self.assertIsNone(pnmf.read_result(plain).batch_scores())
        self.assertFalse(np.array_equal(plain.obsm["X_pnmf"], names.obsm["X_pnmf"]))

    def test_refuses_what_cannot_be_balanced(self):
        adata = cells()
        with self.assertRaisesRegex(ValueError, r"obs\['donor'\] is missing; there are \['lane', 'run', 'type'\]"):
            pnmf.tl.pnmf(adata, batch_key="donor")
        adata.obs["lane"] = adata.obs["lane"].astype(float)
        adata.obs.iloc[3, adata.obs.columns.get_loc("lane")] = np.nan
        with self.assertRaisesRegex(ValueError, "1 of 120 cells have none, the first is 3"):
            pnmf.tl.pnmf(adata, batch_key="lane")
        adata.obs["one"] = "a"
        with self.assertRaisesRegex(ValueError, "all cells are of batch 'a'"):
            pnmf.tl.pnmf(adata, batch_key="one")
        adata.obs["alone"] = ["b"] + ["a"] * 119
        with self.assertRaisesRegex(ValueError, "1 of 2 have 1: b"):
            pnmf.tl.pnmf(adata, batch_key="alone")
        self.assertNotIn("pnmf", adata.uns)


class Estimator(unittest.TestCase):
    def test_takes_batches(self):
        adata = cells(60)
        X = pnmf.tl.log_unit(adata.X)
        model = pnmf.PersistentNMF(rank=4, neighbors=6, max_scales=3)
        embedding = model.fit_transform(X, batch=adata.obs["run"])
        self.assertEqual(embedding.shape, (60, 4))
        self.assertIn("mixing", model.result_.batch_scores())
        self.assertIsNone(model.result_.batch_scores()["mixing_before"])
        with self.assertRaisesRegex(ValueError, "each of the 60 cells, got 2"):
            model.fit(X, batch=["a", "b"])
        with self.assertRaisesRegex(ValueError, "give their number"):
            pnmf.PersistentNMF(rank=4).fit(X, batch=adata.obs["run"])


if __name__ == "__main__":
    unittest.main()
