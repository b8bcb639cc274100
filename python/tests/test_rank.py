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
from scipy.optimize import nnls

import pnmf
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]


def some_product(cells=80, features=40, rank=3):
    random = np.random.default_rng(8)
    return random.gamma(0.5, size=(cells, rank)) @ random.gamma(0.5, size=(rank, features)) + 0.1 * random.random((cells, features))


class TablesOfCnmf(unittest.TestCase):
    """The files that cNMF writes, against their definitions."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.here = pathlib.Path(folder.name)
        cls.adata = anndata_of(scipy.sparse.csr_matrix(pnmf.simulate.cells(cells=90, genes=60, types=3).counts))
        cls.adata.obs_names = [f"cell{j}" for j in range(90)]
        cls.adata.var_names = [f"gene{i}" for i in range(60)]
        cls.adata.var["highly_variable"] = np.arange(60) < 50
        cls.adata.write_h5ad(cls.here / "cells.h5ad")
        cls.run_program("rank", "cells.h5ad", "--ranks", 3, "--restarts", 3, "-o", "ranks")
        cls.usages = cls.table("usages", ".consensus")
        cls.spectra = cls.table("spectra", ".consensus")
        cls.shares = cls.usages.div(cls.usages.sum(axis=1), axis=0).to_numpy()
        counts = cls.adata.X.toarray()
        cls.tpm = counts * (1e6 / counts.sum(axis=1, keepdims=True))

    @classmethod
    def run_program(cls, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=cls.here)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        return done.stdout

    @classmethod
    def table(cls, what, kind="", folder="ranks"):
        return pd.read_csv(cls.here / folder / f"{folder}.{what}.k_3.dt_0_5{kind}.txt", sep="\t", index_col=0)

    def test_usages_are_what_fits_each_cell_best(self):
        counts = self.adata.X.toarray()
        X = np.log1p(counts * (1e4 / counts.sum(axis=1, keepdims=True)))[:, :50]
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        self.assertEqual(list(self.spectra.columns), list(self.adata.var_names[:50]))
        np.testing.assert_allclose(self.spectra.sum(axis=1), 1.0, rtol=1e-4)
        expected = np.array([nnls(self.spectra.to_numpy().T, x)[0] for x in X])
        np.testing.assert_allclose(self.usages, expected, atol=1e-2 * expected.max())
        self.assertEqual(list(self.usages.index), list(self.adata.obs_names))
        self.assertEqual(list(self.usages.columns), ["1", "2", "3"])

    def test_scores_and_tpm_are_of_all_genes(self):
        z = (self.tpm - self.tpm.mean(axis=0)) / np.where(self.tpm.std(axis=0) > 0, self.tpm.std(axis=0), 1.0)
        expected = np.linalg.lstsq(self.shares, z, rcond=None)[0]
        found = self.table("gene_spectra_score")
        self.assertEqual(list(found.columns), list(self.adata.var_names))
        np.testing.assert_allclose(found, expected, atol=1e-2)
        expected = np.array([nnls(self.shares, gene)[0] for gene in self.tpm.T]).T
        np.testing.assert_allclose(self.table("gene_spectra_tpm"), expected, rtol=1e-2, atol=1e-3 * expected.max())

    def test_logarithms_give_the_first_two_alone(self):
        logs = self.adata.copy()
        logs.X = np.log1p(self.tpm / 100)
        logs.write_h5ad(self.here / "logs.h5ad")
        self.run_program("rank", "logs.h5ad", "--ranks", 3, "--restarts", 2, "-o", "logs")
        self.assertEqual(self.table("usages", ".consensus", "logs").shape, (90, 3))
        self.assertFalse((self.here / "logs" / "logs.gene_spectra_tpm.k_3.dt_0_5.txt").exists())

    def test_new_cells_are_projected_onto_the_programs(self):
        self.run_program("transform", "ranks", "cells.h5ad", "-o", "projected.h5ad")
        H = anndata.read_h5ad(self.here / "projected.h5ad").obsm["X_pnmf"]
        np.testing.assert_allclose(H, anndata.read_h5ad(self.here / "ranks" / "result.h5ad").obsm["X_pnmf"], atol=1e-2 * H.max())
        new = self.adata[:20].copy()
        pnmf.tl.transform(new, self.here / "ranks")
        np.testing.assert_allclose(new.obsm["X_pnmf"], H[:20], atol=1e-6)
        with self.assertRaisesRegex(ValueError, "result of consensus, which has no options of a fit"):
            pnmf.tl.transform(new, self.here / "ranks", graph=self.adata)

    def test_gene_sets_are_looked_up_in_them(self):
        best = pnmf.read_result(self.here / "ranks").programs(8)
        (self.here / "sets.gmt").write_text("mine\t\t" + "\t".join(best.loc[best["program"] == "P1", "gene"]) + "\n")
        said = self.run_program("programs", "ranks", "--gmt", "sets.gmt", "--best", 10, "--smallest-set", 5)
        self.assertIn("mine: 8 of 8 genes", said)


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
