"""Loops in Python: the phases of the program, the genes that follow them, and what is refused."""

import base64
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import zlib

import anndata
import numpy as np

import pnmf

PROGRAM = os.environ["PNMF_PROGRAM"]


def circle(cells=300, genes=60, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, cells)
    counts = rng.poisson(20 * np.exp(0.8 * np.cos(angle[:, None] - rng.uniform(0, 2 * np.pi, genes))))
    return anndata.AnnData(counts.astype("float32")), angle


def agreement(a, b):
    """1 when two lists of angles are the same up to a turn and the direction."""
    return max(abs(np.exp(1j * (np.asarray(a) - sign * b)).mean()) for sign in (1, -1))


class Loops(unittest.TestCase):
    def test_phases_and_genes_are_stored_and_turned_as_asked(self):
        adata, angle = circle()
        pnmf.tl.loops(adata, clouds=19)
        self.assertGreater(agreement(adata.obs["pnmf_loop_1"], angle), 0.9)
        stored = adata.uns["pnmf_loops"]
        self.assertEqual(list(stored["p_values"]), [0.05])
        self.assertAlmostEqual(stored["death"][0] - stored["birth"][0], stored["persistence"][0])
        self.assertTrue((stored["death"] - stored["birth"])[1:].max() <= stored["chance"] < stored["persistence"][0])
        self.assertEqual(len(stored["joins"]), 199)
        genes = stored["genes_1"]
        self.assertTrue(genes["share"].is_monotonic_decreasing)
        first = genes.index[0]
        pnmf.tl.loops(adata, clouds=19, genes_zero=[first])
        self.assertAlmostEqual(np.cos(adata.uns["pnmf_loops"]["genes_1"].loc[first, "peak"]), 1.0)
        with self.assertRaisesRegex(ValueError, "none of the 60 genes"):
            pnmf.tl.loops(adata, clouds=19, genes_zero=["nobody"])

    def test_the_program_finds_the_same_phases(self):
        adata, _ = circle(cells=150)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cells.h5ad"
            adata.write_h5ad(path)
            subprocess.run([PROGRAM, "loops", path, "--clouds", "19", "--keep"], capture_output=True, check=True)
            kept = anndata.read_h5ad(path).obs["pnmf_loop_1"]
        pnmf.tl.loops(adata, clouds=19)
        np.testing.assert_array_equal(adata.obs["pnmf_loop_1"], kept)

    def test_no_loop_leaves_no_column_of_an_earlier_one(self):
        adata, _ = circle()
        pnmf.tl.loops(adata, clouds=19)
        adata.X = np.random.default_rng(1).poisson(20, adata.shape).astype("float32")
        pnmf.tl.loops(adata, clouds=19)
        self.assertNotIn("pnmf_loop_1", adata.obs)
        self.assertEqual(len(adata.uns["pnmf_loops"]["p_values"]), 0)
        with self.assertRaisesRegex(ValueError, "was not run, or found no such loop"):
            pnmf.pl.loop(adata)

    def test_a_page_has_the_diagram(self):
        adata, _ = circle(cells=100)
        pnmf.tl.pnmf(adata, rank=3, max_scales=3, preset="cells")
        for kept in (False, True):
            if kept:
                pnmf.tl.loops(adata, clouds=19)
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "page.html"
                pnmf.write_report(adata, path)
                core = re.search(r'id="pnmf-0-core">([^<]*)<', path.read_text())[1]
            self.assertEqual(b'"loop_births"' in zlib.decompress(base64.b64decode(core)), kept)

    def test_loops_of_a_space_are_drawn(self):
        adata, angle = circle()
        adata.obsm["X_mine"] = np.column_stack([np.cos(angle), np.sin(angle)]) + np.random.default_rng(0).normal(0, 0.1, (300, 2))
        pnmf.tl.loops(adata, use_rep="X_mine", clouds=19, key_added="mine")
        self.assertGreater(agreement(adata.obs["mine_loop_1"], angle), 0.98)
        ax = pnmf.pl.loop(adata, genes=5, key="mine")
        self.assertEqual(ax.name, "polar")
        self.assertEqual(len(ax.texts), 5)

    def test_a_loop_is_left_out_of_a_fit_by_its_number_or_its_phases(self):
        adata, _ = circle(cells=200)
        few = {"rank": 4, "max_scales": 3, "preset": "cells"}
        pnmf.tl.pnmf(adata, without_loop=1, **few)
        number = np.array(adata.uns["pnmf"]["space"]["coordinates"])
        self.assertIn("without-loop", str(adata.uns["pnmf"]["input"]))
        pnmf.tl.loops(adata, clouds=19)
        pnmf.tl.pnmf(adata, without_loop="pnmf_loop_1", **few)
        np.testing.assert_array_equal(adata.uns["pnmf"]["space"]["coordinates"], number)
        pnmf.tl.pnmf(adata, **few)
        whole = np.array(adata.uns["pnmf"]["space"]["coordinates"])
        self.assertLess(np.square(number).sum(), 0.9 * np.square(whole).sum())
        with self.assertRaisesRegex(ValueError, "there is no loop 7 to leave out"):
            pnmf.tl.pnmf(adata, without_loop=7, **few)


if __name__ == "__main__":
    unittest.main()
