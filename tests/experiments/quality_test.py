#!/usr/bin/env python3
"""What the quality tables are made of does what it says: quality_test.py FOLDER_OF_QUALITY"""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import scipy.sparse

sys.path.insert(0, sys.argv.pop(1))

import cluster_number
import few_scales
import neighbors
import page
import run
import sets
from program import Kept


def blobs(seed=0, cells=20, groups=3):
    random = np.random.RandomState(seed)
    return np.concatenate([random.normal(10 * k, 1, (cells, 4)) for k in range(groups)])


class Graphs(unittest.TestCase):
    def test_every_edge_stands_once_and_joins_two_cells(self):
        i, j = neighbors.edges(blobs(), 5)
        self.assertTrue((i < j).all())
        self.assertEqual(len(set(zip(i, j))), len(i))
        self.assertTrue((np.bincount(np.concatenate([i, j])) >= 5).all())

    def test_the_tree_joins_all_cells(self):
        ends = neighbors.edges(blobs(), 5, tree=True)
        graph = scipy.sparse.coo_matrix((np.ones(len(ends[0])), ends), shape=(60, 60))
        self.assertEqual(scipy.sparse.csgraph.connected_components(graph)[0], 1)
        apart = scipy.sparse.coo_matrix((np.ones(len(neighbors.edges(blobs(), 5)[0])), neighbors.edges(blobs(), 5)), shape=(60, 60))
        self.assertEqual(scipy.sparse.csgraph.connected_components(apart)[0], 3)

    def test_modularity_is_that_of_the_definition(self):
        graph = neighbors.edges(blobs(), 5, tree=True)
        clusters = np.random.RandomState(1).randint(4, size=60)
        A = np.zeros((60, 60))
        A[graph] = 1
        A += A.T
        degrees = A.sum(axis=0)
        same = clusters[:, None] == clusters[None, :]
        slow = np.sum((A - np.outer(degrees, degrees) / A.sum()) * same) / A.sum()
        self.assertAlmostEqual(neighbors.modularity(graph, clusters), slow, 12)


class Preparation(unittest.TestCase):
    def test_cells_have_unit_length_and_components_keep_distances(self):
        counts = scipy.sparse.csr_matrix(np.random.RandomState(0).poisson(2.0, (12, 30)).astype(float))
        X, spaces = sets.prepare(counts)
        self.assertTrue(np.allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1))
        logs = sets.logged(counts).toarray()
        self.assertTrue(np.allclose(np.expm1(logs).sum(axis=1), 1e4))
        whole = np.linalg.norm(logs[:, None] - logs[None], axis=2)
        space = spaces[sets.WIDE_SPACE]
        self.assertTrue(np.allclose(np.linalg.norm(space[:, None] - space[None], axis=2), whole))

    def test_the_same_cells_are_drawn_at_every_call(self):
        self.assertTrue(np.array_equal(sets.some_cells(1000, 50), sets.some_cells(1000, 50)))
        self.assertTrue(np.array_equal(sets.some_cells(40, 50), np.arange(40)))


class Rules(unittest.TestCase):
    def measured(self, modularity, ari):
        """Two scales; the second has the larger silhouette."""
        return {"numbers": [2, 3, 4], "modularity": [[modularity, [0, 0, 0]]] * 2, "ari": [[0, 0, 0], ari],
                "silhouette": [[0.1] * 3, [0.2] * 3]}

    def test_a_share_takes_the_smallest_number_that_is_nearly_as_good(self):
        measured = self.measured([0.70, 0.785, 0.80], [0.1, 0.2, 0.3])
        self.assertEqual(cluster_number.choose(measured, (1.0, 8)), (4, 0.3))
        self.assertEqual(cluster_number.choose(measured, (0.98, 8)), (3, 0.2))
        self.assertEqual(cluster_number.choose(measured, (0.97, 15)), (3, 0.2))

    def test_a_set_has_no_say_in_the_rule_it_is_judged_by(self):
        # Of 3 clusters (98 %) and 4 (the largest) the others do a little better with 3, the last much better with 4;
        # 0.97 and 0.98 give 3, 0.99 and 1 give 4, and of equal rules the first is taken.
        little, much = [0.1, 0.6, 0.5], [0.1, 0.1, 0.9]
        measured = [[self.measured([0.70, 0.785, 0.80], ari)] for ari in (little, little, much)]
        found, chosen = cluster_number.compare(measured)
        self.assertEqual(max(found, key=lambda rule: np.mean([ari for _, ari in found[rule]]))[0], 0.99)
        self.assertEqual(chosen[2][0], 0.97)
        self.assertEqual(chosen[0][0], 0.99)


class Terms(unittest.TestCase):
    def test_the_terms_of_a_scale_are_those_of_the_definition(self):
        random = np.random.RandomState(0)
        X, W, H, space = random.rand(7, 9), random.rand(7, 2), random.rand(2, 9), random.rand(9, 3)
        distances = np.linalg.norm(space[:, None] - space[None], axis=2)
        A = np.where(distances < 0.6, np.exp(-(distances / 0.6) ** 2), 0) - np.eye(9)
        slow = np.linalg.norm(X - W @ H) ** 2 + 3 * np.trace(H @ (np.diag(A.sum(axis=0)) - A) @ H.T) + 0.5 * np.linalg.norm(H) ** 2
        pairs = np.triu_indices(9, 1)
        self.assertAlmostEqual(few_scales.terms(X, space, pairs, 0.6, (3, 1, 0.5), W, H), slow, 9)


class Pages(unittest.TestCase):
    def test_text_between_markers_is_replaced_and_the_rest_stays(self):
        begin, end = page.markers("losses")
        text = f"before\n{begin}\nold\n{end}\nafter\n"
        filled = page.fill(text, "losses", "| new |")
        self.assertEqual(filled, f"before\n{begin}\n\n| new |\n\n{end}\nafter\n")
        self.assertEqual(page.fill(filled, "losses", "| new |"), filled)
        with self.assertRaises(ValueError):
            page.fill(text, "rules", "")

    def test_numbers_are_short(self):
        self.assertEqual([page.number(x) for x in (0.716, -0.04, 1.0)], [".72", "−.04", "1.00"])

    def test_a_set_far_behind_must_be_explained(self):
        text = f"- Pollen: elsewhere\n{run.NOTES}\n\n- Yan: because\n\n## Next\n- Goolam: too late\n"
        self.assertEqual(run.unexplained(text, ["Yan", "Goolam", "Pollen"]), ["Goolam", "Pollen"])


class Answers(unittest.TestCase):
    def test_what_was_kept_is_found_by_its_key_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = Kept(pathlib.Path(folder) / "answers")
            kept.keep(("NMF", "Yan", 0), {"ari": 0.5})
            self.assertEqual(kept.find(("NMF", "Yan", 0)), {"ari": 0.5})
            self.assertIsNone(kept.find(("NMF", "Yan", 1)))


if __name__ == "__main__":
    unittest.main()
