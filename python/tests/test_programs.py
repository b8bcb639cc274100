"""Programs: genes that mark components, their scores against slow twins, gene sets against SciPy."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import anndata
import numpy as np
import pandas as pd
from scipy.stats import hypergeom
from sklearn.model_selection import GridSearchCV

import pnmf
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]


def fitted(**options):
    drawn = pnmf.simulate.cells(cells=120, genes=80, types=3)
    adata = anndata_of(drawn.counts)
    adata.var_names = [f"gene{g}" for g in range(adata.n_vars)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pnmf.tl.pnmf(adata, rank=4, save_basis=True, **options)
    return adata


class Programs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.adata = fitted()
        cls.result = pnmf.read_result(cls.adata)

    def prepared(self):
        """The values that were factorised, cells x genes of the fit, in full precision."""
        counts = self.adata.X.toarray()
        logs = np.log1p(counts * (1e4 / counts.sum(axis=1, keepdims=True)))
        genes = self.adata.var_names.get_indexer(self.result.var_names)
        logs = logs[:, genes]
        return logs / np.linalg.norm(logs, axis=1, keepdims=True)

    def usages(self):
        H = self.result.embeddings[self.result.recommended].astype(float)
        shares = H * self.result.basis().sum(axis=1).astype(float)
        return shares / shares.sum(axis=1, keepdims=True)

    def test_scores_are_the_regression_of_z_scores_on_usages(self):
        X = self.prepared()
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        expected = np.linalg.lstsq(self.usages(), Z, rcond=None)[0]
        scores = np.asarray(self.adata.uns["pnmf"]["programs"]["scores"])
        self.assertEqual(scores.dtype, np.float32)
        np.testing.assert_allclose(scores, expected.T, atol=1e-3)

    def test_scanpy_finds_programs_where_it_keeps_the_genes_of_groups(self):
        adata = self.adata.copy()
        pnmf.tl.rank_genes_groups(adata, 7)
        with tempfile.TemporaryDirectory() as folder:
            adata.write_h5ad(pathlib.Path(folder) / "kept.h5ad")
            kept = anndata.read_h5ad(pathlib.Path(folder) / "kept.h5ad")
        stored = kept.uns["rank_genes_groups"]
        # What scanpy.get.rank_genes_groups_df and scanpy.pl.rank_genes_groups read.
        for name, kind in (("names", "O"), ("scores", "f4"), ("logfoldchanges", "f4"), ("pvals", "f8"), ("pvals_adj", "f8")):
            self.assertEqual(stored[name].dtype.names, ("P1", "P2", "P3", "P4"), name)
            self.assertEqual([stored[name].dtype[k] for k in range(4)], [np.dtype(kind)] * 4, name)
            self.assertEqual(stored[name].shape, (7,), name)
        frame = pd.concat([pd.DataFrame(stored[name])["P3"] for name in ("names", "scores")], axis=1)
        table = self.result.programs(7)
        expected = table[table["program"] == "P3"]
        self.assertEqual(frame.iloc[:, 0].tolist(), expected["gene"].tolist())
        np.testing.assert_allclose(frame.iloc[:, 1], expected["score"], rtol=1e-6)
        self.assertTrue(np.isnan(stored["pvals"]["P1"]).all())
        self.assertLessEqual({"groupby", "reference", "method", "use_raw", "corr_method"}, set(stored["params"]))
        groups = kept.obs[stored["params"]["groupby"]]
        self.assertEqual(list(groups.cat.categories), ["P1", "P2", "P3", "P4"])
        usages = adata.obsm["X_pnmf"]
        self.assertEqual(groups.iloc[int(usages[:, 1].argmax())], "P2")

    def test_the_table_lists_the_best_genes_in_order(self):
        scores = np.asarray(self.adata.uns["pnmf"]["programs"]["scores"])
        table = pnmf.tl.programs(self.adata, count=7)
        self.assertEqual(list(table.columns), ["program", "gene", "score", "rank", "scale"])
        self.assertEqual(len(table), 4 * 7)
        third = table[table.program == "P3"]
        self.assertEqual(third["rank"].tolist(), list(range(1, 8)))
        best = np.argsort(-scores[:, 2], kind="stable")[:7]
        self.assertEqual(third.gene.tolist(), [str(self.result.var_names[g]) for g in best])
        self.assertTrue(np.array_equal(third.score, scores[best, 2]))
        self.assertTrue((table.scale == self.result.recommended).all())
        self.assertEqual(len(self.result.programs(None)), 4 * len(self.result.var_names))

    def test_the_summary_knows_the_depth_where_counts_were_read(self):
        counts = np.asarray(self.adata.X.sum(axis=1)).ravel()
        self.assertTrue(np.array_equal(self.adata.obs["pnmf_counts"], counts))
        summary = self.result.program_summary()
        shown = summary.persistence * summary.between_clusters
        self.assertTrue((np.diff(shown) <= 0).all(), "those first that are found at many scales and mark clusters")
        summary = summary.sort_index()
        expected = [np.corrcoef(usage, counts)[0, 1] for usage in self.usages().T]
        np.testing.assert_allclose(summary.depth_correlation, expected, atol=1e-6)
        self.assertTrue(np.array_equal(summary.depth_driven, np.abs(expected) > 0.5))
        self.assertTrue(((summary.persistence > 0) & (summary.persistence <= 1)).all())
        self.assertTrue((summary.first_scale <= self.result.recommended).all())
        self.assertTrue((summary.last_scale >= self.result.recommended).all())
        logs = self.adata.copy()
        logs.X = np.log1p(logs.X.toarray())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pnmf.tl.pnmf(logs, rank=4, key_added="logs")
        self.assertNotIn("depth_correlation", pnmf.read_result(logs, key="logs").program_summary())

    def test_the_program_writes_and_shows_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            self.adata.write_h5ad(here / "data.h5ad")
            subprocess.run([PROGRAM, "fit", here / "data.h5ad", "-o", here / "fit", "--rank", "4"], check=True, capture_output=True)
            written = pd.read_csv(here / "fit" / "programs.tsv", sep="\t")
            ours = self.result.programs(100)
            self.assertEqual(written.gene.tolist(), ours.gene.tolist())
            self.assertEqual(written.program.tolist(), ours.program.tolist())
            np.testing.assert_allclose(written.score, ours.score, rtol=1e-5)
            self.assertTrue((written.scale == self.result.recommended + 1).all())
            shown = subprocess.run([PROGRAM, "programs", here / "fit", "--list", "3"], check=True, capture_output=True, text=True).stdout
        self.assertIn("  " + " ".join(ours[ours.program == "P2"].gene[:3]) + "\n", shown)

    def test_gene_sets_are_tested_as_scipy_does(self):
        table = self.result.programs(20)
        names = [str(name) for name in self.result.var_names]
        planted = table[table.program == "P1"].gene.tolist()[:8]
        sets = {"planted": [*planted, "no such gene"], "others": names[::7], "few": names[:2]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "sets.gmt"
            path.write_text("".join("\t".join([name, "about", *genes]) + "\n" for name, genes in sets.items()))
            found = self.result.enrichment(path, best=20)
            first = found.iloc[0]
            self.assertEqual((first.program, first.set, first.overlap, first["size"]), ("P1", "planted", 8, 8))
            self.assertEqual(first.genes, planted)
            self.assertNotIn("few", set(found.set))
            for row in found.itertuples():
                best = self.result.programs(20)
                drawn = best[(best.program == row.program) & (best.score > 0)].gene
                expected = hypergeom.sf(row.overlap - 1, len(names), row.size, len(drawn))
                self.assertAlmostEqual(row.p_value / expected, 1.0, 9)
            # Benjamini and Hochberg over 4 programs x 2 sets.
            self.assertAlmostEqual(first.adjusted, min(1.0, first.p_value * 8), 12)
            with self.assertRaisesRegex(ValueError, "a gene set is a name"):
                path.write_text("nothing of the kind\n")
                self.result.enrichment(path)

    def test_a_page_is_written_from_what_python_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            pnmf.write_report(self.adata, here / "ours.html")
            pnmf.write_report(self.result, here / "alone.html")
            self.adata.write_h5ad(here / "fit.h5ad")
            pnmf.write_report(here / "fit.h5ad", here / "of_file.html", data=self.adata)
            (here / "link").symlink_to("fit.h5ad")
            with self.assertRaisesRegex(ValueError, "is the fit itself"):
                pnmf.write_report(here / "fit.h5ad", here / "link")
            done = subprocess.run([PROGRAM, "report", here / "fit.h5ad", "--input", here / "fit.h5ad", "-o", here / "theirs.html"], capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            size = {page.stem: page.stat().st_size for page in here.glob("*.html")}
            self.assertIn("<html", (here / "ours.html").read_text(encoding="utf-8")[:200])
        self.assertLess(size["alone"], size["ours"])  # without colours by gene
        self.assertLess(abs(size["of_file"] - size["ours"]), 100)
        self.assertLess(abs(size["theirs"] - size["ours"]), 2000)  # the title, and other columns of obs

    def test_a_fit_follows_its_cells_when_they_are_shuffled(self):
        shuffled = self.adata[np.random.default_rng(0).permutation(self.adata.n_obs)][:, self.adata.var_names[::-1]].copy()
        self.assertTrue(pnmf.tl.programs(shuffled).equals(pnmf.tl.programs(self.adata)))


class Estimator(unittest.TestCase):
    def setUp(self):
        self.X, _ = pnmf.simulate.circles()

    def test_n_components_is_the_rank(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            one = pnmf.PersistentNMF(n_components=3, max_scales=2).fit(self.X)
            other = pnmf.PersistentNMF(rank=3, max_scales=2).fit(self.X)
            self.assertTrue(np.array_equal(one.embeddings_, other.embeddings_))
            adata = anndata_of(self.X)
            pnmf.tl.pnmf(adata, n_components=3, max_scales=2)
        self.assertEqual(adata.obsm["X_pnmf"].shape[1], 3)
        with self.assertRaisesRegex(ValueError, "two names of one thing"):
            pnmf.PersistentNMF(rank=2, n_components=3).fit(self.X)

    def test_the_score_is_the_share_that_is_explained(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pnmf.PersistentNMF(rank=2, max_scales=2).fit(self.X)
            rest = self.X - model.inverse_transform(model.transform(self.X))
            self.assertAlmostEqual(model.score(self.X), 1 - np.sum(rest**2) / np.sum(self.X**2), 10)
            search = GridSearchCV(pnmf.PersistentNMF(max_scales=2), {"n_components": [1, 3]}, cv=2).fit(self.X)
        self.assertEqual(search.best_params_, {"n_components": 3})


if __name__ == "__main__":
    unittest.main()
