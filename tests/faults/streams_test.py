"""Where stdout or stderr is full, closed or no longer read: no result is lost, and none is said to be printed that is not.

    streams_test.py PROGRAM
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()
FIT = ["fit", "data.h5ad", "--transform", "none", "--rank", "2", "--max-sweeps", "2", "--max-scales", "3", "--clusters",
       "2", "--threads", "1", "--no-report", "--overwrite", "-o", "out"]


class Streams(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pnmf-streams-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.run_with("", ["simulate", "circles", "--points", "3", "--noise-dimensions", "4", "-o", "data.h5ad"])

    def run_with(self, streams, arguments):
        words = " ".join(f"'{word}'" for word in [str(PROGRAM), *arguments])
        return subprocess.run(["bash", "-c", f"{words} {streams}"], cwd=self.folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120)

    def right_result(self):
        self.assertEqual(self.run_with("", FIT).returncode, 0)
        return (self.folder / "out" / "result.h5ad").read_bytes()

    def test_a_log_that_is_full_or_closed_or_gone_costs_no_result(self):
        right = self.right_result()
        for streams in ["2>/dev/full", "2>&-", "0<&- 2>&-", "2> >(exec true)"]:
            (self.folder / "out" / "result.h5ad").unlink()
            done = self.run_with(streams, FIT)
            self.assertEqual(done.returncode, 0, (streams, done.stderr))
            self.assertIn(b"wrote out/result.h5ad", done.stdout)
            self.assertEqual((self.folder / "out" / "result.h5ad").read_bytes(), right, streams)

    def test_an_error_is_still_an_error_where_it_cannot_be_said(self):
        for streams in ["2>/dev/full", "2>&-"]:
            self.assertEqual(self.run_with(streams, ["fit", "absent.csv", "-o", "out"]).returncode, 2)
            self.assertEqual(self.run_with(streams, ["fit", "--no-such-flag"]).returncode, 2)

    def test_what_could_not_be_printed_is_not_called_done(self):
        right = self.right_result()
        for streams in [">/dev/full", ">&-"]:
            for arguments in [FIT, [*FIT, "--json"], ["score", "out", "--clusters", "2"], ["--help"], ["--version"]]:
                done = self.run_with(streams, arguments)
                self.assertEqual(done.returncode, 1, (streams, arguments))
                self.assertIn(b"pnmf: stdout cannot be written", done.stderr)
                if arguments == FIT:
                    self.assertEqual((self.folder / "out" / "result.h5ad").read_bytes(), right)

    def test_a_reader_that_goes_away_ends_the_program_quietly(self):
        done = self.run_with("| true; exit ${PIPESTATUS[0]}", ["score", "out", "--help"])
        self.assertIn(done.returncode, (0, 141))  # the reader may have taken all before it went
        self.assertEqual(done.stderr, b"")

    def test_what_a_terminal_would_obey_is_shown_and_not_sent(self):
        name = "\x1b[31mred\x07\x7f\x9b.csv"
        done = self.run_with("", ["fit", name, "-o", "out"])
        self.assertEqual(done.stderr, b"pnmf: \\x1b[31mred\\x07\\x7f\\xc2\\x9b.csv: no such file or folder\n")
        bytes_name = os.fsdecode(b"a\xffb\r.csv")
        (self.folder / bytes_name).write_text("gene,a,b,c\nx,1,2,3\ny,3,1,2\nz,2,2,1\n")
        done = self.run_with("", ["fit", bytes_name, "--rank", "2", "--clusters", "2", "--json", "-o", "named"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"\r", done.stderr)
        self.assertIn(b"a\\xffb\\x0d.csv: delimited text", done.stderr)
        self.assertIn('"input": "a\ufffdb\\r.csv"'.encode(), done.stdout)
        done.stdout.decode("utf-8")


if __name__ == "__main__":
    unittest.main()
