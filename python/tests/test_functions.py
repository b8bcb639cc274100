"""Persistence, scales, metrics and simulated data agree with SciPy, scikit-learn and the definitions."""

import unittest
import warnings

import numpy as np
import pandas as pd
import sklearn.metrics
import sklearn.utils.validation
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans

import pnmf

RANDOM = np.random.default_rng(3)
POINTS = RANDOM.random((40, 3))


class Persistence(unittest.TestCase):
    def test_deaths_are_the_heights_of_single_linkage(self):
        found = pnmf.h0_persistence(POINTS)
        tree = linkage(POINTS, "single")
        np.testing.assert_allclose(found.deaths, tree[:, 2], rtol=1e-13)
        np.testing.assert_allclose(found.merge_tree[:, [2, 3]], tree[:, [2, 3]], rtol=1e-13)
        self.assertAlmostEqual(found.largest_distance, pdist(POINTS).max(), 12)

    def test_components_are_those_of_the_graph(self):
        found = pnmf.h0_persistence(POINTS)
        for epsilon in [0.05, 0.2, 0.3, 2.0]:
            groups = found.components(epsilon)
            self.assertEqual(groups.max() + 1, found.betti0(epsilon))
            theirs = fcluster(linkage(POINTS, "single"), np.nextafter(epsilon, 0), "distance")
            self.assertEqual(sklearn.metrics.adjusted_rand_score(groups, theirs), 1.0)

    def test_distances_may_be_given(self):
        table = squareform(pdist(POINTS))
        np.testing.assert_allclose(pnmf.h0_persistence(table, metric="precomputed").deaths, pnmf.h0_persistence(POINTS).deaths)

    def test_the_diagram_has_one_component_that_never_dies(self):
        diagram = pnmf.h0_persistence(POINTS).diagram
        self.assertEqual(diagram.shape, (40, 2))
        self.assertEqual(np.isinf(diagram[:, 1]).sum(), 1)

    def test_scales_are_counted_as_the_graphs_say(self):
        for strategy in ["canonical", "uniform", "random", "sufficient", "h0+h1"]:
            found = pnmf.scales(POINTS, strategy=strategy, max_scales=9, count_edges=True, random_state=1)
            self.assertEqual(len(found), 9)
            distances = pdist(POINTS)
            self.assertEqual(found.edges.tolist(), [(distances < e * (1 - 1e-12)).sum() for e in found.epsilon])
            self.assertEqual(found.betti0.tolist(), pnmf.h0_persistence(POINTS).betti0(found.epsilon).tolist())


class Metrics(unittest.TestCase):
    def test_scores_agree_with_scikit_learn(self):
        labels = RANDOM.integers(0, 4, 50)
        clusters = np.where(RANDOM.random(50) < 0.6, labels, RANDOM.integers(0, 5, 50))
        names = np.array(["a", "b", "c", "d"])[labels]
        for ours, theirs in [
            (pnmf.metrics.adjusted_rand_index, sklearn.metrics.adjusted_rand_score),
            (pnmf.metrics.normalized_mutual_information, sklearn.metrics.normalized_mutual_info_score),
            (pnmf.metrics.adjusted_mutual_information, sklearn.metrics.adjusted_mutual_info_score),
        ]:
            self.assertAlmostEqual(ours(names, clusters), theirs(labels, clusters), 12)
        X = RANDOM.random((50, 2))
        np.testing.assert_allclose(pnmf.metrics.silhouettes(X, names), sklearn.metrics.silhouette_samples(X, labels), atol=1e-12)
        self.assertAlmostEqual(pnmf.metrics.mean_silhouette(X, names), sklearn.metrics.silhouette_score(X, labels), 12)
        table = sklearn.metrics.cluster.contingency_matrix(labels, clusters)
        self.assertAlmostEqual(pnmf.metrics.purity(names, clusters), table.max(axis=0).sum() / 50)
        self.assertGreaterEqual(pnmf.metrics.accuracy(names, clusters), table.max() / 50)
        self.assertEqual(pnmf.metrics.accuracy(names, names), 1.0)

    def test_cells_without_label_are_left_out_with_a_warning(self):
        clusters = [0, 0, 1, 1, 1, 0]
        expected = pnmf.metrics.adjusted_rand_index(["a", "b", "b", "a"], [0, 1, 1, 0])
        for labels in [
            ["a", None, "b", "b", np.nan, "a"],
            np.array(["a", "", "b", "b", "NA", "a"]),
            pd.Categorical(["a", None, "b", "b", None, "a"]),
            np.array([0.0, np.nan, 1.0, 1.0, np.nan, 0.0]),
        ]:
            with self.assertWarnsRegex(UserWarning, "2 of 6 cells"):
                self.assertEqual(pnmf.metrics.adjusted_rand_index(labels, clusters), expected)
            with self.assertWarnsRegex(UserWarning, "2 of 6 cells"):
                scores = pnmf.metrics.score_embedding(np.eye(6)[:, :2] + 1, labels, seeds=1)
            self.assertEqual(len(np.unique(scores.clusters)), 2)
        with self.assertRaisesRegex(ValueError, "2 of 2 cells"):
            pnmf.metrics.purity([None, None], [0, 1])
        with self.assertRaisesRegex(ValueError, "clusters: 1 of 3"):
            pnmf.metrics.silhouettes(np.eye(3), ["a", None, "b"])

    def test_kmeans_is_scikit_learn_s_for_a_seed(self):
        X = np.vstack([RANDOM.normal(c, 0.2, (20, 2)) for c in range(3)])
        ours = pnmf.metrics.kmeans(X, 3, random_state=4)
        theirs = KMeans(3, n_init=10, random_state=4).fit(X)
        self.assertEqual(pnmf.metrics.adjusted_rand_index(ours.labels, theirs.labels_), 1.0)
        if not hasattr(sklearn.utils.validation, "validate_data"):  # later ones draw other starts from a seed
            self.assertEqual(ours.labels.tolist(), theirs.labels_.tolist())
            np.testing.assert_allclose(ours.centres, theirs.cluster_centers_)
        self.assertAlmostEqual(ours.inertia, theirs.inertia_, 9)

    def test_separated_groups_score_well_and_stably(self):
        X = np.vstack([RANDOM.normal(5 * c, 0.2, (20, 2)) for c in range(3)])
        labels = np.repeat(["x", "y", "z"], 20)
        scores = pnmf.metrics.score_scales(np.stack([X, X]), labels, seeds=2)
        self.assertEqual([one.ari for one in scores], [(1.0, 0.0)] * 2)
        self.assertIsNone(pnmf.metrics.score_embedding(X, clusters=3, seeds=1).ari)
        self.assertEqual(pnmf.metrics.resampling_stability(X, 3, repeats=2), 1.0)
        self.assertEqual(pnmf.metrics.neighbor_stability([labels, labels]).tolist(), [1.0, 1.0])
        np.testing.assert_allclose(pnmf.metrics.gap_prominence([1, 2, 5], [1, 4]), [0.25, 0.75, 0.0])


class Theorems(unittest.TestCase):
    def test_none_fails_on_points_nor_on_a_fit(self):
        X = POINTS @ RANDOM.random((3, 6))
        self.assertEqual(pnmf.check(X).failed, [])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pnmf.PersistentNMF(rank=3, max_scales=6, lambda3=0.01).fit(X)
        found = pnmf.check(X, model)
        # That theorem assumes a large lambda3, which these data do not have.
        self.assertEqual([one for one in found.failed if one.statement != "thm:embedding_increment_bounds"], [])
        self.assertGreater(len(found), len(pnmf.check(X, max_scales=6)))
        self.assertIn("holds", repr(found))

    def test_a_fit_that_was_tampered_with_fails(self):
        X = POINTS @ RANDOM.random((3, 6))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pnmf.PersistentNMF(rank=3, max_scales=6).fit(X)
        model.result_.objective = model.result_.objective[::-1].copy()
        self.assertNotEqual(pnmf.check(X, model).failed, [])

    def test_a_fit_of_other_data_is_refused(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = pnmf.PersistentNMF(rank=3, max_scales=6).fit(POINTS)
        with self.assertRaisesRegex(ValueError, "must have the 40 cells of the fit, got 20"):
            pnmf.check(POINTS[:20], model)


class Simulated(unittest.TestCase):
    def test_circles_have_their_radii(self):
        X, labels = pnmf.simulate.circles(radii=[1, 4], points=30, noise=0, noise_dimensions=0)
        for label, radius in [(0, 1), (1, 4)]:
            circle = X[labels == label]
            np.testing.assert_allclose(np.linalg.norm(circle - circle.mean(axis=0), axis=1), radius, rtol=1e-9)

    def test_cells_are_counts_and_the_seed_decides(self):
        one = pnmf.simulate.cells(cells=30, genes=20, types=3, random_state=1)
        two = pnmf.simulate.cells(cells=30, genes=20, types=3, random_state=1)
        self.assertEqual((one.counts != two.counts).nnz, 0)
        self.assertTrue((one.counts.data == one.counts.data.round()).all())
        self.assertNotEqual((one.counts != pnmf.simulate.cells(cells=30, genes=20, types=3, random_state=2).counts).nnz, 0)
        self.assertEqual(one.newick.count("type"), 3)


if __name__ == "__main__":
    unittest.main()
