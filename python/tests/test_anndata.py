"""AnnData: what Python stores is what the program writes, bit for bit, and is read by the same code."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock
import warnings

import anndata
import numpy as np
import pandas as pd
import scipy.sparse
from sklearn.neighbors import kneighbors_graph

import pnmf
from pnmf._data import core_matrix, labels_of
from tables import anndata_of

PROGRAM = os.environ["PNMF_PROGRAM"]
# What only one of the two knows: how it was started, what was said while the file was read.
OF_ONE = {"command", "notices"}


def simulated(cells=60, genes=40, empty=False):
    drawn = pnmf.simulate.cells(cells=cells, genes=genes, types=3)
    counts = drawn.counts.tolil()
    if empty:
        counts[:, 7] = 0
    counts[:, 0] = 1
    adata = anndata_of(scipy.sparse.csr_matrix(counts))
    adata.obs["type"] = pd.Categorical([f"type{t + 1}" for t in drawn.types])
    return adata


def run_program(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


class FewCells(unittest.TestCase):
    def test_fits_of_very_few_cells_have_a_number_of_clusters_that_can_be(self):
        for cells in (5, 8, 9, 13, 33):
            for more in ({}, {"clusters": 1}, {"neighbors": cells - 1}):
                with self.subTest(cells=cells, more=more), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    adata = simulated(cells)
                    pnmf.tl.pnmf(adata, **more)
                    self.assertIn(adata.obs["pnmf_clusters"].nunique(), range(1, cells + 1))


class SameAsTheProgram(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.here = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def assert_same(self, ours, theirs, where="uns"):
        if isinstance(theirs, dict):
            self.assertEqual(set(ours) - OF_ONE, set(theirs) - OF_ONE, where)
            for name in set(theirs) - OF_ONE:
                self.assert_same(ours[name], theirs[name], f"{where}/{name}")
            return
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        self.assertEqual(ours.shape, theirs.shape, where)
        if theirs.dtype.kind == "f":
            self.assertEqual(ours.tobytes(), theirs.astype(ours.dtype).tobytes(), where)
        else:
            self.assertEqual(ours.astype(str).tolist(), theirs.astype(str).tolist(), where)

    def compare(self, adata, flags, preset="paper", **options):
        adata.write_h5ad(self.here / "data.h5ad")
        run_program("fit", "--preset", preset, self.here / "data.h5ad", "-o", self.here / "fit", "--overwrite", "--save-basis", *flags)
        written = anndata.read_h5ad(self.here / "fit" / "result.h5ad")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pnmf.tl.pnmf(adata, save_basis=True, preset=preset, **options)
        self.assert_same(adata.uns["pnmf"], written.uns["pnmf"])
        self.assertTrue(np.array_equal(adata.obsm["X_pnmf"], written.obsm["X_pnmf"]))
        rows = adata.var_names.get_indexer(written.var_names)
        self.assertTrue(np.array_equal(adata.varm["pnmf_W"][rows], written.varm["pnmf_W"]))
        for name in set(written.obs) - {"type", "pnmf_sample"}:
            self.assertEqual(adata.obs[name].astype(str).tolist(), written.obs[name].astype(str).tolist(), name)

    def test_a_tissue_has_the_domains_and_types_of_the_program(self):
        adata = simulated(cells=90)
        adata.obsm["spatial"] = np.random.default_rng(0).random((90, 2))
        adata.obs["slice"] = pd.Categorical(["a", "b"] * 45)
        self.compare(adata, ["--domains", "3"], preset="auto", domains=3)
        self.compare(adata, ["--sample", "slice"], preset="spatial", sample_key="slice")
        slices = adata.uns["pnmf"]["space"]["slices"]
        self.assertEqual(list(slices["names"]), ["a", "b"])
        self.assertEqual(list(slices["of_cell"]), [0, 1] * 45)
        moved = np.asarray(slices["moved"])[np.asarray(slices["of_cell"])]
        places = np.asarray(adata.uns["pnmf"]["space"]["coordinates"])
        self.compare(adata, ["--unit-um", "2.5", "--max-sweeps", "2"], preset="auto", unit_um=2.5, max_sweeps=2)
        reach = adata.uns["pnmf"]["domains"]["micrometres"]
        np.testing.assert_allclose(reach, 2.5 * np.asarray(adata.uns["pnmf"]["epsilon"]))
        np.testing.assert_allclose(places[:, 0] - moved, adata.obsm["spatial"][:, 0], atol=1e-12)
        with self.assertRaisesRegex(ValueError, "for the preset spatial"):
            pnmf.tl.pnmf(adata, preset="cells", domains=3)
        adata.obsm["spatial"][5, 1] = np.nan
        with self.assertRaisesRegex(ValueError, "1 of 90 cells have none"):
            pnmf.tl.pnmf(adata)

    def test_sparse_counts_with_the_defaults(self):
        self.compare(simulated(), ["--max-scales", "6"], max_scales=6)

    def test_the_presets_for_cells_and_points(self):
        self.compare(simulated(), [], preset="auto")
        self.compare(simulated(), ["--genes", "30", "--space", "pca:5"], preset="cells", genes=30, space="pca:5")
        self.compare(simulated(), ["--normalize", "log", "--neighbors", "5"], preset="points", normalize="log", neighbors=5)

    def test_layers_raw_and_marked_genes_are_taken_by_both(self):
        adata = simulated()
        adata.layers["counts"] = adata.X.copy()
        adata.X = np.log1p(adata.X.toarray())
        self.compare(adata, [], preset="auto")
        self.assertEqual(json.loads(adata.uns["pnmf"]["input"])["layer"], "counts")
        scaled = simulated()
        scaled.raw = scaled.copy()
        scaled.X = scaled.X.toarray() - 1.0
        self.compare(scaled, [], preset="auto")
        self.assertEqual(json.loads(scaled.uns["pnmf"]["input"])["layer"], "raw")
        marked = simulated()
        marked.var["highly_variable"] = np.arange(marked.n_vars) % 2 == 0
        self.compare(marked, [], preset="auto")
        self.assertEqual(len(marked.uns["pnmf"]["features"]), (marked.n_vars + 1) // 2)

    def test_a_space_of_the_user_s_own(self):
        adata = simulated()
        adata.obsm["X_mine"] = np.random.default_rng(0).normal(size=(adata.n_obs, 3))
        self.compare(adata, ["--space", "obsm:X_mine"], preset="auto", space="obsm:X_mine")
        self.assertEqual(adata.uns["pnmf"]["space"]["name"], "obsm:X_mine")
        with self.assertRaisesRegex(ValueError, "obsm\\['X_other'\\] is missing"):
            pnmf.tl.pnmf(adata, space="obsm:X_other")
        adata.obsm["X_mine"][0, 0] = np.nan
        with self.assertRaisesRegex(ValueError, "must be finite"):
            pnmf.tl.pnmf(adata, space="obsm:X_mine")

    def test_scaled_values_alone_are_refused_with_a_way_out(self):
        adata = simulated()
        adata.X = adata.X.toarray() - 1.0
        with self.assertRaisesRegex(ValueError, "centred or scaled"):
            pnmf.tl.pnmf(adata)

    def test_dense_values_other_options_and_two_threads(self):
        adata = simulated()
        adata.X = adata.X.toarray()
        flags = "--rank 5 --lambda1 3 --alpha 2 --neighbors 7 --metric cosine --seeding random --seed 5 --threads 2 --max-scales 5".split()
        self.compare(
            adata, flags, rank=5, lambda1=3, alpha=2, neighbors=7, metric="cosine", seeding="random", random_state=5, threads=2, max_scales=5
        )

    def test_every_algorithm_and_precision(self):
        for algorithm in ["reference", "paper"]:
            self.compare(simulated(), ["--max-scales", "4", "--algorithm", algorithm], max_scales=4, algorithm=algorithm)
        self.compare(simulated(), ["--max-scales", "4", "--precision", "float"], max_scales=4, precision="float")

    def test_the_estimator_gives_the_program_s_numbers_for_a_plain_matrix(self):
        X, _ = pnmf.simulate.circles()
        np.save(self.here / "circles.npy", X)
        run_program("fit", "--preset", "paper", self.here / "circles.npy", "-o", self.here / "fit", "--save-basis", *"--rank 2 --lambda1 100 --lambda2 100 --max-scales 8 --threads 2".split())
        theirs = pnmf.read_result(self.here / "fit")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = pnmf.PersistentNMF(rank=2, lambda1=100, lambda2=100, max_scales=8, threads=2).fit(X)
        self.assertTrue(np.array_equal(ours.embeddings_, theirs.embeddings))
        for t in range(8):
            self.assertTrue(np.array_equal(ours.basis_(t), theirs.basis(t)))
        self.assertTrue(np.array_equal(ours.objective_, theirs.objective))
        self.assertEqual(ours.recommended_scale_, theirs.recommended)
        self.assertEqual(ours.result_.options, theirs.options)

    def test_baselines_are_the_program_s(self):
        X, _ = pnmf.simulate.circles()
        np.save(self.here / "circles.npy", X)
        for method in ["nmf", "gnmf", "tnmf", "ktnmf"]:
            run_program("baseline", method, self.here / "circles.npy", "-o", self.here / method, "--rank", "3")
            theirs = pnmf.read_result(self.here / method)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours = getattr(pnmf.baselines, method)(X, 3)
            self.assertTrue(np.array_equal(ours.embeddings, theirs.embeddings), method)
            self.assertTrue(np.array_equal(ours.basis(), theirs.basis()), method)
            self.assertEqual((ours.method, ours.options), (theirs.method, theirs.options))


class Tool(unittest.TestCase):
    def fitted(self, adata, **options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pnmf.tl.pnmf(adata, rank=4, max_scales=3, **options)

    def test_it_works_in_place_and_returns_nothing(self):
        adata = simulated()
        self.assertIsNone(self.fitted(adata))
        self.assertEqual(adata.obsm["X_pnmf"].shape, (60, 4))
        self.assertEqual(adata.varm["pnmf_W"].shape, (40, 4))
        self.assertIn("pnmf", adata.uns)

    def test_a_file_that_stays_on_the_disk_is_read(self):
        for sparse in [True, False]:
            adata = simulated()
            if not sparse:
                adata.X = adata.X.toarray()
            with tempfile.TemporaryDirectory() as folder:
                adata.write_h5ad(pathlib.Path(folder) / "data.h5ad")
                backed = anndata.read_h5ad(pathlib.Path(folder) / "data.h5ad", backed="r")
                copy = self.fitted(backed, copy=True)
                self.fitted(backed)
                backed.file.close()
            self.fitted(adata)
            self.assertTrue(np.array_equal(backed.obsm["X_pnmf"], adata.obsm["X_pnmf"]))
            self.assertTrue(np.array_equal(copy.obsm["X_pnmf"], adata.obsm["X_pnmf"]))

    def test_a_matrix_in_a_file_is_read_once(self):
        adata = simulated()
        adata.raw = adata.copy()
        with tempfile.TemporaryDirectory() as folder:
            adata.write_h5ad(pathlib.Path(folder) / "data.h5ad")
            backed = anndata.read_h5ad(pathlib.Path(folder) / "data.h5ad", backed="r")
            with unittest.mock.patch.object(pnmf._adata, "_in_memory", wraps=pnmf._adata._in_memory) as read:
                self.fitted(backed)
            backed.file.close()
        self.assertEqual(read.call_count, 1)

    def test_names_of_genes_that_occur_more_than_once_are_no_obstacle(self):
        adata = simulated(empty=True)
        self.fitted(adata)
        twins = simulated(empty=True)
        twins.var_names = ["twin"] * 10 + list(twins.var_names[10:])
        with self.assertWarnsRegex(UserWarning, "names of genes occur more than once"):
            pnmf.tl.pnmf(twins, rank=4, max_scales=3)
        self.assertTrue(np.array_equal(twins.varm["pnmf_W"], adata.varm["pnmf_W"]))

    def test_a_copy_leaves_the_original_as_it_is(self):
        adata = simulated()
        copy = self.fitted(adata, copy=True)
        self.assertNotIn("pnmf", adata.uns)
        self.assertNotIn("X_pnmf", adata.obsm)
        self.assertIn("pnmf", copy.uns)

    def test_another_key_keeps_both_results(self):
        adata = simulated()
        self.fitted(adata)
        self.fitted(adata, key_added="other", lambda1=5)
        self.assertEqual(pnmf.read_result(adata).options["lambda1"], 1)
        self.assertEqual(pnmf.read_result(adata, key="other").options["lambda1"], 5)
        self.assertIn("X_other", adata.obsm)
        self.assertIn("other_W", adata.varm)

    def test_a_layer_and_a_representation_are_used(self):
        adata = simulated()
        adata.layers["double"] = adata.X * 2
        adata.obsm["X_few"] = np.abs(adata.X[:, :10].toarray())
        self.fitted(adata, layer="double", key_added="layer", transform="none")
        self.fitted(adata, key_added="plain", transform="none")
        self.assertFalse(np.array_equal(adata.obsm["X_layer"], adata.obsm["X_plain"]))
        self.fitted(adata, use_rep="X_few", key_added="of_few", preset="paper")
        self.assertNotIn("of_few_W", adata.varm)
        direct = pnmf.PersistentNMF(rank=4, max_scales=3).fit(adata.obsm["X_few"])
        self.assertTrue(np.array_equal(direct.embeddings_, pnmf.read_result(adata, key="of_few").embeddings))

    def test_genes_without_counts_have_zero_weights(self):
        adata = simulated(empty=True)
        self.fitted(adata, save_basis=True)
        self.assertTrue((adata.varm["pnmf_W"][7] == 0).all())
        self.assertNotIn(adata.var_names[7], adata.uns["pnmf"]["features"])
        self.assertEqual(adata.uns["pnmf"]["W"].shape, (3, 39, 4))

    def test_a_stored_result_survives_the_file(self):
        adata = simulated()
        self.fitted(adata, save_basis=True)
        with tempfile.TemporaryDirectory() as folder:
            adata.write_h5ad(pathlib.Path(folder) / "kept.h5ad")
            read = pnmf.read_result(pathlib.Path(folder) / "kept.h5ad")
        held = pnmf.read_result(adata)
        self.assertTrue(np.array_equal(read.embeddings, held.embeddings))
        self.assertTrue(np.array_equal(read.basis(2), held.basis(2)))
        self.assertEqual(read.options, held.options)
        self.assertEqual(read.top_features(count=2), held.top_features(count=2))

    def test_consumers_of_representations_find_the_embedding(self):
        adata = simulated()
        self.fitted(adata)
        graph = kneighbors_graph(adata.obsm["X_pnmf"], 5)
        self.assertEqual(graph.shape, (60, 60))
        adata.obsp["connectivities"] = graph
        self.assertEqual(adata[:10].obsm["X_pnmf"].shape, (10, 4))

    def test_wrong_calls_are_explained(self):
        adata = simulated()
        with self.assertRaisesRegex(ValueError, r"layers\['raw'\] is missing"):
            pnmf.tl.pnmf(adata, layer="raw")
        with self.assertRaisesRegex(ValueError, r"obsm\['X_pca'\] is missing"):
            pnmf.tl.pnmf(adata, use_rep="X_pca")
        with self.assertRaisesRegex(ValueError, "would be replaced"):
            pnmf.tl.pnmf(adata, use_rep="X_pnmf")
        with self.assertRaisesRegex(TypeError, "lamda1"):
            pnmf.tl.pnmf(adata, lamda1=3)
        with self.assertRaisesRegex(ValueError, "transform must be one of none, log-unit, got 'log'"):
            pnmf.tl.pnmf(adata, transform="log")
        with self.assertRaisesRegex(ValueError, "uns\\['pnmf'\\] is missing"):
            pnmf.read_result(adata)
        self.fitted(adata)
        with self.assertRaisesRegex(ValueError, "was not kept"):
            pnmf.read_result(adata).basis(2)
        adata.X = scipy.sparse.csr_matrix(adata.X.multiply(np.arange(60)[:, None] != 3))
        with self.assertRaisesRegex(ValueError, "1 cell is zero in every gene: 3; leave them out, or, .*; adata\\["):
            pnmf.tl.pnmf(adata)


    def test_what_is_no_anndata_is_refused_with_what_makes_one(self):
        adata = simulated()
        pnmf.tl.pnmf(adata, rank=3, max_scales=2)
        table = pd.DataFrame(np.ones((5, 4)))
        for given, words in [("a/cells.h5ad", r"got str; read the file first: anndata.read_h5ad\('a/cells.h5ad'\)"),
                             (pathlib.Path("cells.h5ad"), "got PosixPath; read the file first"),
                             (table, "got DataFrame; anndata.AnnData"), (table.to_numpy(), "got ndarray; anndata.AnnData"),
                             (adata.X, "got csr_matrix; anndata.AnnData"), ({"X": table}, "got dict")]:
            for call in [
                lambda: pnmf.tl.pnmf(given),
                lambda: pnmf.tl.pnmf(given, copy=True),
                lambda: pnmf.tl.choose_rank(given),
                lambda: pnmf.tl.transform(given, adata),
                lambda: pnmf.tl.transform(adata.copy(), adata, graph=given),
                lambda: pnmf.tl.hierarchy(given),
                lambda: pnmf.tl.paths(given, root="0"),
                lambda: pnmf.write_report(adata, "page.html", data=given),
                lambda: pnmf.pl.embedding(adata, data=given),
            ]:
                with self.assertRaisesRegex(TypeError, "must be an AnnData, " + words):
                    call()
        with self.assertRaisesRegex(TypeError, "got DataFrame"):
            pnmf.read_result(table)


class Reordered(unittest.TestCase):
    """uns does not follow when cells are sorted or selected; what is read from it must."""

    @classmethod
    def setUpClass(cls):
        cls.adata = simulated()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pnmf.tl.pnmf(cls.adata, rank=4, max_scales=3, save_basis=True)
        cls.result = pnmf.read_result(cls.adata)
        cls.order = np.random.default_rng(1).permutation(60)

    def test_embeddings_clusters_and_scores_follow_the_cells(self):
        shuffled = self.adata[self.order].copy()
        result = pnmf.read_result(shuffled)
        self.assertTrue(result.whole)
        self.assertTrue(np.array_equal(result.embeddings, self.result.embeddings[:, self.order]))
        self.assertTrue(np.array_equal(result.clusters, self.result.clusters[:, self.order]))
        self.assertTrue(np.array_equal(result.embeddings[result.recommended], shuffled.obsm["X_pnmf"]))
        for t in range(3):
            self.assertEqual(
                pnmf.metrics.adjusted_rand_index(shuffled.obs["type"], result.clusters[t]),
                pnmf.metrics.adjusted_rand_index(self.adata.obs["type"], self.result.clusters[t]),
            )
        leaves = result.merge_tree[:, :2].astype(int)
        expected = self.result.merge_tree[:, :2].astype(int)
        kept = expected < 60
        self.assertTrue(np.array_equal(self.order[leaves[kept]], expected[kept]))
        self.assertTrue(np.array_equal(leaves[~kept], expected[~kept]))

    def test_a_check_of_a_shuffled_copy_finds_the_same(self):
        shuffled = self.adata[self.order].copy()
        one = pnmf.check(pnmf.tl.log_unit(self.adata.X), self.adata)
        other = pnmf.check(pnmf.tl.log_unit(shuffled.X), shuffled)
        np.testing.assert_array_equal([finding.measured for finding in one], [finding.measured for finding in other])

    def test_a_part_has_the_embeddings_of_its_cells(self):
        part = self.adata[[5, 3, 40]].copy()
        result = pnmf.read_result(part)
        self.assertFalse(result.whole)
        self.assertIsNone(result.merge_tree)
        self.assertTrue(np.array_equal(result.embeddings, self.result.embeddings[:, [5, 3, 40]]))
        with self.assertRaisesRegex(ValueError, "3 of its 60 cells are here"):
            pnmf.check(pnmf.tl.log_unit(part.X), part)

    def test_genes_that_were_taken_out_do_not_shift_the_others(self):
        genes = self.adata[:, 10:].copy()
        result = pnmf.read_result(genes)
        self.assertTrue(np.array_equal(result.basis(2), self.result.basis(2)))
        self.assertEqual(result.top_features(2), self.result.top_features(2))

    def test_cells_that_cannot_be_told_are_refused(self):
        renamed = self.adata.copy()
        renamed.obs_names = [f"cell {name}" for name in renamed.obs_names]
        with self.assertRaisesRegex(ValueError, "60 of 60 cells are not among those of the fit"):
            pnmf.read_result(renamed)
        old = self.adata.copy()  # as version 0.1 stored it
        for later in ["cells", "features", "input", "precision"]:
            del old.uns["pnmf"][later]
        self.assertTrue(np.array_equal(pnmf.read_result(old).embeddings, self.result.embeddings))
        with self.assertRaisesRegex(ValueError, "another order"):
            pnmf.read_result(old[self.order].copy())
        del old.obsm["X_pnmf"]
        with self.assertWarnsRegex(UserWarning, "does not name its cells"):
            pnmf.read_result(old)

    def test_the_module_scores_and_transforms_as_the_program_does(self):
        parts = pnmf.read_result(self.adata)._parts
        names = [str(name) for name in self.adata.var_names]
        new = simulated(cells=20)
        cells = (core_matrix(new.X), [f"new{j}" for j in range(20)], names)
        fitted = (core_matrix(self.adata.X), [str(name) for name in self.adata.obs_names], names)
        labels = labels_of(self.adata.obs["type"])
        ours = pnmf._core.metrics.score_result(parts, labels, None, 10, 10, 0, None)
        with tempfile.TemporaryDirectory() as folder:
            here = pathlib.Path(folder)
            self.adata.write_h5ad(here / "fit.h5ad")
            new.obs_names = cells[1]
            new.write_h5ad(here / "new.h5ad")
            done = subprocess.run([PROGRAM, "score", here / "fit.h5ad", "--labels", "type", "--json"], capture_output=True, text=True, check=True)
            scored = json.loads(done.stdout)
            for graph in [None, fitted]:
                embedded = pnmf._core.transform_result(parts, cells, [0, 2], graph, None, False, None)
                flags = [] if graph is None else ["--graph", here / "fit.h5ad"]
                run_program("transform", here / "fit.h5ad", here / "new.h5ad", "--scales", "1,3", "-o", here / "out.h5ad", *flags)
                out = anndata.read_h5ad(here / "out.h5ad")
                for scale, name in zip(embedded["scales"], ["X_pnmf_t1", "X_pnmf_t3"]):
                    self.assertTrue(np.array_equal(scale["H"], out.obsm[name]), name)
        self.assertEqual(ours["recommended"] + 1, scored["recommended"]["scale"])
        for one, other in zip(ours["scales"], scored["scales"]):
            self.assertAlmostEqual(one["ari"][0], other["ari"]["mean"], 12)

    def test_the_program_reads_a_shuffled_copy_as_python_does(self):
        shuffled = self.adata[self.order].copy()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "shuffled.h5ad"
            shuffled.write_h5ad(path)
            done = subprocess.run([PROGRAM, "score", path, "--labels", "type", "--json"], capture_output=True, text=True, check=True)
        scales = json.loads(done.stdout)["scales"]
        result = pnmf.read_result(shuffled)
        for scale, H in zip(scales, result.embeddings):
            scores = pnmf.metrics.score_embedding(H, shuffled.obs["type"])
            self.assertAlmostEqual(scale["ari"]["mean"], scores.ari[0])


if __name__ == "__main__":
    unittest.main()
