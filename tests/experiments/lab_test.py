#!/usr/bin/env python3
"""lab_test.py EXPERIMENTS PROGRAM: the measures and the driver of the experiments."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXPERIMENTS, PROGRAM = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(EXPERIMENTS))
import lab
import numpy as np

CIRCLE = np.array([np.cos(np.arange(8)), np.sin(np.arange(8))])


class Measures(unittest.TestCase):
    def test_spread_is_zero_for_a_point_and_does_not_change_with_the_unit(self):
        self.assertEqual(lab.spread(np.ones((2, 5))), 0.0)
        H = CIRCLE + 3
        self.assertAlmostEqual(lab.spread(H), lab.spread(7 * H))

    def test_rings_emerge_at_the_coarsest_scale_from_which_on_they_have_half_their_size(self):
        labels = np.repeat([0, 1], 8)
        sizes = [(1.0, 4.0), (0.9, 4.0), (0.2, 3.0), (0.1, 1.0)]  # finest first
        H = np.array([np.hstack([a * CIRCLE, b * CIRCLE]) for a, b in sizes])
        self.assertEqual(lab.emergence(H, labels), [2, 3])
        self.assertEqual(list(lab.rings_standing_out(H, labels, lab.ring_sizes(H[0], labels))), [2, 2, 1, 0])

    def test_likeness_is_one_for_turned_and_scaled_embeddings(self):
        H = np.array([np.random.default_rng(0).random((2, 10))])
        turned = np.array([[[0, -1], [1, 0]] @ H[0] * 3 + 5])
        self.assertAlmostEqual(lab.likeness(H, turned), 1.0)
        self.assertLess(lab.likeness(H, np.random.default_rng(1).random((1, 2, 10))), 0.9)

    def test_trend_and_path_shares(self):
        self.assertAlmostEqual(lab.trend([5, 4, 2, 1]), -1.0)
        self.assertEqual(lab.trend([1, 1]), 0.0)
        H = np.array([np.zeros((1, 1)), np.ones((1, 1)), 4 * np.ones((1, 1))])
        np.testing.assert_allclose(lab.path_shares(H), [0.25, 0.75])


class Driver(unittest.TestCase):
    def run_driver(self, folder, *arguments):
        return subprocess.run([sys.executable, "-B", EXPERIMENTS / "run.py", "--program", PROGRAM, "--out", folder, "--quick",
                               *map(str, arguments)], capture_output=True, text=True)

    def test_absent_data_are_marked_as_not_run_and_nothing_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_driver(folder, "--data", pathlib.Path(folder) / "none", "--only", "label_granularity",
                                   "--only", "clustering_table")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("  not run "), 2)
            self.assertIn("not run", (pathlib.Path(folder) / "index.html").read_text())

    def test_an_experiment_that_is_run_alone_keeps_the_others_on_the_page(self):
        with tempfile.TemporaryDirectory() as folder:
            none = ["--data", pathlib.Path(folder) / "none"]
            self.run_driver(folder, *none, "--only", "from_persistence_to_graphs")
            self.run_driver(folder, *none, "--only", "label_granularity")
            page = (pathlib.Path(folder) / "index.html").read_text()
            self.assertIn("ten canonical scales", page)
            self.assertIn("graphs.png", page)
            self.assertIn("label granularity", page)

    def test_circles_are_simulated_where_the_published_ones_are_absent(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_driver(folder, "--data", pathlib.Path(folder) / "none", "--only", "increment_correlations")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertTrue((pathlib.Path(folder) / "increment_correlations" / "reference.png").exists())

    def test_a_number_that_is_not_as_expected_and_a_program_that_fails_end_the_run_with_1(self):
        laboratory = lab.Lab(PROGRAM, "none", tempfile.gettempdir(), True)
        laboratory.claim("a", "b", "c", lab.MEASURED, "", value=2.0, expect=(0, 1))
        laboratory.claim("a", "b", "c", lab.MEASURED, "", value=0.5, expect=(0, 1))
        self.assertEqual([bool(c.failed) for c in laboratory.claims], [True, False])
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder) / "pnmf"
            broken.write_text("#!/bin/sh\nexit 1\n")
            os.chmod(broken, 0o755)
            done = self.run_driver(folder, "--program", broken, "--only", "from_persistence_to_graphs")
            self.assertEqual(done.returncode, 1)
            self.assertIn("broke", done.stdout)

    def test_the_program_hands_over_to_the_driver_and_says_where_it_looked(self):
        with tempfile.TemporaryDirectory() as folder:
            def reproduce(*arguments):
                return subprocess.run([PROGRAM.resolve(), "reproduce", "--quick", *map(str, arguments)], cwd=folder,
                                      capture_output=True, text=True)

            done = reproduce("--experiments", EXPERIMENTS.resolve(), "--only", "from_persistence_to_graphs", "-o", "out")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((pathlib.Path(folder) / "out" / "index.html").exists())
            lost = reproduce()
            self.assertEqual(lost.returncode, 2)
            self.assertIn("--experiments DIR", lost.stderr)

    def test_commands_are_shown_without_this_machines_folders(self):
        laboratory = lab.Lab(PROGRAM, tempfile.gettempdir() + "/data", tempfile.gettempdir() + "/out", True)
        self.assertEqual(laboratory.shown(laboratory.data / "Yan"), "DATA/Yan")
        self.assertEqual(laboratory.shown(laboratory.out / "x"), "OUT/x")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
