"""Many fits, one after the other, beside each other, and stopped and resumed by signals: the same bits, nothing left behind.

    load.py PROGRAM LIBRARY row|process|beside|signals [--times N]

LIBRARY is what fail_call.c makes.

row:     N fits one after the other: all give the same file, and the last takes no more memory than the first.
process: N fits in one Python process, with the package that was built beside PROGRAM: the same numbers, and the process is
         no larger after the last than after the first few.
beside:  N fits at once, each in its own folder: all give the same file. A second fit into a folder in use is refused.
signals: one fit, stopped N times by SIGINT, SIGTERM, SIGHUP, SIGKILL or a disk that is full from some moment on, and resumed
         each time, ends with the bits of a fit that was left alone, and no file but its own is left in the folder.
"""
import argparse
import errno
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

FIT = ["fit", "data.h5ad", "--transform", "none", "--rank", "3", "--clusters", "4", "--no-report", "--threads", "1",
       "--preset", "paper"]
SWEEPS = ["--tolerance", "0", "--max-sweeps", "400"]


class Load:
    def __init__(self, program, library, folder):
        self.program, self.library, self.folder = program, library, folder
        self.spare = folder / "spare"  # where a result goes that its folder does not take
        self.spare.mkdir()
        self.run(["simulate", "circles", "--points", "8", "-o", "data.h5ad"])

    def run(self, arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stderr)

    def start(self, arguments, **failing):
        environment = {**os.environ, "TMPDIR": str(self.spare), **({"LD_PRELOAD": str(self.library)} if failing else {}), **failing}
        return subprocess.Popen([self.program, *arguments], cwd=self.folder, env=environment, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def result(self, name):
        return (self.folder / name / "result.h5ad").read_bytes()

    def numbers(self, name):
        """All datasets of a result but the command line, which names the folder."""
        import h5py

        found = {}
        with h5py.File(self.folder / name / "result.h5ad") as file:
            file.visititems(lambda path, item: found.update({path: item[()]})
                            if isinstance(item, h5py.Dataset) and not path.endswith("/command") else None)
        return {path: value.tobytes() if hasattr(value, "tobytes") else value for path, value in found.items()
                if getattr(value, "dtype", None) is None or value.dtype.kind != "O"}


def row(load, times):
    peaks = []
    for i in range(times):
        load.run([*FIT, "--max-sweeps", "5", "--overwrite", "-o", "out"])
        peaks.append(json.loads((load.folder / "out" / "summary.json").read_text())["peak_bytes"])
        first = load.result("out") if i == 0 else first
        assert load.result("out") == first, f"fit {i + 1} differs"
    assert max(peaks) < 1.1 * min(peaks), (min(peaks), max(peaks))
    return f"{times} fits in a row: the same bytes, peak memory {min(peaks) / 1e6:.1f} to {max(peaks) / 1e6:.1f} MB"


ONE_PROCESS = """
import sys, warnings
import numpy as np, pnmf

warnings.simplefilter("ignore")
def held():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
X = np.random.default_rng(0).random((300, 200))
first = None
for i in range(int(sys.argv[1])):
    fitted = pnmf.PersistentNMF(rank=4, max_scales=6, max_sweeps=5, threads=2).fit(X)
    numbers = np.asarray(fitted.embeddings_).tobytes()
    first = first or numbers
    assert numbers == first, f"fit {i + 1} differs"
    if i == 4:
        early = held()
print(early, held())
"""


def process(load, times):
    environment = {**os.environ, "PYTHONPATH": str(load.program.parent / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", ONE_PROCESS, str(times)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    early, late = (int(word) / 1024 for word in done.stdout.split())
    assert late < early + 8, (early, late)
    return f"{times} fits in one process: the same numbers; {early:.1f} MB after five fits, {late:.1f} MB after all"


def beside(load, times):
    names = [f"out{i}" for i in range(times)]
    running = [load.start([*FIT, "--max-sweeps", "20", "-o", name]) for name in names]
    assert [one.wait() for one in running] == [0] * times
    first = load.numbers(names[0])
    assert all(load.numbers(name) == first for name in names)
    holder = load.start([*FIT, "--tolerance", "0", "--max-sweeps", "100000000", "--checkpoint-every", "0", "-o", "shared"])
    while not (load.folder / "shared" / "checkpoint.bin").exists() and holder.poll() is None:
        time.sleep(0.01)
    refused = subprocess.run([load.program, *FIT, "--overwrite", "-o", "shared"], cwd=load.folder, capture_output=True,
                             text=True)
    holder.kill()
    holder.wait()
    assert refused.returncode == 2 and "another run works in this folder" in refused.stderr, refused.stderr
    return f"{times} fits at once: the same numbers; a second fit into a folder in use is refused"


class Stopped:
    """A fit that is begun, stopped and resumed until it is done, and then begun again."""

    def __init__(self, load):
        self.load, self.moments, self.stops, self.ended = load, random.Random(1), {}, 0
        self.arguments = [*FIT, *SWEEPS, "--checkpoint-every", "0", "-o", "out"]
        load.run([*FIT, *SWEEPS, "-o", "alone"])
        self.right = load.numbers("alone")

    def words(self):
        resumed = (self.load.folder / "out" / "checkpoint.bin").exists()
        return [*self.arguments, "--resume" if resumed else "--overwrite"]

    def note(self, kind):
        self.stops[kind] = self.stops.get(kind, 0) + 1

    def by_signal(self):
        running = self.load.start(self.words())
        try:
            running.wait(timeout=self.moments.uniform(0.02, 0.3))
        except subprocess.TimeoutExpired:
            number = self.moments.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
            running.send_signal(number)
            code = running.wait()
            self.note(number.name)
            assert code in (0, 128 + number, -number), (number, code)

    def by_a_full_disk(self):
        running = self.load.start(self.words(), PNMF_FAIL_CALL="disk", PNMF_FAIL_LASTING="1", PNMF_FAIL_ERROR=str(errno.ENOSPC),
                                  PNMF_FAIL_AT=str(self.moments.randint(1, 3000)), PNMF_FAIL_UNDER=str(self.load.folder / "out"))
        code = running.wait()
        assert code in (0, 1), code
        if code == 1:
            self.note("full disk")
        for rescued in self.load.spare.iterdir():
            assert self.load.numbers(rescued.relative_to(self.load.folder)) == self.right
            shutil.rmtree(rescued)

    def look(self):
        """A result that is there is right; the fit then begins again."""
        out = self.load.folder / "out"
        if (out / "result.h5ad").exists() and not (out / "checkpoint.bin").exists():
            self.ended += 1
            assert self.load.numbers("out") == self.right
            shutil.rmtree(out)


def signals(load, times):
    fit = Stopped(load)
    while sum(fit.stops.values()) < times:
        if fit.moments.random() < 0.2:
            fit.by_a_full_disk()
        else:
            fit.by_signal()
        fit.look()
    load.run(fit.words())
    assert load.numbers("out") == fit.right
    left = sorted(path.name for path in (load.folder / "out").iterdir())
    assert left == ["result.h5ad", "summary.json"], left
    said = ", ".join(f"{count} by {kind}" for kind, count in sorted(fit.stops.items()))
    return f"{times} stops ({said}), {fit.ended + 1} fits done: the same numbers, nothing left behind"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("what", choices=["row", "process", "beside", "signals"])
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pnmf-load-") as folder:
        load = Load(options.program.resolve(), options.library.resolve(), pathlib.Path(folder))
        print({"row": row, "process": process, "beside": beside, "signals": signals}[options.what](load, options.times))


if __name__ == "__main__":
    sys.exit(main())
