"""While a fit runs: reports, interruption, other threads, forked processes, memory."""

import multiprocessing
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import numpy as np
import scipy.sparse

import pnmf
from pnmf import PersistentNMF

# A fit that would take hours; the process sends itself Ctrl-C while the library works.
LONG = """
import os, signal, sys, threading, time
import numpy as np, pnmf
X = np.random.default_rng(0).random((700, 2000))
began = []
def interrupt():
    began.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
def report(entry):
    if entry["phase"] == sys.argv[1] and not began:
        began.append(None)
        threading.Timer(0.2, interrupt).start()
try:
    pnmf.PersistentNMF(rank=40, tolerance=1e-14, max_sweeps=10**6, callback=report).fit(X)
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - began[-1])
    pnmf.PersistentNMF(rank=2, max_scales=2).fit(X[:20])
    print("goes on")
"""


def forked(queue):
    queue.put(PersistentNMF(rank=2, max_scales=2, threads=2).fit(np.eye(6) + 0.1).embeddings_)


class Running(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def test_reports_arrive_in_order_and_end_with_the_last_sweep(self):
        reports = []
        model = PersistentNMF(rank=3, max_scales=4, callback=reports.append).fit(np.random.default_rng(0).random((40, 20)))
        sweeps = [entry["sweep"] for entry in reports if entry["phase"] == "sweeping"]
        self.assertEqual(reports[0]["phase"], "preparing")
        self.assertEqual(sweeps, sorted(sweeps))
        self.assertEqual(sweeps[-1], model.n_sweeps_)
        self.assertEqual(reports[-1]["objective"], model.objective_[-1])

    def test_an_exception_of_the_callback_ends_the_fit(self):
        def refuse(report):
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            PersistentNMF(rank=3, callback=refuse).fit(np.random.default_rng(0).random((40, 20)))

    FIT = "import numpy, pnmf; pnmf.PersistentNMF(rank=2, max_scales=2, verbose=True).fit(numpy.eye(9) + 0.1)"

    def test_a_log_gets_lines(self):
        done = subprocess.run([sys.executable, "-c", self.FIT], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("sweep", done.stderr)
        self.assertNotIn("\r", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_a_terminal_gets_a_bar_of_tqdm_without_colours(self):
        command = f"stty columns 80; {sys.executable} -c '{self.FIT}'"
        done = subprocess.run(["script", "-qec", command, "/dev/null"], capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"pnmf assessing: 100 %")
        self.assertNotIn("\x1b[3", done.stdout)

    def test_a_notebook_gets_a_bar_of_tqdm(self):
        import nbclient
        import nbformat

        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(self.FIT + ";")])
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        shown = "".join(str(output) for output in notebook.cells[0].outputs)
        self.assertRegex(shown, r"pnmf assessing|IProgress|HBox|widget-view")
        self.assertNotIn("TqdmWarning", shown)

    def test_ctrl_c_ends_preparation_and_sweeps_and_the_library_goes_on(self):
        for phase in ["preparing", "starting"]:
            with self.subTest(phase=phase):
                done = subprocess.run([sys.executable, "-c", LONG, phase], capture_output=True, text=True)
                self.assertIn("interrupted", done.stdout, done.stderr)
                self.assertIn("goes on", done.stdout, done.stderr)

    def test_a_fit_that_is_stopped_goes_on_to_the_same_bits(self):
        X = np.random.default_rng(0).random((150, 60))
        options = {"rank": 5, "tolerance": 0}
        for phase, least in [("starting", 0), ("sweeping", 5)]:
            with self.subTest(phase=phase), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name) / "kept"

                # The first report of the start comes before there is anything to save.
                def stop(report, phase=phase, least=least, seen=[]):
                    seen += [report["phase"] == phase and report["sweep"] >= least]
                    if sum(seen) == 2:
                        raise KeyboardInterrupt

                with self.assertRaises(KeyboardInterrupt):
                    PersistentNMF(**options, max_sweeps=10**6, checkpoint=folder, callback=stop).fit(X)
                self.assertEqual([path.name for path in folder.iterdir()], ["checkpoint.bin"])
                with self.assertRaisesRegex(ValueError, "left by an interrupted run.*resume=True"):
                    PersistentNMF(**options, checkpoint=folder).fit(X)
                with self.assertRaisesRegex(ValueError, "belongs to another run"):
                    PersistentNMF(**{**options, "rank": 4}, checkpoint=folder, resume=True).fit(X)
                with self.assertRaisesRegex(ValueError, 'made in double precision.*precision="double"'):
                    PersistentNMF(**options, checkpoint=folder, resume=True, precision="float").fit(X)
                # It is past its limit of sweeps and ends where it is.
                model = PersistentNMF(**options, max_sweeps=0, checkpoint=folder, resume=True).fit(X)
                self.assertGreaterEqual(model.n_sweeps_, least)
                whole = PersistentNMF(**options, max_sweeps=model.n_sweeps_).fit(X)
                self.assertTrue(np.array_equal(model.embeddings_, whole.embeddings_))
                self.assertTrue(np.array_equal(model.objective_, whole.objective_))
                self.assertFalse(folder.exists(), "nothing is left of a fit that is done")
        with self.assertRaisesRegex(ValueError, "resume needs checkpoint"):
            PersistentNMF(resume=True).fit(X)

    def test_a_fit_keeps_to_its_memory_or_says_what_needs_less(self):
        X = np.random.default_rng(0).random((60, 30))
        free = PersistentNMF(rank=3, max_scales=5).fit(X)
        self.assertTrue(np.array_equal(PersistentNMF(rank=3, max_scales=5, memory="64G").fit(X).embeddings_, free.embeddings_))
        with self.assertRaisesRegex(ValueError, "memory: this run needs .* max_scales, rank, threads, precision"):
            PersistentNMF(rank=3, max_scales=5, memory=1e6).fit(X)
        with self.assertRaisesRegex(ValueError, "memory must be a size such as 16G or 800M, got much"):
            PersistentNMF(rank=3, memory="much").fit(X)

    def test_other_threads_run_meanwhile(self):
        ticks = []
        stop = threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(1)
                stop.wait(0.001)

        other = threading.Thread(target=tick)
        seen = []
        other.start()
        PersistentNMF(rank=5, callback=lambda report: seen.append(len(ticks))).fit(np.random.default_rng(0).random((150, 60)))
        stop.set()
        other.join()
        self.assertGreater(seen[-1], seen[0], "the lock of the interpreter was held")

    def test_two_fits_at_once_give_what_one_gives(self):
        X = np.random.default_rng(0).random((60, 30))
        results = {}

        def run(name):
            results[name] = PersistentNMF(rank=3, max_scales=5, threads=1 + name % 2).fit(X).embeddings_

        workers = [threading.Thread(target=run, args=(name,)) for name in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertTrue(all(np.array_equal(results[name], results[0]) for name in range(4)))

    @unittest.skipIf("LD_PRELOAD" in os.environ, "a sanitiser and fork do not mix")
    def test_a_forked_process_fits(self):
        here = PersistentNMF(rank=2, max_scales=2, threads=2).fit(np.eye(6) + 0.1).embeddings_
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=forked, args=(queue,))
        child.start()
        there = queue.get(timeout=60)
        child.join()
        self.assertTrue(np.array_equal(here, there))


# The growth of the largest memory ever held, over that before the call, in bytes.
MEMORY = """
import resource, sys, numpy as np, scipy.sparse, pnmf
kind, cells, features = sys.argv[1], 200, 100_000
X = np.ones((cells, features))
X[:, ::7] = np.arange(cells)[:, None] % 13
size = X.nbytes
if kind == "csr":
    X[:, 1::2] = 0
    X = scipy.sparse.csr_matrix(X)
    size = X.data.nbytes + X.indices.nbytes
pnmf.PersistentNMF(rank=1, max_scales=2).fit(np.eye(4) + 0.1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
pnmf.scales(X, max_scales=2)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
pnmf.PersistentNMF(rank=1, max_scales=2, max_sweeps=1, start="broadcast", seeding="random").fit(X)
end = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print((after - before) / size, (end - before) / size)
"""


@unittest.skipIf("LD_PRELOAD" in os.environ, "a sanitiser needs memory of its own")
class Memory(unittest.TestCase):
    def growth(self, kind):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", MEMORY, kind], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return map(float, done.stdout.split())

    def test_a_dense_matrix_is_not_copied(self):
        scales, fit = self.growth("dense")
        self.assertLess(scales, 0.5)
        self.assertLess(fit, 0.5)

    def test_of_a_csr_matrix_only_the_transpose_is_made(self):
        scales, fit = self.growth("csr")
        self.assertLess(scales, 0.5)
        self.assertLess(fit, 1.5)


if __name__ == "__main__":
    unittest.main()
