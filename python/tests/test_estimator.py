"""The estimator obeys scikit-learn's contract and says what the library says."""

import inspect
import pickle
import types
import unittest
import warnings

import numpy as np
import pandas as pd
import scipy.sparse
import sklearn.base
import sklearn.utils.validation
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator, check_transformer_data_not_an_array, check_transformer_general

import pnmf
from pnmf import PersistentNMF, _core, _data
from pnmf.estimator import FAILED_CHECKS


def some_data(cells=30, features=12, seed=0):
    random = np.random.default_rng(seed)
    return random.gamma(1.0, 1.0, (cells, 3)) @ random.gamma(1.0, 1.0, (3, features)) + 0.1 * random.random((cells, features))


class Contract(unittest.TestCase):
    def test_check_estimator_passes_but_for_the_checks_the_estimator_lists(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = {"expected_failed_checks": FAILED_CHECKS} if "expected_failed_checks" in inspect.signature(check_estimator).parameters else {}
            check_estimator(PersistentNMF(max_scales=3), **expected)

    def test_values_below_0_are_named_in_the_words_that_scikit_learn_checks_for(self):
        X = some_data()
        X[3, 1] = -2
        for data in (X, scipy.sparse.csr_matrix(X)):
            with self.assertRaisesRegex(ValueError, r"Negative values in data passed to PersistentNMF.*-2.* feature 2, cell 4"):
                PersistentNMF().fit(data)

    def test_validation_is_a_function_since_scikit_learn_1_6_and_was_a_method(self):
        calls = []

        class Old:
            def _validate_data(self, X, **how):
                calls.append(("method", how["reset"]))
                return X

        def validate_data(estimator, X, **how):
            calls.append(("function", how["reset"]))
            return X

        place = sklearn.utils.validation
        kept = vars(place).pop("validate_data", None)
        try:
            _data.validated(Old(), [[1.0]])
            place.validate_data = validate_data
            _data.validated(object(), [[1.0]], reset=False)
        finally:
            vars(place).pop("validate_data", None)
            if kept is not None:
                place.validate_data = kept
        self.assertEqual(calls, [("method", True), ("function", False)])

    def test_tags_of_scikit_learn_1_6_say_what_the_older_ones_say(self):
        parts = types.SimpleNamespace(input_tags=types.SimpleNamespace(), transformer_tags=types.SimpleNamespace())
        newer = type("Newer", (), {"__sklearn_tags__": lambda self: parts})
        bases = type("Bases", (PersistentNMF, newer), {})
        older_base = getattr(sklearn.base.BaseEstimator, "__sklearn_tags__", None)
        if older_base is None:
            bases().__sklearn_tags__()
        else:
            parts = PersistentNMF().__sklearn_tags__()
        self.assertTrue(parts.input_tags.positive_only and parts.input_tags.sparse)
        self.assertEqual(parts.transformer_tags.preserves_dtype, PersistentNMF()._more_tags()["preserves_dtype"])

    def test_the_checks_it_lists_pass_where_graph_and_scales_weigh_nothing(self):
        plain = PersistentNMF(lambda1=0, lambda2=0, max_scales=2, tolerance=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_transformer_general("PersistentNMF", clone(plain))
            check_transformer_data_not_an_array("PersistentNMF", clone(plain))

    def test_every_option_of_the_library_is_a_parameter_with_its_default(self):
        own = PersistentNMF().get_params()
        for name, _, default, _, _ in _core.options()["fit"]:
            with self.subTest(option=name):
                self.assertEqual(own.pop("random_state" if name == "seed" else name), default)
        self.assertEqual(set(own), {"n_components", "clusters", "precision", "threads", "verbose", "callback", "checkpoint", "resume", "memory"})

    def test_shapes_are_those_of_the_documentation(self):
        X = some_data()
        model = PersistentNMF(rank=4, max_scales=6).fit(X)
        self.assertEqual(model.embeddings_.shape, (6, 30, 4))
        self.assertEqual(model.components_.shape, (4, 12))
        self.assertEqual(model.basis_(5).shape, (4, 12))
        for name in ["scales_", "betti0_", "kkt_", "effective_rank_"]:
            self.assertEqual(getattr(model, name).shape, (6,), name)
        self.assertEqual(model.objective_.shape, (model.n_sweeps_ + 1,))
        self.assertTrue((np.diff(model.objective_) <= 1e-9 * model.objective_[0]).all())
        self.assertTrue(0 <= model.recommended_scale_ < 6)
        self.assertTrue(np.array_equal(model.components_, model.basis_(model.recommended_scale_)))
        self.assertTrue((model.embeddings_ >= 0).all())
        self.assertEqual(model.labels_.shape, (30,))
        self.assertEqual(model.result_.clusters.shape, (6, 30))
        self.assertEqual(len(set(PersistentNMF(rank=4, max_scales=6, clusters=5).fit(X).labels_)), 5)

    def test_the_product_of_both_factors_is_near_the_data(self):
        X = some_data()
        model = PersistentNMF(rank=4, lambda1=0, lambda2=0, lambda3=0, max_scales=2)
        H = model.fit_transform(X)
        self.assertLess(np.linalg.norm(X - model.inverse_transform(H)) / np.linalg.norm(X), 0.05)
        self.assertLess(np.linalg.norm(X - model.inverse_transform(model.transform(X))) / np.linalg.norm(X), 0.05)

    def test_transform_minimises_the_cells_own_problem(self):
        X = some_data()
        model = PersistentNMF(rank=4, max_scales=3).fit(X)
        H = model.transform(X)
        gradient = (H @ model.components_ - X) @ model.components_.T + 0.1 * H
        self.assertTrue((H >= 0).all())
        self.assertLess(np.abs(np.where(H > 0, gradient, np.minimum(gradient, 0))).max(), 1e-5)

    def test_clone_and_parameters_keep_everything(self):
        model = PersistentNMF(rank=3, lambda1=7.0, metric="cosine", stop_rule="relative-decrease")
        self.assertEqual(clone(model).get_params(), model.get_params())
        self.assertEqual(model.set_params(lambda1=2).lambda1, 2)

    def test_a_fitted_estimator_survives_pickling(self):
        X = some_data()
        model = PersistentNMF(rank=3, max_scales=3).fit(X)
        again = pickle.loads(pickle.dumps(model))
        self.assertTrue(np.array_equal(again.transform(X), model.transform(X)))
        self.assertTrue(np.array_equal(again.embeddings_, model.embeddings_))

    def test_names_of_features_come_in_and_go_out(self):
        frame = pd.DataFrame(some_data(), columns=[f"gene{i}" for i in range(12)])
        model = PersistentNMF(rank=3, max_scales=2).fit(frame)
        self.assertEqual(list(model.feature_names_in_), list(frame.columns))
        self.assertEqual(model.n_features_in_, 12)
        self.assertEqual(list(model.get_feature_names_out()), ["persistentnmf0", "persistentnmf1", "persistentnmf2"])
        with self.assertRaisesRegex(ValueError, "feature names"):
            model.transform(frame.rename(columns={"gene0": "other"}))

    def test_it_stands_in_a_pipeline(self):
        pipe = make_pipeline(FunctionTransformer(np.log1p), PersistentNMF(rank=3, max_scales=2))
        self.assertEqual(pipe.fit_transform(some_data()).shape, (30, 3))

    def test_an_unfitted_estimator_says_so(self):
        with self.assertRaises(NotFittedError):
            PersistentNMF().transform(some_data())


class Numbers(unittest.TestCase):
    def same(self, a, b):
        self.assertTrue(np.array_equal(a.embeddings_, b.embeddings_))
        self.assertTrue(np.array_equal(a.components_, b.components_))

    def test_the_form_of_the_matrix_does_not_matter(self):
        X = np.where(some_data() > 2.0, some_data(), 0.0) + 0.5
        X[:, 3] = np.arange(30) % 5
        plain = PersistentNMF(rank=3, max_scales=3).fit(X)
        fortran = np.asfortranarray(X)
        padded = np.zeros((30, 24))
        padded[:, ::2] = X
        shifted = np.zeros(X.size + 1)[1:].reshape(X.shape)
        shifted[:] = X
        frozen = X.copy()
        frozen.setflags(write=False)
        for other in [fortran, padded[:, ::2], shifted, frozen, X.tolist(), X.astype(object), pd.DataFrame(X)]:
            self.same(PersistentNMF(rank=3, max_scales=3).fit(other), plain)
        whole = np.round(X)
        numbers = PersistentNMF(rank=3, max_scales=3).fit(whole)
        for kind in [np.int8, np.uint16, np.int64, np.float32]:
            self.same(PersistentNMF(rank=3, max_scales=3).fit(whole.astype(kind)), numbers)

    def test_forms_of_a_sparse_matrix_do_not_matter(self):
        X = np.where(some_data() > 3.0, some_data(), 0.0)
        X[:, 0] += 0.5
        csr = scipy.sparse.csr_matrix(X)
        plain = PersistentNMF(rank=3, max_scales=3).fit(csr)
        wide = csr.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        unsorted = csr.copy()
        for i in range(30):
            row = slice(unsorted.indptr[i], unsorted.indptr[i + 1])
            unsorted.indices[row], unsorted.data[row] = unsorted.indices[row][::-1].copy(), unsorted.data[row][::-1].copy()
        unsorted = scipy.sparse.csr_matrix((unsorted.data, unsorted.indices, unsorted.indptr), shape=X.shape)
        for other in [csr.tocsc(), csr.tocoo(), wide, unsorted]:
            self.same(PersistentNMF(rank=3, max_scales=3).fit(other), plain)
        self.assertFalse(unsorted.has_sorted_indices, "the user's matrix is left as it is")
        dense = PersistentNMF(rank=3, max_scales=3).fit(X)
        np.testing.assert_allclose(plain.embeddings_, dense.embeddings_, rtol=1e-6, atol=1e-9)

    def test_threads_do_not_matter(self):
        X = some_data(60, 20)
        one = PersistentNMF(rank=3, threads=1).fit(X)
        for threads in [2, 3]:
            self.same(PersistentNMF(rank=3, threads=threads).fit(X), one)

    def test_the_user_s_matrix_is_never_changed(self):
        X = some_data()
        before = X.copy()
        PersistentNMF(rank=3, max_scales=2, metric="cosine").fit(X)
        self.assertTrue(np.array_equal(X, before))

    def test_single_precision_is_near_double(self):
        X = some_data()
        double = PersistentNMF(rank=3, max_scales=3).fit(X)
        single = PersistentNMF(rank=3, max_scales=3, precision="float").fit(X)
        self.assertEqual(single.embeddings_.dtype, np.float32)
        np.testing.assert_allclose(single.objective_[-1], double.objective_[-1], rtol=1e-3)

    def test_a_random_state_is_a_seed(self):
        X = some_data()
        fit = lambda state: PersistentNMF(rank=3, max_scales=2, seeding="random", random_state=state).fit(X)
        self.same(fit(3), fit(3))
        self.same(fit(np.random.RandomState(3)), fit(np.random.RandomState(3)))
        self.assertFalse(np.array_equal(fit(3).embeddings_, fit(4).embeddings_))

    def test_the_blas_of_numpy_keeps_its_threads(self):
        try:
            from threadpoolctl import threadpool_info
        except ImportError:
            self.skipTest("threadpoolctl is not installed")
        blas = lambda: [(pool["filepath"], pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"]
        PersistentNMF(rank=2, max_scales=2).fit(some_data())
        before = blas()
        PersistentNMF(rank=2, max_scales=2).fit(some_data())
        self.assertEqual(blas(), before)


class Warnings(unittest.TestCase):
    def test_a_fit_that_does_not_converge_warns(self):
        with self.assertWarnsRegex(ConvergenceWarning, "not converged after 1 sweeps"):
            PersistentNMF(rank=3, max_sweeps=1, tolerance=1e-12).fit(some_data())

    def test_a_collapse_warns_and_names_the_weight(self):
        with self.assertWarnsRegex(UserWarning, "lambda3 = 1000"):
            PersistentNMF(rank=3, max_scales=3, lambda3=1000, lambda2=1000, lambda1=1000).fit(some_data())

    def test_counts_are_named_as_such_and_other_values_are_not(self):
        counts = np.random.default_rng(0).poisson(0.3, (12, 120)).astype(float)
        few_sweeps = {"rank": 2, "max_scales": 2, "tolerance": 0.5}
        for X in (counts, scipy.sparse.csr_matrix(counts)):
            with self.assertWarnsRegex(UserWarning, "looks like counts of genes.*pnmf.tl.pnmf"):
                PersistentNMF(**few_sweeps).fit(X)
        for X in (np.log1p(counts), counts > 0, counts + 1, counts[:, :50]):
            with warnings.catch_warnings():
                warnings.filterwarnings("error", "X looks like")
                PersistentNMF(**few_sweeps).fit(X)


if __name__ == "__main__":
    unittest.main()
