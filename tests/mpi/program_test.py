#!/usr/bin/env python3
"""`mpirun -n N pnmf fit`: the result of one process, and what happens when something goes wrong.

    program_test.py PNMF MPIRUN
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import anndata
import h5py
import numpy
import scipy.sparse

PNMF, MPIRUN = sys.argv[1:3]
CELLS = 4500  # more than one block of cells
# The launcher of MPICH was seen to return 0 after a signal, now and then, also with plain shells as its processes.
MPICH = "mpich" in os.path.realpath(MPIRUN) or "hydra" in os.path.realpath(MPIRUN)
# MPICH keeps memory that processes share in files, so that no file may be kept from growing.
needs_limit = unittest.skipIf(MPICH, "MPICH itself does not start under ulimit -f")
FIT = ["--preset", "points", "--neighbors", "4", "--max-scales", "3", "--rank", "3", "--clusters", "3", "--no-report"]


def run(ranks, *arguments, **options):
    start = [MPIRUN, "-n", str(ranks), PNMF] if ranks else [PNMF]
    return subprocess.run([*start, *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def contents(path):
    """Every dataset and attribute of a file but what names the machine or the command."""
    found = {}
    with h5py.File(path) as file:

        def note(name, thing):
            for key, value in thing.attrs.items():
                found[f"{name}@{key}"] = numpy.asarray(value).tolist()
            if isinstance(thing, h5py.Dataset):
                found[name] = thing[()].tobytes() if thing.dtype.kind in "fiu" else thing[()].tolist() if thing.shape else thing[()]

        file.visititems(note)
    return {name: value for name, value in found.items() if "command" not in name}


def ranks_below(pid):
    """The processes of the program that a launcher has started, itself or through others."""
    parents = {}
    for line in subprocess.run(["ps", "-eo", "pid=,ppid=,comm="], capture_output=True, text=True).stdout.splitlines():
        child, parent, name = line.split(None, 2)
        parents[int(child)] = (int(parent), name)

    def is_below(child):
        while child in parents and child != pid:
            child = parents[child][0]
        return child == pid

    return sorted(child for child, (_, name) in parents.items() if name == "pnmf" and is_below(child))


class MpiProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        random = numpy.random.default_rng(1)
        centres = random.random((5, 8))
        numpy.save(cls.folder / "points.npy", centres[random.integers(5, size=CELLS)] + 0.2 * random.random((CELLS, 8)))
        numpy.save(cls.folder / "few.npy", centres[random.integers(5, size=60)] + 0.2 * random.random((60, 8)))
        numpy.save(cls.folder / "others.npy", random.random((60, 8)))
        means = random.gamma(1.2, size=(6, 50))[random.integers(6, size=CELLS)]
        counts = random.poisson(2.0 * means).astype("float32")
        counts[::450] = 0  # empty cells, which are left out
        anndata.AnnData(scipy.sparse.csr_matrix(counts)).write_h5ad(cls.folder / "cells.h5ad")
        numpy.save(cls.folder / "counts.npy", counts)
        numpy.save(cls.folder / "counts_by_gene.npy", numpy.ascontiguousarray(counts.T))
        few = random.poisson(2.0 * random.gamma(0.15, size=(6, 50))[random.integers(6, size=CELLS)]).astype("float32")
        few[::450] = 0  # after empty cells are left out, ranks hold other cells than they have read
        rows = scipy.sparse.csr_matrix(few)
        anndata.AnnData(rows).write_h5ad(cls.folder / "sparse.h5ad")
        anndata.AnnData(rows[:300]).write_h5ad(cls.folder / "few.h5ad")
        many = scipy.sparse.random(CELLS, 260, density=0.06, format="csr", random_state=1, dtype="float32")
        anndata.AnnData(many).write_h5ad(cls.folder / "many_genes.h5ad")
        numpy.save(cls.folder / "wide.npy", random.random((CELLS, 64)))
        with h5py.File(cls.folder / "sparse.h5", "w") as file:  # as 10x Cell Ranger 3 writes it
            matrix = file.create_group("matrix")
            matrix["data"], matrix["indices"], matrix["indptr"] = rows.data, rows.indices, rows.indptr
            matrix["shape"] = rows.shape[::-1]
            matrix["barcodes"] = [f"cell{j}".encode() for j in range(CELLS)]
            genes = matrix.create_group("features")
            genes["id"] = genes["name"] = [f"gene{i}".encode() for i in range(50)]
            genes["feature_type"] = [b"Gene Expression"] * 50

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def fit(self, ranks, name, data, *arguments):
        done = run(ranks, "fit", self.folder / data, "-o", self.folder / name, *FIT, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / name / "summary.json").read_text()), done

    def test_gives_the_result_of_one_process(self):
        one, said = self.fit(0, "one", "points.npy", "--max-sweeps", "15", "--save-basis")
        three, said_by_three = self.fit(3, "three", "points.npy", "--max-sweeps", "15", "--save-basis")
        self.assertEqual((one["ranks"], three["ranks"]), (1, 3))
        self.assertEqual(one["bytes_moved"], 0)
        self.assertGreater(three["bytes_moved"], 1e6)
        self.assertEqual(one["objective"], three["objective"])
        self.assertEqual(contents(self.folder / "one/result.h5ad"), contents(self.folder / "three/result.h5ad"))
        self.assertEqual(len(re.findall("^objective", said_by_three.stdout, re.M)), 1)
        self.assertEqual(sorted(os.listdir(self.folder / "one")), sorted(os.listdir(self.folder / "three")))

    def compare_fits_of_counts(self, data, all_ranks, *arguments):
        """Fits of a file of counts by one process and by several."""
        for ranks in all_ranks:
            name = f"{data}_{ranks}"
            done = run(ranks, "fit", self.folder / data, "-o", self.folder / name, "--rank", "4", "--max-sweeps", "6",
                       "--max-scales", "4", "--drop-empty", "--genes", "40", "--space", "pca:6", *arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(contents(self.folder / name / "result.h5ad"), contents(self.folder / f"{data}_0/result.h5ad"))
            self.assertEqual((self.folder / name / "programs.tsv").read_text(),
                             (self.folder / f"{data}_0/programs.tsv").read_text())

    def test_cells_that_are_divided_give_the_result_of_one_process(self):
        self.compare_fits_of_counts("sparse.h5ad", (0, 3, 7))
        self.assertIn("report.html", os.listdir(self.folder / "sparse.h5ad_3"))
        summary = json.loads((self.folder / "sparse.h5ad_3/summary.json").read_text())
        self.assertEqual(len(summary["bytes_of_sweep"]), 3)

    def test_cells_from_a_file_of_10x_give_the_result_of_one_process(self):
        self.compare_fits_of_counts("sparse.h5", (0, 3), "--no-report")

    def test_counts_of_which_most_are_filled_are_divided_too(self):
        self.compare_fits_of_counts("cells.h5ad", (0, 3), "--no-report")

    def test_dense_values_are_divided_where_distances_come_from_a_space(self):
        for data in ("counts.npy", "counts_by_gene.npy"):
            more = [] if data == "counts.npy" else ["--cells", "columns"]
            self.compare_fits_of_counts(data, (0, 2, 3), "--preset", "cells", *more)
            self.assertIn("report.html", os.listdir(self.folder / f"{data}_3"))

    def test_sparse_values_in_which_distances_are_measured_are_divided_too(self):
        for name, data, more in (("exact", "sparse.h5ad", ["--search", "exact"]),
                                 ("clustered", "sparse.h5ad", ["--search", "clustered"]),
                                 ("projected", "many_genes.h5ad", ["--search", "clustered", "--precision", "float"]),
                                 ("screened", "sparse.h5ad", ["--search", "screened"])):
            for ranks in (0, 2, 3):
                self.fit(ranks, f"{name}_{ranks}", data, "--max-sweeps", "3", "--space", "none", "--drop-empty", *more)
                self.assertEqual(contents(self.folder / f"{name}_{ranks}/result.h5ad"),
                                 contents(self.folder / f"{name}_0/result.h5ad"), (name, ranks))

    def test_the_preset_of_the_paper_gives_the_result_of_one_process(self):
        fit = ["--preset", "paper", "--algorithm", "stationary", "--drop-empty", "--rank", "3", "--max-scales", "3",
               "--max-sweeps", "3", "--clusters", "3"]
        for ranks in (0, 3):
            done = run(ranks, "fit", self.folder / "few.h5ad", "-o", self.folder / f"paper_{ranks}", *fit)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("report.html", os.listdir(self.folder / f"paper_{ranks}"))
        self.assertEqual(contents(self.folder / "paper_3/result.h5ad"), contents(self.folder / "paper_0/result.h5ad"))

    def test_each_rank_keeps_to_the_memory_that_is_planned(self):
        # Factors of 29 MB: large beside what a process needs anyway. The plan takes the worst order of the cells.
        large = ["--preset", "points", "--neighbors", "4", "--max-scales", "20", "--rank", "40", "--clusters", "1", "--no-report",
                 "--start", "broadcast", "--max-sweeps", "2", "--precision", "double", "--memory", "8G"]
        divided = ["--space", "pca:6", "--drop-empty", "--genes", "50"]
        sparse = ["--drop-empty"]
        dense = ["--space", "pca:6"]
        for data, more, least in (("wide.npy", [], 0.4), ("wide.npy", dense, 0.5), ("sparse.h5ad", divided, 0.6),
                                  ("sparse.h5ad", sparse, 0.6)):
            planned = {}
            for ranks in (2, 4):
                folder = self.folder / f"planned_{data}_{len(more)}_{ranks}"
                done = run(ranks, "fit", self.folder / data, "-o", folder, *large, *more)
                self.assertEqual(done.returncode, 0, done.stderr)
                summary = json.loads((folder / "summary.json").read_text())
                planned[ranks] = summary["planned_bytes"]
                ratio = summary["peak_bytes"] / planned[ranks]
                self.assertTrue(least < ratio < 1.0, f"{data}, {ranks} ranks: {ratio} of {planned[ranks]}; {done.stderr}")
            self.assertLess(planned[4], planned[2])

    def test_a_stopped_run_of_divided_cells_goes_on_with_another_number_of_ranks(self):
        counts = ["--preset", "points", "--neighbors", "4", "--max-scales", "3", "--rank", "3", "--clusters", "3", "--no-report",
                  "--space", "pca:6", "--drop-empty"]
        stopped = self.begin("divided", "sparse.h5ad", counts)
        stopped.send_signal(signal.SIGUSR1)
        said = stopped.communicate(timeout=60)[1]
        self.assertIn("saved", said)
        after = re.search(r"after sweep (\d+)", said)  # or while the start was made
        more = [*counts, "--tolerance", "0", "--max-sweeps", (int(after[1]) if after else 0) + 3]
        for ranks, name, how in ((3, "divided", ["--resume"]), (0, "undivided", [])):
            done = run(ranks, "fit", self.folder / "sparse.h5ad", "-o", self.folder / name, *more, *how)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(contents(self.folder / "divided/result.h5ad"), contents(self.folder / "undivided/result.h5ad"))

    def begin(self, name, data, how=FIT):
        """Two ranks that sweep until they are stopped, and have saved a checkpoint."""
        started = subprocess.Popen(
            [MPIRUN, "-n", "2", PNMF, "fit", self.folder / data, "-o", self.folder / name, *how]
            + ["--tolerance", "0", "--max-sweeps", "1000000", "--checkpoint-every", "0"],
            stderr=subprocess.PIPE, text=True)
        limit = time.monotonic() + 60
        while not (self.folder / name / "checkpoint.bin").exists():
            self.assertIsNone(started.poll())
            self.assertLess(time.monotonic(), limit)
            time.sleep(0.05)
        return started

    def test_a_stopped_run_goes_on_with_another_number_of_ranks(self):
        started = self.begin("stopped", "few.npy")
        started.send_signal(signal.SIGUSR1)
        said = started.communicate(timeout=60)[1]
        if not MPICH:
            self.assertEqual(started.returncode, 128 + signal.SIGUSR1, said)
        self.assertIn("saved", said)
        stopped = re.search(r"after sweep (\d+)", said)  # or while the start was made
        more = ["--tolerance", "0", "--max-sweeps", (int(stopped[1]) if stopped else 0) + 5]
        self.fit(3, "stopped", "few.npy", *more, "--resume")
        self.fit(0, "whole", "few.npy", *more)
        self.assertEqual(contents(self.folder / "stopped/result.h5ad"), contents(self.folder / "whole/result.h5ad"))

    def test_ctrl_c_saves_a_checkpoint(self):
        started = self.begin("interrupted", "few.npy")
        started.send_signal(signal.SIGINT)  # mpirun turns it into signals of its own, and waits a second
        said = started.communicate(timeout=60)[1]
        if not MPICH:
            self.assertNotEqual(started.returncode, 0, said)
        self.assertIn("saved", said)
        self.fit(2, "interrupted", "few.npy", "--tolerance", "1", "--resume")

    def test_a_rank_that_dies_ends_the_run_and_the_checkpoint_stays(self):
        started = self.begin("killed", "few.npy")
        pids = ranks_below(started.pid)
        self.assertEqual(len(pids), 2)
        os.kill(pids[1], signal.SIGKILL)
        said = started.communicate(timeout=60)[1]
        self.assertNotEqual(started.returncode, 0, said)
        self.assertRegex(said, "rank|BAD TERMINATION")  # Open MPI, MPICH
        self.assertTrue((self.folder / "killed/checkpoint.bin").exists())

    def test_ranks_with_different_data_are_refused(self):
        done = subprocess.run(
            [MPIRUN, "-n", "1", PNMF, "fit", self.folder / "few.npy", "-o", self.folder / "mixed", *FIT, ":"]
            + ["-n", "1", PNMF, "fit", self.folder / "others.npy", "-o", self.folder / "mixed", *FIT],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("all processes must have the same data", done.stderr)

    @needs_limit
    def test_a_rank_without_disk_takes_part(self):
        limited = f"ulimit -f 0; cd /; exec {PNMF} fit {self.folder}/few.npy -o {self.folder}/one_disk {' '.join(FIT)}"
        done = subprocess.run(
            [MPIRUN, "-n", "1", PNMF, "fit", self.folder / "few.npy", "-o", self.folder / "one_disk", *FIT, ":"]
            + ["-n", "1", "bash", "-c", limited], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "one_disk/result.h5ad").exists())

    def test_a_rank_without_the_input_ends_the_run_and_says_which(self):
        done = subprocess.run(
            [MPIRUN, "-n", "1", PNMF, "fit", self.folder / "few.npy", "-o", self.folder / "missing", *FIT, ":"]
            + ["-n", "1", PNMF, "fit", self.folder / "nowhere.npy", "-o", self.folder / "missing", *FIT],
            capture_output=True, text=True, timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("process 1 of 2 ends the run", done.stderr)
        self.assertIn("nowhere.npy", done.stderr)

    @needs_limit
    def test_a_full_disk_ends_the_run_with_a_message(self):
        for space in ("none", "pca:6"):
            limited = (f"ulimit -f 8; exec {PNMF} fit {self.folder}/sparse.h5ad -o {self.folder}/full_{space[:3]} {' '.join(FIT)}"
                       f" --max-sweeps 1 --drop-empty --space {space}")
            done = subprocess.run([MPIRUN, "-n", "2", "bash", "-c", limited], capture_output=True, text=True, timeout=120,
                                  env={**os.environ, "TMPDIR": str(self.folder)})
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("the result cannot be written", done.stderr)

    def test_wrong_input_is_said_once(self):
        done = run(3, "fit", self.folder / "few.npy", "-o", self.folder / "wrong", "--rank", "1000")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("the rank must be between"), 1, done.stderr)

    def test_ranks_share_a_gpu_or_say_why_not(self):
        fit = ["--rank", "4", "--max-sweeps", "6", "--max-scales", "4", "--drop-empty", "--genes", "40", "--space", "pca:6",
               "--no-report"]
        done = run(2, "fit", self.folder / "sparse.h5ad", "-o", self.folder / "gpu", *fit, "--device", "cuda")
        if done.returncode == 2:  # refused by all ranks, said once, nothing written
            reasons = [line for line in done.stderr.splitlines() if "the device cuda" in line]
            self.assertEqual(len(reasons), 1, done.stderr)
            self.assertFalse((self.folder / "gpu" / "summary.json").exists())
            self.skipTest(reasons[0])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("for each of 2 processes", done.stderr + done.stdout)
        run(0, "fit", self.folder / "sparse.h5ad", "-o", self.folder / "no_gpu", *fit, "--device", "cpu")
        objectives = [json.loads((self.folder / name / "summary.json").read_text())["objective"]["total"]
                      for name in ("gpu", "no_gpu")]
        self.assertAlmostEqual(objectives[0] / objectives[1], 1.0, delta=1e-3)

    def test_slurm_without_its_plugin_is_refused_with_the_flag_that_helps(self):
        alone = {key: value for key, value in os.environ.items() if not key.startswith(("OMPI_COMM", "PMI"))}
        done = run(0, "fit", self.folder / "few.npy", "-o", self.folder / "slurm", env={**alone, "SLURM_NTASKS": "4"})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--mpi=", done.stderr)
        self.assertFalse((self.folder / "slurm").exists())

    def test_other_verbs_are_for_one_process(self):
        done = run(2, "simulate", "--help")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("`pnmf simulate` is for one process"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
