"""New cells of an AnnData are embedded with the programs of a fit, as the program does it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import anndata
import numpy as np

import pnmf

PROGRAM = os.environ["PNMF_PROGRAM"]


class Transform(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        whole = pnmf.simulate.cells(cells=140, genes=200, types=3, fold=2.0).to_anndata()
        cls.old, cls.new = whole[:100].copy(), whole[100:].copy()
        pnmf.tl.pnmf(cls.old, rank=5, max_scales=4, precision="double", verbose=False)

    def test_it_is_what_the_program_writes(self):
        fresh = self.new.copy()
        pnmf.tl.transform(fresh, self.old)
        self.assertEqual(fresh.obsm["X_pnmf"].shape, (40, 5))
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.old.write_h5ad(folder / "fit.h5ad")
            self.new.write_h5ad(folder / "new.h5ad")
            done = subprocess.run([PROGRAM, "transform", folder / "fit.h5ad", folder / "new.h5ad", "-o", folder / "out.npy"], capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            np.testing.assert_array_equal(np.load(folder / "out.npy").reshape(40, 5), fresh.obsm["X_pnmf"])

    def test_a_file_of_the_program_serves_as_well(self):
        with tempfile.TemporaryDirectory() as name:
            path = pathlib.Path(name) / "fit.h5ad"
            self.old.write_h5ad(path)
            fresh = pnmf.tl.transform(self.new, path, copy=True, key_added="far")
        self.assertNotIn("X_far", self.new.obsm)
        self.assertEqual(fresh.obsm["X_far"].shape, (40, 5))
        self.assertTrue(fresh.uns["far_transform"]["converged"])

    def test_cells_of_the_fit_come_near_their_places_and_nearer_with_the_graph(self):
        places = self.old.obsm["X_pnmf"]
        apart = []
        for graph in [None, self.old]:
            again = pnmf.tl.transform(self.old, self.old, graph=graph, copy=True, key_added="again")
            apart.append(np.linalg.norm(again.obsm["X_again"] - places) / np.linalg.norm(places))
        self.assertLess(apart[0], 0.5)
        self.assertLess(apart[1], apart[0])

    def test_genes_are_matched_by_name(self):
        other = self.new[:, ::-1].copy()
        pnmf.tl.transform(other, self.old)
        self.new_embedding = pnmf.tl.transform(self.new, self.old, copy=True).obsm["X_pnmf"]
        np.testing.assert_allclose(other.obsm["X_pnmf"], self.new_embedding, atol=1e-6)
        few = self.new[:, 20:].copy()
        pnmf.tl.transform(few, self.old)
        self.assertEqual(len(few.uns["pnmf_transform"]["missing"]), 20)

    def test_what_is_missing_is_said(self):
        with self.assertRaisesRegex(ValueError, "the basis at scale . was not kept"):
            pnmf.tl.transform(self.new, self.old, scale=3 if pnmf.read_result(self.old).recommended != 3 else 2)
        with self.assertRaisesRegex(ValueError, "no fit is stored"):
            pnmf.tl.transform(self.new, self.new)
        with self.assertRaisesRegex(ValueError, "layers\\['nothing'\\] is missing"):
            pnmf.tl.transform(self.new, self.old, layer="nothing")

    def test_any_scale_of_a_fit_that_kept_its_bases(self):
        old = self.old.copy()
        pnmf.tl.pnmf(old, rank=5, max_scales=4, precision="double", save_basis=True, verbose=False)
        fresh = pnmf.tl.transform(self.new, old, scale=0, copy=True)
        self.assertEqual(fresh.uns["pnmf_transform"]["scale"], 0)
        self.assertTrue(np.isfinite(fresh.obsm["X_pnmf"]).all())

    def test_empty_cells_are_an_error_or_left_out(self):
        empty = self.new.copy()
        empty.X = empty.X.toarray()
        empty.X[3] = 0
        with self.assertRaises(ValueError):
            pnmf.tl.transform(empty, self.old)
        pnmf.tl.transform(empty, self.old, drop_empty=True)
        self.assertTrue(np.isnan(empty.obsm["X_pnmf"][3]).all())
        self.assertEqual(np.isnan(empty.obsm["X_pnmf"]).any(axis=1).sum(), 1)


if __name__ == "__main__":
    unittest.main()
