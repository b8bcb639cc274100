"""Whatever call fails: either the program says so and every earlier file is as it was, or everything it wrote is right.

    walk_calls.py PROGRAM LIBRARY VERB [--every N] [--lasting]

PROGRAM is pnmf, LIBRARY what fail_call.c makes, VERB one of VERBS below. Each call of one kind that the verb makes (open,
write, pwrite, fsync, close, rename, ftruncate) fails once, one run of the program for each; with --lasting it fails from
then on. --every N takes each N-th call. Prints how many runs there were and how they ended.
"""
import argparse
import errno
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CALLS = ["open", "write", "pwrite", "fsync", "close", "rename", "ftruncate", "copy"]
DATA = "data.h5ad"
FIT = ["fit", DATA, "--transform", "none", "--rank", "2", "--max-sweeps", "2", "--max-scales", "3", "--clusters", "2",
       "--threads", "1"]
RANK = ["rank", DATA, "--preset", "points", "--ranks", "2:3", "--restarts", "2", "--threads", "1", "--overwrite", "-o", "out"]
BASELINE = ["baseline", "nmf", DATA, "--transform", "none", "--rank", "2", "--clusters", "2", "--threads", "1", "--overwrite", "-o", "out"]
CELLS = ["simulate", "cells", "--cells", "20", "--genes", "10", "-o", "out/cells_matrix.mtx.gz"]
# What is called; what was called before it, in the same folder, or a text where its output will be; files that may differ
# between two runs of the same command, because they tell the time.
TEXT = []
VERBS = {
    "fit": (FIT + ["--seed", "1", "--overwrite", "--save-basis", "-o", "out"], FIT + ["-o", "out"], ["summary.json"]),
    "checkpoint": (FIT + ["--seed", "1", "--overwrite", "--no-report", "--checkpoint-every", "0", "-o", "out"], FIT + ["-o", "out"],
                   ["summary.json"]),
    "convert": (["convert", DATA, "out/converted.h5ad"], TEXT, []),
    "convert-text": (["convert", DATA, "out/converted.mtx.gz"], TEXT, []),
    "transform": (["transform", "fitted", DATA, "-o", "out/transformed.h5ad"], TEXT, []),
    "score": (["score", "out", "--keep-clusters", "--clusters", "2", "--threads", "1"], FIT + ["-o", "out"], []),
    "report": (["report", "fitted", "-o", "out/report.html"], TEXT, []),
    "baseline": (BASELINE + ["--seed", "1"], BASELINE, ["summary.json"]),
    "rank": (RANK + ["--seed", "1"], RANK, []),
    "simulate": (CELLS + ["--seed", "1"], CELLS, []),
}


class Walk:
    def __init__(self, program, library, verb, folder):
        self.program, self.library, self.verb, self.folder = program, library, verb, folder
        self.arguments, self.earlier, self.timed = VERBS[verb]
        self.runs = {"done": 0, "refused": 0}
        self.made = 0
        self.wrong = []

    def run(self, arguments, where, **failing):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(where / "tmp"),
                       "LD_PRELOAD": str(self.library), "PNMF_FAIL_UNDER": str(where), **failing}
        return subprocess.run([self.program, *arguments], cwd=where, env=environment, capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)

    def prepare(self):
        """A folder in which the verb has been called before, with another outcome."""
        start = self.folder / "start"
        (start / "tmp").mkdir(parents=True)
        (start / "out").mkdir()
        self.must(start, ["simulate", "circles", "--points", "3", "--noise-dimensions", "4", "-o", DATA])
        self.must(start, [*FIT, "--save-basis", "-o", "fitted", "--no-report"])
        if self.earlier != TEXT:
            self.must(start, [*self.earlier, *(["--overwrite"] if self.earlier[0] == "fit" else [])])
        else:
            (start / "out" / pathlib.Path(self.arguments[-1]).name).write_text("what was there before\n")
        return start

    def must(self, where, arguments):
        result = self.run(arguments, where)
        assert result.returncode == 0, (arguments, result.stderr)

    def copy(self):
        self.made += 1
        target = self.folder / f"run{self.made}"
        shutil.copytree(self.folder / "start", target)
        return target

    @staticmethod
    def files(folder):
        return {str(path.relative_to(folder)): path.read_bytes()
                for path in sorted(folder.rglob("*")) if path.is_file() and "tmp" not in path.relative_to(folder).parts}

    def untimed(self, files):
        return {name: content for name, content in files.items() if pathlib.Path(name).name not in self.timed}

    def count(self, call):
        where = self.copy()
        self.run(self.arguments, where, PNMF_FAIL_CALL=call, PNMF_FAIL_COUNT=str(self.folder / "count"))
        shutil.rmtree(where)
        return int((self.folder / "count").read_text())

    def expect_whole(self, call, at, lasting):
        where = self.copy()
        # A run that is done has the name of its folder nowhere in its files, so runs can be compared.
        result = self.run(self.arguments, where, PNMF_FAIL_CALL=call, PNMF_FAIL_AT=str(at),
                          PNMF_FAIL_LASTING="1" if lasting else "0", PNMF_FAIL_ERROR=str(errno.ENOSPC))
        said = f"{self.verb}: {call} number {at} fails{' from there on' if lasting else ''}: exit {result.returncode}\n" \
            + result.stderr
        after = self.files(where)
        if result.returncode == 0:
            self.runs["done"] += 1
            missing = set(self.right) - set(after)
            # A page or a table is not worth a result: they may be missing when that is said.
            beside = {"report.html": "not its page", "programs.tsv": "not its table of programs", "gene_spectra_": "no tables of TPM"}
            assert all(any(part in name and words in result.stderr for part, words in beside.items()) for name in missing), (said, missing)
            for name, content in self.untimed(self.right).items():
                assert name in missing or after[name] == content, f"{said}\n{name} is not what it should be"
        else:
            self.runs["refused"] += 1
            assert result.returncode in (1, 2), said
            assert result.stderr.strip().splitlines()[-1:] and "pnmf: " in result.stderr, said
            for name, content in self.before.items():
                assert after.get(name) == content, f"{said}\n{name} has changed"
            left = set(after) - set(self.before)
            # A checkpoint that could be written is kept for the user; nothing else is left.
            assert left <= {"out/checkpoint.bin"}, f"{said}\nleft behind: {left}"
        shutil.rmtree(where)

    def walk(self, every, lasting):
        self.before = self.files(self.prepare())
        where = self.copy()
        self.must(where, self.arguments)
        self.right = self.files(where)
        shutil.rmtree(where)
        assert self.untimed(self.right) != self.untimed(self.before), "the verb changes nothing"
        for call in CALLS:
            calls = self.count(call)
            wrong = 0
            for at in range(1, calls + 1, every):
                try:
                    self.expect_whole(call, at, lasting)
                except AssertionError as found:
                    wrong += 1
                    self.wrong.append(str(found))
            print(f"{self.verb}: {call}: {calls} calls" + (f", {wrong} wrong" if wrong else ""), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("verb", choices=list(VERBS))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--lasting", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pnmf-faults-") as folder:
        walk = Walk(options.program.resolve(), options.library.resolve(), options.verb, pathlib.Path(folder))
        walk.walk(options.every, options.lasting)
        print(f"{options.verb}: {sum(walk.runs.values())} runs, {walk.runs['done']} right, "
              f"{walk.runs['refused']} refused")
        print(*walk.wrong[:5], sep="\n\n", file=sys.stderr)
        assert walk.runs["refused"] > 0, "nothing failed: the library is not loaded"
        return 1 if walk.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
