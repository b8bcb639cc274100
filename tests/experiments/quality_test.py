#!/usr/bin/env python3
"""What the quality tables are made of does what it says: quality_test.py FOLDER_OF_QUALITY"""

import pathlib
import sys
import tempfile
import unittest

import numpy as np
import scipy.sparse

sys.path.insert(0, sys.argv.pop(1))

import contestants
import few_scales
import neighbors
import page
import populations
import rules
import run
import sets
import tables
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


class Scores(unittest.TestCase):
    def test_a_rare_type_counts_as_much_as_a_large_one(self):
        labels = np.array([0] * 90 + [1] * 10)
        self.assertEqual(contestants.mean_f1(labels, labels), 1.0)
        self.assertAlmostEqual(contestants.mean_f1(labels, np.zeros(100, int)), (180 / 190 + 20 / 110) / 2)
        self.assertAlmostEqual(contestants.mean_f1(labels, labels + 5), 1.0)

    def test_the_better_preparation_of_a_method_is_taken(self):
        found = {contestants.of_method("nmf", name): [{"ari": ari}] for name, ari in (("cp10k", 0.3), ("log10", 0.4))}
        answers = tables.Answers([], found)
        self.assertEqual(answers.better("nmf"), "log10")
        self.assertIsNone(answers.better("gnmf"))


class Populations(unittest.TestCase):
    def test_one_population_has_no_second_and_two_have(self):
        values, truth = populations.counts(50, 1, size=2.0)
        self.assertEqual(values.shape, (50, populations.GENES))
        self.assertEqual(truth.sum(), 0)
        self.assertEqual(populations.counts(50, 1, fold=2.0, share=0.1)[1].sum(), 5)

    def test_library_sizes_span_tenfold(self):
        totals = populations.counts(400, 1, library="tenfold")[0].sum(axis=1)
        self.assertGreater(totals.max() / totals.min(), 7)
        even = populations.counts(400, 1)[0].sum(axis=1)
        self.assertLess(even.max() / even.min(), 1.5)


class Rules(unittest.TestCase):
    def test_modularity_is_that_of_two_triangles_and_an_edge(self):
        graph = (np.array([0, 0, 1, 3, 3, 4, 2]), np.array([1, 2, 2, 4, 5, 5, 3]))
        self.assertAlmostEqual(rules.modularity(graph, np.array([0, 0, 0, 1, 1, 1])), 6 / 7 - 0.5)
        self.assertAlmostEqual(rules.modularity(graph, np.zeros(6, int)), 0)

    def test_a_set_has_no_say_in_its_rule_nor_has_another_of_its_study(self):
        answer = lambda first, second: {rule: {"ari": first if rule == rules.RULES[0] else second} for rule in rules.RULES}
        names = ["PBMC68k", "PBMC FACS", "Yan"]  # the first two are one study
        self.assertEqual(rules.left_out(names, [answer(0.9, 0.1), answer(0.8, 0.1), answer(0.2, 0.3)]), [0.1, 0.1, 0.2])


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
