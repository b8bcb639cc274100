"""The rank by restarts: the same in Python and in the program, kept in an AnnData, and drawn."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy.sparse

import pnmf
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]


def some_product(cells=80, features=40, rank=3):
    random = np.random.default_rng(8)
    return random.gamma(0.5, size=(cells, rank)) @ random.gamma(0.5, size=(rank, features)) + 0.1 * random.random((cells, features))


class Curve(unittest.TestCase):
    def test_both_rules_are_those_of_the_definition(self):
        curve = pnmf.choose_rank(some_product(), ranks=[1, 2, 3, 5, 8], random_state=1)
        self.assertEqual(curve.ranks.tolist(), [1, 2, 3, 5, 8])
        self.assertLess(curve.error[2], 0.2 * curve.error[1], "the product has rank 3")
        best = curve.error.argmin()
        self.assertEqual(curve.by_error, curve.ranks[curve.error - curve.error[best] <= curve.difference_deviation].min())
        self.assertEqual(curve.chosen, curve.by_error)
        self.assertGreater(curve.stability[2], curve.stability[4])
        self.assertEqual(pnmf.choose_rank(some_product(), ranks=[1, 2, 3, 5, 8], random_state=1, rule="stability").chosen, curve.by_stability)

    def test_a_seed_decides_and_threads_do_not(self):
        one = pnmf.choose_rank(some_product(), ranks=[2, 4], restarts=3, random_state=1, threads=1)
        for threads in [None, 3]:
            again = pnmf.choose_rank(some_product(), ranks=range(2, 5, 2), restarts=3, random_state=1, threads=threads)
            self.assertTrue(np.array_equal(again.error, one.error))
            self.assertTrue(np.array_equal(again.stability, one.stability))
            self.assertTrue(all(np.array_equal(a, b) for a, b in zip(again.programs, one.programs)))
        self.assertFalse(np.array_equal(pnmf.choose_rank(some_product(), ranks=[2, 4], restarts=3).error, one.error))

    def test_consensus_programs_have_names_and_are_those_of_the_product(self):
        frame = pd.DataFrame(some_product(), columns=[f"gene{i}" for i in range(40)])
        curve = pnmf.choose_rank(frame, ranks=[2, 3], restarts=5)
        table = curve.consensus(3)
        self.assertEqual(list(table.columns[:2]), ["gene0", "gene1"])
        self.assertEqual(list(table.index), ["P1", "P2", "P3"])
        np.testing.assert_allclose(np.linalg.norm(table, axis=1), 1.0)
        self.assertEqual(table.attrs["stability"], curve.program_stability[1].tolist())
        self.assertTrue((np.diff(curve.program_stability[1]) <= 0).all(), "the most stable first")
        self.assertAlmostEqual(curve.program_stability[1].mean(), curve.stability[1], 12)
        with self.assertRaisesRegex(ValueError, "rank 9 was not tried"):
            curve.consensus(9)
        self.assertEqual(list(curve.to_frame().columns), ["error", "standard_error", "difference_error", "stability", "consensus_error"])

    def test_sparse_data_are_near_dense_ones(self):
        X = np.where(some_product() > 0.3, some_product(), 0.0)
        dense = pnmf.choose_rank(X, ranks=[3], restarts=3)
        sparse = pnmf.choose_rank(scipy.sparse.csr_matrix(X), ranks=3, restarts=3)
        np.testing.assert_allclose(sparse.error, dense.error, rtol=1e-2)

    def test_wrong_input_is_explained(self):
        X = some_product()
        for given, message in [
            ({"ranks": []}, "ranks is empty"),
            ({"ranks": [0]}, "between 1 and 40, got 0"),
            ({"ranks": [41]}, "between 1 and 40, got 41"),
            ({"ranks": [3, 2]}, "must ascend"),
            ({"ranks": [2.5]}, "whole numbers"),
            ({"restarts": 1}, "at least 2, got 1"),
            ({"held_out": 1.0}, "above 0 and below 1"),
            ({"rule": "best"}, "rule must be error or stability, got best"),
        ]:
            with self.subTest(given=given), self.assertRaisesRegex(ValueError, message):
                pnmf.choose_rank(X, **given)
        with self.assertRaisesRegex(ValueError, "at least 0"):
            pnmf.choose_rank(-X)

    def test_a_callback_sees_every_fit_and_its_error_ends_the_run(self):
        seen = []
        pnmf.choose_rank(some_product(), ranks=[2, 3], restarts=3, callback=lambda report: seen.append(report["fraction"]))
        self.assertEqual(seen[-1], 1.0)
        self.assertEqual(seen, sorted(seen))

        def stop(report):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            pnmf.choose_rank(some_product(), ranks=range(2, 30), restarts=50, callback=stop)


class InAnnData(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.adata = pnmf.simulate.cells(cells=120, genes=200, types=3, fold=2.0).to_anndata()
        cls.curve = pnmf.tl.choose_rank(cls.adata, range(2, 5), restarts=3, random_state=4)

    def test_the_program_finds_the_same_numbers(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cells.h5ad"
            plain = self.adata.copy()
            plain.uns.clear()
            plain.write_h5ad(path)
            command = [PROGRAM, "rank", path, "--ranks", "2:4", "--restarts", "3", "--seed", "4", "--json"]
            found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        self.assertEqual([one["error"] for one in found["ranks"]], self.curve.error.tolist())
        self.assertEqual([one["stability"] for one in found["ranks"]], self.curve.stability.tolist())
        self.assertEqual(found["chosen"], self.curve.chosen)

    def test_what_is_kept_survives_a_file_and_is_drawn(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cells.h5ad"
            self.adata.write_h5ad(path)
            read = anndata.read_h5ad(path)
        again = pnmf.RankCurve.from_dict(read.uns["pnmf_rank"])
        self.assertTrue(np.array_equal(again.error, self.curve.error))
        self.assertTrue(again.consensus(3).equals(self.curve.consensus(3)))
        self.assertEqual(list(again.consensus(3).columns[:2]), list(self.curve.features[:2]))
        ax = pnmf.pl.rank_curve(read)
        self.assertTrue(np.array_equal(ax.lines[0].get_ydata(), self.curve.stability))
        self.assertEqual(len(ax.get_legend().get_texts()), 2)
        self.assertIn("error", ax.right_ax.get_ylabel())
        plt.close("all")
        with self.assertRaisesRegex(ValueError, "run pnmf.tl.choose_rank first"):
            pnmf.pl.rank_curve(anndata_of(np.ones((2, 2))))

    def test_genes_and_layers_are_chosen_as_for_a_fit(self):
        adata = self.adata.copy()
        adata.layers["counts"] = adata.X.copy()
        adata.X = adata.X * 0.1
        self.assertTrue(np.array_equal(pnmf.tl.choose_rank(adata, range(2, 5), restarts=3, random_state=4).error, self.curve.error))
        few = pnmf.tl.choose_rank(adata, [2], restarts=2, genes=50, key_added="few")
        self.assertEqual(few.consensus().shape, (2, 50))
        mask = np.arange(adata.n_vars) < 60
        masked = pnmf.tl.choose_rank(adata, [2], restarts=2, mask_var=mask)
        self.assertEqual(masked.consensus().shape[1], 60)
        adata.obsm["points"] = np.abs(np.random.default_rng(0).normal(size=(120, 5)))
        self.assertEqual(pnmf.tl.choose_rank(adata, [2], restarts=2, use_rep="points").consensus().shape, (2, 5))


if __name__ == "__main__":
    unittest.main()
