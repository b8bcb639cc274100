"""Words and files that make no sense are refused before the work, with exit 2 and a reason.

    arguments_test.py PROGRAM
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop()).resolve()


def npy(rows):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    values = [value for row in rows for value in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}d", *values)


class Arguments(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="pnmf-arguments-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        (self.folder / "data.csv").write_text("gene,a,b,c,d\nx,1,2,3,1\ny,3,1,2,5\nz,2,2,1,1\n")

    def run_program(self, *arguments, **more):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60, **more)

    def expect_refused(self, reason, *arguments, **more):
        done = self.run_program(*arguments, **more)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_a_number_below_zero_is_no_seed(self):
        for verb in (["fit", "data.csv", "-o", "out"], ["scales", "data.csv"], ["check", "data.csv"],
                     ["score", "data.csv"], ["simulate", "circles", "-o", "c.csv"]):
            self.expect_refused("--seed: must be a number, at least 0, got -1", *verb, "--seed", "-1")

    def test_seconds_between_checkpoints_are_a_number(self):
        for word in ("nan", "inf", "-1", "often"):
            self.expect_refused("--checkpoint-every: must be a number, at least 0", "fit", "data.csv", "-o", "out",
                                "--checkpoint-every", word)

    def test_an_output_needs_a_name(self):
        self.expect_refused("the output folder must have a name", "fit", "data.csv", "-o", "")

    def test_a_pipe_is_not_called_empty(self):
        self.expect_refused("/dev/stdin: must be a file; what comes through a pipe", "scales", "/dev/stdin",
                            input=(self.folder / "data.csv").read_text())

    def test_a_file_as_stdin_is_read(self):
        with open(self.folder / "data.csv", encoding="utf-8") as stdin:
            self.assertEqual(self.run_program("scales", "/dev/stdin", stdin=stdin).returncode, 0)

    def test_values_too_small_to_be_squared_are_not_called_equal(self):
        rows = [[1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [0.0, 3.0, 1.0], [1.0, 1.0, 4.0]]
        for factor in (1e-300, 1e-170, 1e-320):
            (self.folder / "tiny.npy").write_bytes(npy([[factor * value for value in row] for row in rows]))
            self.expect_refused("coordinates must not all be smaller than 1e-140", "scales", "tiny.npy")
        (self.folder / "small.npy").write_bytes(npy([[1e-120 * value for value in row] for row in rows]))
        done = self.run_program("scales", "small.npy", "--json")
        self.assertIn('"duplicates":0', done.stdout.replace(" ", ""))

    def test_a_whole_number_of_19_digits_is_refused_and_not_wrapped(self):
        for digits in (18, 19, 25):
            (self.folder / "m.mtx").write_text(
                f"%%MatrixMarket matrix coordinate integer general\n2 2 1\n{'9' * digits} 1 1\n")
            self.expect_refused("m.mtx:3: ", "scales", "m.mtx")


if __name__ == "__main__":
    unittest.main()
