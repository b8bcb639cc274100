"""What is wrong is said in words a user understands; nothing crashes."""

import unittest

import numpy as np
import scipy.sparse

import pnmf
from pnmf import PersistentNMF, _core

GOOD = np.arange(1.0, 13.0).reshape(4, 3)


class Data(unittest.TestCase):
    def wrong(self, X, message, error=ValueError):
        with self.assertRaisesRegex(error, message):
            PersistentNMF(rank=1).fit(X)

    def test_strings_are_refused(self):
        self.wrong([["a", "b"], ["c", "d"]], "could not convert string to float|numeric")
        self.wrong(np.array([["1.5", "x"]], dtype=object), "could not convert string to float")

    def test_values_that_are_not_finite_are_refused(self):
        for bad in [np.nan, np.inf]:
            X = GOOD.copy()
            X[1, 2] = bad
            self.wrong(X, "NaN|infinity")
            self.wrong(scipy.sparse.csr_matrix(X), "NaN|infinity")

    def test_negative_values_are_refused_with_their_place(self):
        X = GOOD.copy()
        X[1, 2] = -3
        self.wrong(X, "X must hold finite values, at least 0, got -3 at feature 3, cell 2")
        self.wrong(scipy.sparse.csr_matrix(X), "got -3 at feature 3, cell 2")

    def test_other_shapes_are_refused(self):
        self.wrong(GOOD[0], "Expected 2D array, got 1D array")
        self.wrong(np.ones((2, 2, 2)), "2|dim 3")
        self.wrong(5.0, "Expected 2D array, got scalar")
        self.wrong(np.empty((0, 3)), "0 sample")
        self.wrong(np.empty((3, 0)), "0 feature")
        self.wrong(scipy.sparse.csr_matrix((3, 0)), "0 feature")
        self.wrong([[1, 2], [3]], "sequence|inhomogeneous")
        self.wrong(None, "2D array|NoneType|scalar")

    def test_complex_numbers_are_refused(self):
        self.wrong(GOOD.astype(complex), "Complex data not supported")

    def test_objects_that_are_no_numbers_are_refused(self):
        self.wrong(np.array([[object(), 1], [2, 3]], dtype=object), "float", (TypeError, ValueError))
        self.wrong({"a": 1}, "dict|2D array|float", (TypeError, ValueError))

    def test_huge_whole_numbers_are_numbers(self):
        X = [[10**30, 1], [2 * 10**30, 10**29], [5, 10**30]]
        self.assertTrue(np.isfinite(PersistentNMF(rank=1).fit(X).embeddings_).all())
        self.wrong([[10**200, 1], [2, 3]], "1e\\+?150")
        self.wrong([[10**400, 1], [2, 3]], "too large", (OverflowError, ValueError))

    def test_damaged_sparse_matrices_are_refused(self):
        good = scipy.sparse.csr_matrix(GOOD)
        for name, value in [("indices", np.full(12, 9, dtype=np.int32)), ("indices", np.full(12, -1, dtype=np.int32)), ("indptr", np.array([0, 3, 2, 9, 12], dtype=np.int32)), ("indptr", np.array([0, 3, 6, 9, 99], dtype=np.int32))]:
            parts = {"data": good.data, "indices": good.indices, "indptr": good.indptr, name: value}
            with self.subTest(part=name), self.assertRaises(ValueError):
                _core.fit((parts["data"], parts["indices"], parts["indptr"], (4, 3)), {}, None, "double", None, None)

    def test_the_compiled_module_converts_nothing_unseen(self):
        for X in [GOOD.astype(np.float32), np.asfortranarray(GOOD), GOOD.tolist(), GOOD[0], "text", None, (1, 2)]:
            with self.assertRaises((ValueError, TypeError)):
                _core.fit(X, {}, None, "double", None, None)


class Transform(unittest.TestCase):
    def test_another_number_of_features_is_refused(self):
        model = PersistentNMF(rank=1).fit(GOOD)
        with self.assertRaisesRegex(ValueError, "X has 2 features, but PersistentNMF is expecting 3 features"):
            model.transform(GOOD[:, :2])
        with self.assertRaisesRegex(ValueError, "at least 0"):
            model.transform(-GOOD)
        with self.assertRaisesRegex(ValueError, "cells x 1, got 4 x 3"):
            model.inverse_transform(GOOD)
        with self.assertRaisesRegex(ValueError, "there are 2 scales"):
            model.basis_(7)


class Options(unittest.TestCase):
    def wrong(self, message, **options):
        with self.assertRaisesRegex(ValueError, message):
            PersistentNMF(**options).fit(GOOD)

    def test_wrong_values_are_named(self):
        self.wrong("rank must be between 1 and .* = 3, got 9", rank=9)
        self.wrong("rank must be a whole number, got 2.5", rank=2.5)
        self.wrong("rank must be a whole number, got 'three'", rank="three")
        self.wrong("lambda1 must be a finite number, at least 0, got -1", lambda1=-1)
        self.wrong("lambda1 must be a number, got 'a'", lambda1="a")
        self.wrong("algorithm must be one of stationary, reference, paper, got 'fast'", algorithm="fast")
        self.wrong("algorithm must be one of", algorithm=3)
        self.wrong("alpha must be a finite number above 0", alpha=0)
        self.wrong("precision must be double or float, got half", precision="half")
        self.wrong("threads must be at least 1, got 0", threads=0)
        self.wrong("threads must be a whole number", threads="all")
        self.wrong("clusters must be between 1 and the number of cells, 4, got 5", clusters=5)
        self.wrong("clusters must be a whole number or None, got 2.5", clusters=2.5)
        self.wrong("random_state must be at least 0", random_state=-1)
        self.wrong("extrapolate must be True or False", extrapolate="yes")
        self.wrong("max_sweeps must be at least 0, got -1", max_sweeps=-1)
        self.wrong("inner_limit must be at least 1, got 0", inner_limit=0)

    def test_an_option_that_does_not_exist_is_refused(self):
        with self.assertRaises(TypeError):
            PersistentNMF(lamda1=1)
        with self.assertRaisesRegex(ValueError, "'lamda1' is no option of a fit"):
            _core.fit(GOOD, {"lamda1": 1.0}, None, "double", None, None)


class Others(unittest.TestCase):
    def test_wrong_calls_of_the_functions_say_what_is_wrong(self):
        with self.assertRaisesRegex(ValueError, "the metric cannot be taxi"):
            pnmf.h0_persistence(GOOD, metric="taxi")
        with self.assertRaisesRegex(ValueError, "square"):
            pnmf.h0_persistence(GOOD, metric="precomputed")
        with self.assertRaisesRegex(ValueError, "strategy cannot be best"):
            pnmf.scales(GOOD, strategy="best")
        with self.assertRaisesRegex(ValueError, "labels must have one axis"):
            pnmf.metrics.purity([[1]], [1])
        with self.assertRaises(ValueError):
            pnmf.metrics.adjusted_rand_index([1, 2, 3], [1, 2])
        with self.assertRaises(ValueError):
            pnmf.metrics.kmeans(GOOD, 9)
        with self.assertRaises(ValueError):
            pnmf.simulate.circles(points=0)
        with self.assertRaises(ValueError):
            pnmf.simulate.cells(cells=-1)
        with self.assertRaisesRegex(FileNotFoundError, "no such result"):
            pnmf.read_result("nowhere")


if __name__ == "__main__":
    unittest.main()
