"""What an input has beside its values is in the result of the program, for whoever goes on with it in Scanpy."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import anndata
import h5py
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.neighbors import kneighbors_graph

import pnmf
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]
DROPPED = 5  # a cell without counts


def with_everything(empty=False):
    counts = pnmf.simulate.cells(cells=60, genes=40, types=3).counts.tolil()
    counts[:, 0] = 1
    if empty:
        counts[DROPPED, :] = 0
    adata = anndata_of(scipy.sparse.csr_matrix(counts))
    random = np.random.default_rng(0)
    adata.obsm["X_umap"] = random.normal(size=(60, 2)).astype(np.float32)
    adata.obsm["X_sparse"] = scipy.sparse.random(60, 4, 0.5, "csr", random_state=0)
    adata.obsm["protein"] = pd.DataFrame(random.normal(size=(60, 2)), index=adata.obs_names, columns=["CD3", "CD4"])
    adata.varm["PCs"] = random.normal(size=(40, 3))
    graph = kneighbors_graph(adata.obsm["X_umap"], 5, mode="distance")
    adata.obsp["distances"] = graph
    adata.obsp["connectivities"] = (graph + graph.T).astype(bool).astype(np.float32)
    adata.layers["counts"] = adata.X.copy()
    adata.layers["dense"] = adata.X.toarray() + 0.5
    adata.raw = adata.copy()
    adata.uns["neighbors"] = {"connectivities_key": "connectivities", "distances_key": "distances", "params": {"n_neighbors": 5}}
    adata.uns["pnmf"] = "of an earlier time"
    adata.uns["type_colors"] = np.array(["#ff0000", "#00ff00"], dtype=object)
    return adata


def dense(values):
    return values.toarray() if scipy.sparse.issparse(values) else np.asarray(values)


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def fit(self, *flags):
        command = [PROGRAM, "fit", self.here / "data.h5ad", "-o", self.here / "fit", "--overwrite", "--no-report", "--max-scales", "3", *flags]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return anndata.read_h5ad(self.here / "fit" / "result.h5ad"), done.stderr

    def assert_same(self, ours, theirs, what):
        self.assertEqual(type(ours), type(theirs), what)
        self.assertTrue(np.array_equal(dense(ours), dense(theirs)), what)

    def test_all_that_an_input_has_is_in_the_result(self):
        adata = with_everything()
        adata.write_h5ad(self.here / "data.h5ad")
        result, said = self.fit()
        self.assertNotIn("warning", said)
        self.assertEqual(list(result.var_names), list(adata.var_names))
        for part in ("obsm", "varm", "obsp", "layers"):
            for name, values in getattr(adata, part).items():
                self.assert_same(getattr(result, part)[name], values, f"{part}/{name}")
        self.assertEqual(result.obsm["X_umap"].dtype, np.float32)
        self.assert_same(result.raw.X, adata.raw.X, "raw")
        self.assertEqual(list(result.raw.var_names), list(adata.raw.var_names))
        self.assertEqual(result.uns["neighbors"], adata.uns["neighbors"])
        self.assertEqual(list(result.uns["type_colors"]), list(adata.uns["type_colors"]))
        self.assertIn("H", result.uns["pnmf"], "the result itself stands above what the input has")
        self.assertIn("X_pnmf", result.obsm)
        self.assertEqual(pnmf.read_result(self.here / "fit").recommended, result.uns["pnmf"]["recommended"])

    def test_matrices_follow_when_cells_and_genes_are_left_out(self):
        adata = with_everything(empty=True)
        adata.write_h5ad(self.here / "data.h5ad")
        result, _ = self.fit("--drop-empty", "--genes", "20")
        self.assertEqual(result.shape, (59, 20))
        same = adata[result.obs_names, result.var_names]
        for part in ("obsm", "varm", "obsp", "layers"):
            for name, values in getattr(same, part).items():
                if name not in ("X_sparse", "protein"):
                    self.assertTrue(np.array_equal(dense(getattr(result, part)[name]), dense(values)), f"{part}/{name}")
        self.assertNotIn("protein", result.obsm)
        self.assertEqual(result.raw.shape, (59, 40))
        self.assertTrue(np.array_equal(dense(result.raw.X), dense(adata.raw.X[np.arange(60) != DROPPED])))

    def test_results_alone_can_be_asked_for(self):
        with_everything().write_h5ad(self.here / "data.h5ad")
        result, _ = self.fit("--results-only")
        self.assertEqual(set(result.obsm), {"X_pnmf"})
        self.assertEqual((len(result.layers), len(result.obsp), result.raw), (0, 0, None))
        self.assertNotIn("neighbors", result.uns)

    def test_a_damaged_part_does_not_cost_the_result(self):
        with_everything().write_h5ad(self.here / "data.h5ad")
        with h5py.File(self.here / "data.h5ad", "r+") as file:
            del file["layers/dense"]
            file["layers"].create_dataset("dense", data=np.zeros((7, 40)))
        result, said = self.fit()
        self.assertIn("warning: the result is without obsm, obsp, layers, raw and uns of the input", said)
        self.assertIn("/layers/dense", said)
        self.assertEqual(set(result.obsm), {"X_pnmf"})


if __name__ == "__main__":
    unittest.main()
