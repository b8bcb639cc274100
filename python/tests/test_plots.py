"""Every picture is drawn from an estimator, a stored result and an AnnData, and shows what it should."""

import pathlib
import tempfile
import unittest
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import pnmf
from tables import anndata_of


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        warnings.simplefilter("ignore")
        drawn = pnmf.simulate.cells(cells=60, genes=40, types=3)
        cls.types = drawn.types
        cls.adata = anndata_of(drawn.counts)
        cls.adata.obs["type"] = [f"type{t}" for t in drawn.types]
        pnmf.tl.pnmf(cls.adata, rank=4, max_scales=5, save_basis=True)
        cls.circles, cls.labels = pnmf.simulate.circles()
        cls.model = pnmf.PersistentNMF(rank=2, lambda1=100, lambda2=100, max_scales=5).fit(cls.circles)

    def tearDown(self):
        plt.close("all")

    def test_embeddings_have_a_panel_for_each_scale(self):
        axes = pnmf.pl.embeddings(self.model, labels=self.labels)
        self.assertEqual(len(axes), 5)
        self.assertEqual(sum(len(one.get_offsets()) for one in axes[0].collections), 80)
        self.assertEqual(len(pnmf.pl.embeddings(self.adata, labels="type", scales=[0, -1])), 2)
        pnmf.pl.embeddings(self.adata, components=(2, 3))
        with self.assertRaisesRegex(ValueError, "components must be between 0 and 3"):
            pnmf.pl.embeddings(self.adata, components=(2, 9))
        with self.assertRaisesRegex(ValueError, "no column of obs"):
            pnmf.pl.embeddings(self.adata, labels="nothing")
        with self.assertRaisesRegex(ValueError, "one label for each of 80 cells"):
            pnmf.pl.embeddings(self.model, labels=[1, 2])

    def test_one_scale_is_coloured_by_obs_genes_and_programs(self):
        adata = self.adata.copy()
        adata.obs["number"] = np.linspace(0.0, 1.0, adata.n_obs)
        ax = pnmf.pl.embedding(adata, color="type")
        texts = [text.get_text() for text in ax.get_legend().get_texts()]
        self.assertEqual(texts, ["type0", "type1", "type2"])
        gene = str(adata.var_names[3])
        ax = pnmf.pl.embedding(adata, color=gene)
        shown = np.sort(np.asarray(ax.collections[0].get_array()))
        np.testing.assert_allclose(shown, np.sort(adata.X[:, 3].toarray().ravel()))
        self.assertEqual(ax.collections[0].colorbar.ax.get_ylabel(), gene)
        axes = pnmf.pl.embedding(adata, color=["type", "number", "P2", "clusters"], components=(1, 3), scale=0)
        self.assertEqual(len(axes), 4)
        self.assertEqual((axes[0].get_xlabel(), axes[0].get_ylabel()), ("P2", "P4"))
        self.assertIsNotNone(pnmf.pl.embedding(self.model, color=self.labels).get_legend())
        adata.obsm["X_umap"] = np.random.default_rng(0).random((adata.n_obs, 2))
        ax = pnmf.pl.embedding(adata, color=gene, components="X_umap")
        self.assertEqual(ax.get_xlabel(), "X_umap 1")
        for basis in ("umap", "X_umap"):
            self.assertEqual(pnmf.pl.embedding(adata, color=gene, basis=basis).get_xlabel(), "X_umap 1")
        with self.assertRaisesRegex(ValueError, r"obsm\['tsne'\] is missing; there are .*X_umap"):
            pnmf.pl.embedding(adata, basis="tsne")
        with self.assertRaisesRegex(ValueError, "two names of one thing"):
            pnmf.pl.embedding(adata, basis="umap", components=(0, 1))
        adata.obs["level"] = pd.Categorical(["10" if t else "9" for t in self.types], categories=["9", "10"])
        adata.uns["level_colors"] = ["#112233", "#445566"]
        ax = pnmf.pl.embedding(adata, color="level")
        self.assertEqual([text.get_text() for text in ax.get_legend().get_texts()], ["9", "10"])
        self.assertEqual([to_hex(one.get_facecolor()[0]) for one in ax.collections], ["#112233", "#445566"])
        with self.assertRaisesRegex(ValueError, "obsm\\['X_tsne'\\] is missing"):
            pnmf.pl.embedding(adata, components="X_tsne")
        with self.assertRaisesRegex(ValueError, "neither a column of obs"):
            pnmf.pl.embedding(adata, color="nothing")
        with self.assertRaisesRegex(ValueError, "one axes holds one colouring"):
            pnmf.pl.embedding(adata, color=["type", gene], ax=plt.subplots()[1])

    def test_a_tissue_has_a_row_for_each_slice_and_a_column_for_types_and_domains(self):
        adata = self.adata.copy()
        adata.obsm["spatial"] = np.random.default_rng(0).random((60, 2))
        adata.obs["slice"] = ["b", "a"] * 30
        pnmf.tl.pnmf(adata, rank=4, clusters=3, domains=2, sample_key="slice")
        axes = pnmf.pl.tissue(adata, sample_key="slice")
        self.assertEqual(axes.shape, (2, 2))
        self.assertEqual([ax.get_title() for ax in axes[0]], ["b · pnmf_clusters", "b · pnmf_domains"])
        drawn = np.concatenate([one.get_offsets() for one in axes[1, 0].collections])
        self.assertEqual(len(drawn), 30)
        self.assertTrue(np.isin(drawn, adata.obsm["spatial"][1::2]).all())
        self.assertFalse(axes[0, 0].yaxis_inverted())
        adata.uns["spatial"] = {}
        self.assertTrue(pnmf.pl.tissue(adata, "P1")[0, 0].yaxis_inverted())
        with self.assertRaisesRegex(ValueError, "sample_key: obs"):
            pnmf.pl.tissue(adata, sample_key="nothing")

    def test_the_page_of_a_tissue_has_the_image_of_the_slice(self):
        adata = self.adata.copy()
        adata.obsm["spatial"] = 40 * np.random.default_rng(0).random((60, 2))
        images = {"hires": np.full((40, 40, 3), 200, dtype=np.uint8)}
        adata.uns["spatial"] = {"slide": {"images": images, "scalefactors": {"tissue_hires_scalef": 1.0}}}
        pnmf.tl.pnmf(adata, rank=4, clusters=3, domains=2, verbose=False)
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.html"
            for expected in (True, False):
                pnmf.write_report(adata, page)
                self.assertEqual('id="pnmf-0-image"' in page.read_text(), expected)
                images.clear()

    def test_programs_have_a_bar_over_their_scales(self):
        ax = pnmf.pl.programs(self.adata)
        table = pnmf.read_result(self.adata).program_summary()
        self.assertEqual(len(ax.patches), 4)
        lengths = sorted(patch.get_width() for patch in ax.patches)
        self.assertEqual(lengths, sorted((table["last_scale"] - table["first_scale"] + 1).tolist()))
        self.assertIsNotNone(ax.get_legend())

    def test_legends_stay_inside_the_picture_however_many_groups_there_are(self):
        many = np.array([f"group {i}" for i in range(30)] * 2)
        for ax in [pnmf.pl.embedding(self.adata, color=many), pnmf.pl.embeddings(self.adata, labels=many)[2]]:
            legend = ax.get_legend()
            self.assertEqual(len(legend.get_texts()), 30)
            ax.figure.canvas.draw()
            box, page = legend.get_window_extent(), ax.figure.bbox
            self.assertTrue(page.x0 <= box.x0 and box.x1 <= page.x1 + 1, (box, page))

    def test_the_plane_is_that_of_the_page(self):
        result = pnmf.read_result(self.adata)
        H = result.embeddings.reshape(-1, 4)
        axes = np.linalg.eigh(np.cov(H.T))[1][:, ::-1][:, :2]
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
        ax = pnmf.pl.embedding(self.adata, color=None)
        shown = np.vstack([np.asarray(one.get_offsets()) for one in ax.collections])
        expected = (result.embeddings[result.recommended] - H.mean(axis=0)) @ axes
        np.testing.assert_allclose(np.sort(shown[:, 0]), np.sort(expected[:, 0]), atol=1e-5)

    def test_the_animation_moves(self):
        animation = pnmf.pl.animate_embeddings(self.model, labels=self.labels)
        first = np.asarray(animation.ax.collections[0].get_offsets()).copy()
        animation._func(4)
        self.assertFalse(np.array_equal(first, animation.ax.collections[0].get_offsets()))
        animation._draw_was_started = True

    def test_persistence_is_drawn_from_points_and_from_fits(self):
        for source in [pnmf.h0_persistence(self.circles), self.model, self.adata]:
            for draw in [pnmf.pl.h0_diagram, pnmf.pl.barcode, pnmf.pl.merge_tree, pnmf.pl.betti0]:
                self.assertIsInstance(draw(source), Axes)
        ax = pnmf.pl.betti0(pnmf.h0_persistence(self.circles))
        heights = ax.lines[0].get_ydata()
        self.assertEqual((heights[0], heights[-1]), (80, 1))

    def test_convergence_and_scores_are_drawn(self):
        ax = pnmf.pl.convergence(self.model)
        self.assertTrue(np.array_equal(ax.lines[0].get_ydata(), self.model.objective_))
        scored = pnmf.metrics.score_scales(self.model.embeddings_, self.labels, seeds=2, starts=2)
        self.assertIsInstance(pnmf.pl.scores(self.model, scored), Axes)
        self.assertIsInstance(pnmf.pl.scores(self.model, {"mine": np.arange(5.0)}), Axes)
        with self.assertRaisesRegex(ValueError, "one value for each of 5 scales"):
            pnmf.pl.scores(self.model, {"mine": [1.0]})

    def test_cluster_flow_keeps_every_cell(self):
        ax = pnmf.pl.cluster_flow(self.model, clusters=4, labels=self.labels)
        self.assertIsInstance(ax, Axes)
        self.assertIsInstance(pnmf.pl.cluster_flow(self.adata, clusters=3, labels="type"), Axes)

    def test_top_features_are_named(self):
        ax = pnmf.pl.top_features(self.adata, component=1, count=3)
        names = [text.get_text() for text in ax.get_yticklabels()]
        top = pnmf.read_result(self.adata).top_features(0, 3)[1]
        self.assertEqual(names[:3], top)
        self.assertIsInstance(pnmf.pl.top_features(self.adata), Axes)

    def test_a_radar_has_a_polygon_for_each_setting(self):
        values = {"1, 1, 0.1": {"ARI": 0.9, "NMI": 0.8, "purity": 0.95}, "10, 1, 1": {"ARI": 0.7, "NMI": 0.9, "purity": 0.8}}
        ax = pnmf.pl.radar(values)
        self.assertEqual(len(ax.lines), 2)
        with self.assertRaisesRegex(ValueError, "at least three scores"):
            pnmf.pl.radar({"a": {"ARI": 1.0}})
        with self.assertRaisesRegex(ValueError, "every setting must have the scores"):
            pnmf.pl.radar({"a": {"x": 1, "y": 1, "z": 1}, "b": {"x": 1}})

    def test_an_unfitted_estimator_cannot_be_drawn(self):
        with self.assertRaisesRegex(ValueError, "not fitted yet"):
            pnmf.pl.convergence(pnmf.PersistentNMF())


if __name__ == "__main__":
    unittest.main()
