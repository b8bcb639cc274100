"""A thread that cannot be started, memory that cannot be had: never a hang, never an abort.

    walk_resources.py PROGRAM LIBRARY threads|memory [--runs N]

threads: each start of a thread fails, once and from then on; the fit must end with the same result all the same.
memory:  the k-th allocation of a fit fails, for N numbers k spread over all of them; the fit must go on to the same
result, or end with exit 1 and say why in a line. The same for verbs that read its result.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

FIT = ["fit", "data.csv", "--preset", "paper", "--transform", "none", "--rank", "2", "--max-sweeps", "2", "--max-scales", "3", "--clusters",
       "2", "--overwrite", "-o", "out"]


class Program:
    def __init__(self, program, library, folder):
        self.program, self.library, self.folder = program, library, folder

    def run(self, arguments, **failing):
        environment = {**os.environ, "TMPDIR": str(self.folder), "LD_PRELOAD": str(self.library), **failing}
        return subprocess.run([self.program, *arguments], cwd=self.folder, env=environment, capture_output=True,
                              text=True, timeout=120, stdin=subprocess.DEVNULL)

    def make(self, rows):
        lines = ["gene\t" + "\t".join(f"c{j}" for j in range(12))]
        lines += [f"g{i}\t" + "\t".join(str((i * 7 + j * j * 3) % 11 + (j % 3) * 4) for j in range(12)) for i in range(rows)]
        (self.folder / "data.csv").write_text("\n".join(lines) + "\n")

    def count(self, call, arguments):
        count = self.folder / "count"
        done = self.run(arguments, PNMF_FAIL_CALL=call, PNMF_FAIL_COUNT=str(count))
        assert done.returncode == 0, done.stderr
        return int(count.read_text()), (self.folder / "out" / "result.h5ad").read_bytes()

    def has_result(self, right):
        return (self.folder / "out" / "result.h5ad").read_bytes() == right


def threads(program, _):
    # MatrixMarket of over a megabyte is read by a thread of its own, beside those of the pool.
    program.make(60000)
    made = program.run(["convert", "data.csv", "data.mtx"])
    assert made.returncode == 0, made.stderr
    arguments = [word.replace(".csv", ".mtx") for word in FIT] + ["--threads", "3", "--no-report"]
    count, right = program.count("thread", arguments)
    assert count >= 3, count
    for at in range(1, count + 1):
        for lasting in "01":
            done = program.run(arguments, PNMF_FAIL_CALL="thread", PNMF_FAIL_AT=str(at), PNMF_FAIL_LASTING=lasting)
            assert done.returncode == 0, (at, lasting, done.returncode, done.stderr)
            assert program.has_result(right), (at, lasting)
    print(f"threads: {count} starts, each failed once and for good: {2 * count} runs to the same result")


def memory(program, runs):
    program.make(4)
    arguments = [*FIT, "--threads", "1"]
    walk_memory(program, runs, arguments, lambda _: (program.folder / "out" / "result.h5ad").read_bytes())
    # HDF5 reads here, and its child before it.
    for reading in (["score", "out", "--clusters", "2", "--threads", "1"], ["programs", "out"]):
        walk_memory(program, runs // 5, reading, lambda done: done.stdout)


def walk_memory(program, runs, arguments, outcome):
    count, _ = program.count("memory", arguments)
    right = outcome(program.run(arguments))
    ended = {"to the same result": 0, "exit 1 and a line": 0}
    # The first ones are those before main; then a stride that is odd, so that it meets all kinds.
    first = list(range(1, min(count, runs // 4)))
    stride = max(1, (count // max(1, runs - len(first))) | 1)
    for at in first + list(range(1 + len(first), count, stride)):
        done = program.run(arguments, PNMF_FAIL_CALL="memory", PNMF_FAIL_AT=str(at))
        said = (at, done.returncode, done.stderr)
        if done.returncode == 0:
            ended["to the same result"] += 1
            assert outcome(done) == right or "not its page" in done.stderr, said
        else:
            ended["exit 1 and a line"] += 1
            assert done.returncode == 1, said
            assert "pnmf: " in done.stderr, said
    ends = ", ".join(f"{number} {end}" for end, number in ended.items())
    print(f"memory: {arguments[0]}: {sum(ended.values())} of {count} allocations failed, one a run: {ends}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("what", choices=["threads", "memory"])
    parser.add_argument("--runs", type=int, default=150)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pnmf-faults-") as folder:
        program = Program(options.program.resolve(), options.library.resolve(), pathlib.Path(folder))
        {"threads": threads, "memory": memory}[options.what](program, options.runs)


if __name__ == "__main__":
    sys.exit(main())
