"""Paths and trees of groups in Python: the same as in the program, in the form Scanpy reads, and what is refused."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import anndata
import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import is_valid_linkage
from scipy.stats import spearmanr

import pnmf
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]


def fork(cells=200):
    drawn = pnmf.simulate.branches(cells=cells, genes=400, ends=2, changed=0.6, depth=10_000, dispersion=0.05, random_state=1)
    adata = anndata_of(drawn.counts)
    adata.obs["branch"] = pd.Categorical([f"branch{b + 1}" for b in drawn.branch])
    adata.obs["true_time"] = drawn.time
    pnmf.tl.pnmf(adata, max_scales=6)
    return adata


class Paths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.adata = fork()
        cls.start = str(cls.adata.obs_names[cls.adata.obs["true_time"].argmin()])

    def test_follow_the_known_order_and_decide_on_the_arms(self):
        pnmf.tl.paths(self.adata, self.start, groupby="branch", ends=["branch2", "branch3"])
        time, fates = self.adata.obs["pnmf_time"], self.adata.obsm["pnmf_fates"]
        self.assertGreater(spearmanr(time, self.adata.obs["true_time"])[0], 0.9)
        np.testing.assert_allclose(fates.sum(axis=1), 1.0, atol=1e-6)
        late = self.adata.obs["true_time"].to_numpy() > 1.5
        for column, branch in enumerate(("branch2", "branch3")):
            there = late & (self.adata.obs["branch"] == branch).to_numpy()
            self.assertGreater((fates[there, column] > 0.5).mean(), 0.9)
        self.assertEqual(self.adata.uns["pnmf"]["paths"]["root"], self.start)

    def test_are_those_of_the_program(self):
        pnmf.tl.paths(self.adata, "branch1", groupby="branch")
        with tempfile.TemporaryDirectory() as name:
            path, table = pathlib.Path(name) / "result.h5ad", pathlib.Path(name) / "paths.tsv"
            self.adata.write_h5ad(path)
            done = subprocess.run([PROGRAM, "paths", path, "--root", "branch1", "--groups", "branch", "-o", table], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            theirs = pd.read_csv(table, sep="\t", index_col=0, float_precision="round_trip")
        np.testing.assert_array_equal(theirs["time"], self.adata.obs["pnmf_time"])
        np.testing.assert_array_equal(theirs.iloc[:, 1:], self.adata.obsm["pnmf_fates"])

    def test_do_not_depend_on_the_order_of_the_cells(self):
        turned = self.adata[::-1].copy()
        pnmf.tl.paths(self.adata, self.start)
        pnmf.tl.paths(turned, self.start)
        np.testing.assert_allclose(turned.obs["pnmf_time"], self.adata.obs["pnmf_time"][::-1], atol=1e-12)

    def test_need_the_data_where_there_is_no_space(self):
        adata = anndata_of(self.adata.X)
        pnmf.tl.pnmf(adata, max_scales=4, space="none")
        pnmf.tl.paths(adata, str(adata.obs_names[0]))
        self.assertEqual(adata.obs["pnmf_time"].iloc[0], 0.0)

    def test_refuse_what_is_not_there(self):
        for arguments, reason in (
            ({"root": "nowhere"}, "neither a cell nor a group of 'pnmf_clusters'"),
            ({"root": self.start, "groupby": "kind"}, r"obs\['kind'\] is missing"),
            ({"root": self.start, "groupby": "branch", "ends": ["branch9"]}, "'branch9' is no group of 'branch', there are branch1"),
            ({"root": self.start, "groupby": "branch", "ends": ["branch2", "branch2"]}, "named twice"),
            ({"root": self.start, "direction": -1.0}, "direction"),
        ):
            with self.assertRaisesRegex(ValueError, reason):
                pnmf.tl.paths(self.adata, **arguments)
        part = self.adata[:50].copy()
        with self.assertRaisesRegex(ValueError, "cells"):
            pnmf.tl.paths(part, str(part.obs_names[0]))

    def test_one_group_is_one_end(self):
        self.adata.obs["one"] = "all"
        pnmf.tl.paths(self.adata, self.start, groupby="one")
        np.testing.assert_allclose(self.adata.obsm["pnmf_fates"], 1.0, atol=1e-6)


class Hierarchy(unittest.TestCase):
    def test_is_stored_as_scanpy_stores_its_own(self):
        adata = fork(120)
        pnmf.tl.hierarchy(adata, "branch")
        tree = adata.uns["dendrogram_branch"]
        self.assertTrue(is_valid_linkage(tree["linkage"]))
        self.assertEqual(sorted(tree["categories_ordered"]), ["branch1", "branch2", "branch3"])
        self.assertEqual([["branch1", "branch2", "branch3"][i] for i in tree["categories_idx_ordered"]], tree["categories_ordered"])
        for name in ("icoord", "dcoord", "ivl", "leaves"):
            self.assertIn(name, tree["dendrogram_info"])
        self.assertEqual(tree["correlation_matrix"].shape, (3, 3))
        self.assertEqual(tree["groupby"], ["branch"])
        with tempfile.TemporaryDirectory() as name:
            adata.write_h5ad(pathlib.Path(name) / "kept.h5ad")
            kept = anndata.read_h5ad(pathlib.Path(name) / "kept.h5ad").uns["dendrogram_branch"]
        np.testing.assert_array_equal(kept["linkage"], tree["linkage"])

    def test_refuses_one_group(self):
        adata = fork(60)
        adata.obs["one"] = "all"
        with self.assertRaisesRegex(ValueError, "at least two"):
            pnmf.tl.hierarchy(adata, "one")


if __name__ == "__main__":
    unittest.main()
