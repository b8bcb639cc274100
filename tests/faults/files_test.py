"""Where files go and who may write them; files that ask for far more memory than they are worth.

    files_test.py PROGRAM LIBRARY

LIBRARY is what fail_call.c makes.
"""
import os
import pathlib
import resource
import stat
import struct
import subprocess
import sys
import tempfile
import unittest

LIBRARY = pathlib.Path(sys.argv.pop()).resolve()
PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
FIT = ["fit", "data.csv", "--preset", "paper", "--rank", "2", "--max-sweeps", "2", "--max-scales", "3", "--clusters", "2",
       "--threads", "1", "--overwrite", "-o", "out"]


class Files(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pnmf-files-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.spare = self.folder / "spare"
        self.spare.mkdir()
        (self.folder / "data.csv").write_text("gene,a,b,c,d\nx,1,2,3,1\ny,3,1,2,5\nz,2,2,1,1\n")

    def run_program(self, arguments, before=None, **environment):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              stdin=subprocess.DEVNULL, preexec_fn=before, env={**os.environ, "TMPDIR": str(self.spare), **environment})

    def run_without_names(self):
        """The folder takes no file after the one that a run begins with: each rename there fails."""
        return self.run_program(FIT, LD_PRELOAD=str(LIBRARY), PNMF_FAIL_CALL="rename", PNMF_FAIL_AT="2", PNMF_FAIL_LASTING="1",
                                PNMF_FAIL_UNDER=str(self.folder / "out"))

    def test_a_result_that_its_folder_does_not_take_goes_to_a_new_folder_closed_to_others(self):
        victim = self.folder / "victim"
        victim.mkdir()
        # What version 0.1 would have written to: a name that can be guessed, and a link that somebody put there.
        for number in range(1, 200):
            (self.spare / f"pnmf-result-{os.getpid() + number}").symlink_to(victim)
        kept = []
        for _ in range(2):
            done = self.run_without_names()
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("The result is kept in ", done.stderr)
            rescued = pathlib.Path(done.stderr.split("The result is kept in ")[1].split(" instead")[0])
            self.assertEqual(rescued.parent, self.spare)
            self.assertFalse(rescued.is_symlink())
            self.assertEqual(stat.S_IMODE(rescued.stat().st_mode), 0o700)
            self.assertEqual(sorted(path.name for path in rescued.iterdir()), ["result.h5ad", "summary.json"])
            kept.append(rescued)
        self.assertNotEqual(kept[0], kept[1])
        self.assertEqual((kept[0] / "result.h5ad").read_bytes(), (kept[1] / "result.h5ad").read_bytes())
        self.assertEqual(list(victim.iterdir()), [])

    def test_nothing_that_the_program_makes_can_be_written_by_everybody(self):
        def everybody():
            os.umask(0)

        self.assertEqual(self.run_program(FIT + ["--trace", "trace.tsv"], everybody).returncode, 0)
        for words in (["convert", "data.csv", "out/data.h5ad"], ["convert", "data.csv", "out/data.mtx.gz"],
                      ["score", "out", "--keep-clusters", "--clusters", "2"], ["report", "out", "-o", "out/page.html"],
                      ["simulate", "circles", "-o", "out/circles.csv"]):
            done = self.run_program(words, everybody)
            self.assertEqual(done.returncode, 0, (words, done.stderr))
        made = [self.folder / "out", self.folder / "trace.tsv", *(self.folder / "out").rglob("*")]
        self.assertGreater(len(made), 7)
        for path in made:
            self.assertFalse(path.stat().st_mode & stat.S_IWOTH, path)

    def test_what_a_killed_run_left_is_cleared_away(self):
        out = self.folder / "out"
        out.mkdir()
        for name in (".result.h5ad.4711-0.tmp", ".checkpoint.bin.4711-3.tmp", ".summary.json.1-1.old", ".report.html.99-0.tmp"):
            (out / name).write_text("half")
        (out / ".result.h5ad.of-mine.tmp").write_text("not of this program")
        self.assertEqual(self.run_program(FIT + ["--no-report"]).returncode, 0)
        self.assertEqual(sorted(path.name for path in out.iterdir()), [".result.h5ad.of-mine.tmp", "result.h5ad", "summary.json"])

    def refused_within(self, name, megabytes):
        def little():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
            resource.setrlimit(resource.RLIMIT_CPU, (5, 5))

        done = self.run_program(["scales", name, "--threads", "1"], little)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(name, done.stderr)

    def test_a_file_of_some_hundred_bytes_takes_no_gigabytes(self):
        def element(kind, content):
            return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)

        rows = 100_000_000
        matrix = (element(6, struct.pack("<II", 5, 1)) + element(5, struct.pack("<ii", rows, 1)) + element(1, b"X") +
                  element(5, struct.pack("<i", 0)) + element(5, struct.pack("<ii", 0, 1)) + element(9, struct.pack("<d", 1.0)))
        header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
        (self.folder / "tall.mat").write_bytes(header + element(14, matrix))
        self.assertLess((self.folder / "tall.mat").stat().st_size, 300)
        (self.folder / "tall.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} 1 1\n1 1 1\n")
        (self.folder / "wide.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n1 {rows} 1\n1 1 1\n")
        (self.folder / "many.mtx").write_text("%%MatrixMarket matrix coordinate real general\n9 9 999999999999\n1 1 1\n")
        (self.folder / "dense.mtx").write_text("%%MatrixMarket matrix array real general\n99999 99999\n1\n")
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 9), }}".encode()
        (self.folder / "tall.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        head = b"{'descr': '<f8', 'fortran_order': True, 'shape': (0, 737095223), }"
        (self.folder / "empty.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        for name in ("tall.mat", "tall.mtx", "wide.mtx", "many.mtx", "dense.mtx", "tall.npy", "empty.npy"):
            self.refused_within(name, 600)

    def test_a_file_on_which_hdf5_takes_memory_without_end_is_refused_after_little_of_it(self):
        damaged = pathlib.Path(__file__).with_name("heap_without_end.h5")  # found by libFuzzer
        most = 3 << 30  # it would take all
        process = subprocess.Popen([PROGRAM, "scales", damaged], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        said = process.stderr.read()
        process.stderr.close()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("too little memory to read it", said)
        self.assertLess(used.ru_maxrss, 1 << 20)  # kilobytes

    def test_large_counts_that_differ_are_not_called_equal(self):
        large = 2**60
        rows = "\n".join(f"g{i}," + ",".join(str(large + 4096 * ((i * 7 + j * j * 3) % 11)) for j in range(6)) for i in range(4))
        (self.folder / "large.csv").write_text("gene,a,b,c,d,e,f\n" + rows + "\n")
        done = self.run_program(["scales", "large.csv", "--json"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"duplicates":0', done.stdout.replace(" ", ""))


if __name__ == "__main__":
    unittest.main()
