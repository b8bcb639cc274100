"""Loom and MuData files, made by h5py as their documents describe them, against AnnData."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import anndata
import h5py
import numpy as np
import scipy.sparse

import pnmf
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]


def simulated():
    adata = anndata_of(scipy.sparse.csr_matrix(pnmf.simulate.cells(cells=60, genes=40, types=3).counts))
    adata.obs_names = [f"cell{j}" for j in range(60)]
    adata.var_names = [f"gene{i}" for i in range(40)]
    return adata


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, cwd=self.here)

    def converted(self, *arguments):
        done = self.run_program("convert", *arguments, "out.h5ad")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        return anndata.read_h5ad(self.here / "out.h5ad")

    def assert_refused(self, reason, *arguments):
        done = self.run_program(*arguments)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(reason, done.stderr)


class Loom(Files):
    def write(self, adata, **more):
        with h5py.File(self.here / "cells.loom", "w") as file:
            file.attrs["LOOM_SPEC_VERSION"] = "3.0.0"
            file.create_dataset("matrix", data=adata.X.toarray().T.astype(np.float32), chunks=(16, 16), compression="gzip")
            file["row_attrs/Gene"] = [name.encode() for name in adata.var_names]
            file["row_attrs/Accession"] = [f"ENSG{i}".encode() for i in range(adata.n_vars)]
            file["col_attrs/CellID"] = [name.encode() for name in adata.obs_names]
            file["col_attrs/Clusters"] = np.arange(adata.n_obs) % 3
            file["col_attrs/Tissue"] = [b"blood"] * adata.n_obs
            file["col_attrs/PCA"] = np.zeros((adata.n_obs, 2))  # not a column
            file["layers/spliced"] = adata.X.toarray().T * 2
            for name, values in more.items():
                file[f"col_attrs/{name}"] = values

    def test_is_read_with_its_names_and_columns(self):
        adata = simulated()
        self.write(adata)
        read = self.converted("cells.loom")
        self.assertIn("Loom", self.said)
        np.testing.assert_array_equal(read.X.toarray(), adata.X.toarray())
        self.assertEqual(list(read.obs_names), list(adata.obs_names))
        self.assertEqual(list(read.var_names), list(adata.var_names))
        self.assertEqual(list(read.var["Accession"])[:2], ["ENSG0", "ENSG1"])
        self.assertEqual(list(read.obs["Clusters"])[:4], [0, 1, 2, 0])
        self.assertEqual(set(read.obs["Tissue"]), {"blood"})
        self.assertNotIn("PCA", read.obs)
        (self.here / "out.h5ad").unlink()
        np.testing.assert_array_equal(self.converted("cells.loom", "--layer", "spliced").X.toarray(), 2 * adata.X.toarray())

    def test_is_data_for_a_fit_with_the_preset_for_cells(self):
        self.write(simulated())
        done = self.run_program("fit", "cells.loom", "-o", "fit", "--no-report", "--max-scales", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("preset cells", done.stderr)
        checked = self.run_program("check", "fit", "--data", "cells.loom")
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_what_is_wrong_is_said_with_its_place(self):
        self.write(simulated(), Wrong=np.arange(7))
        self.assert_refused("cells.loom:/col_attrs/Wrong: must have 60 values, by the matrix's shape, got 7", "convert", "cells.loom", "out.h5ad")
        self.write(simulated())
        self.assert_refused("has no layer 'ambiguous'; its layers are: spliced", "convert", "cells.loom", "out.h5ad", "--layer", "ambiguous")
        self.assert_refused("only MuData files have modalities", "convert", "cells.loom", "out.h5ad", "--modality", "rna")


class MuData(Files):
    def write(self, **modalities):
        with h5py.File(self.here / "both.h5mu", "w") as file:
            for name, adata in modalities.items():
                adata.write_h5ad(self.here / "one.h5ad")
                with h5py.File(self.here / "one.h5ad") as one:
                    one.copy("/", file, f"mod/{name}")
            first = f"mod/{next(iter(modalities))}"
            for frame in ("obs", "var"):
                file.copy(f"{first}/{frame}", file, frame)

    def test_one_of_its_modalities_is_read(self):
        rna, protein = simulated(), simulated()[:, :5].copy()
        protein.var_names = [f"CD{i}" for i in range(5)]
        self.write(adt=protein, rna=rna)
        read = self.converted("both.h5mu")
        self.assertIn("modality 'rna' of adt, rna", self.said)
        np.testing.assert_array_equal(read.X.toarray(), rna.X.toarray())
        (self.here / "out.h5ad").unlink()
        self.assertEqual(list(self.converted("both.h5mu", "--modality", "adt").var_names), list(protein.var_names))
        self.assert_refused("has no modality 'atac'; there are: adt, rna", "fit", "both.h5mu", "-o", "fit", "--modality", "atac")

    def test_the_data_of_a_fit_are_found_again(self):
        self.write(gex=simulated(), adt=simulated()[:, :5].copy())
        self.assert_refused("has no modality 'rna'; there are: adt, gex", "fit", "both.h5mu", "-o", "fit")
        done = self.run_program("fit", "both.h5mu", "-o", "fit", "--modality", "gex", "--no-report", "--max-scales", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        checked = self.run_program("check", "fit", "--data", "both.h5mu")
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_an_anndata_has_no_modalities(self):
        simulated().write_h5ad(self.here / "cells.h5ad")
        self.assert_refused("only MuData files have modalities", "fit", "cells.h5ad", "-o", "fit", "--modality", "rna")


if __name__ == "__main__":
    unittest.main()
