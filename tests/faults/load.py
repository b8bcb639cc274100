"""Many fits, one after the other, beside each other, and stopped and resumed by signals: the same bits, nothing left behind.

    load.py PROGRAM row|beside|signals [--times N]

row:     N fits one after the other: all give the same file, and the last takes no more memory than the first.
beside:  N fits at once, each in its own folder: all give the same file. A second fit into a folder in use is refused.
signals: one fit, stopped N times by SIGINT, SIGTERM, SIGHUP or SIGKILL at some moment and resumed each time, ends with the
         bits of a fit that was left alone, and no file but its own is left in the folder.
"""
import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

FIT = ["fit", "data.h5ad", "--transform", "none", "--rank", "3", "--clusters", "4", "--no-report", "--threads", "1",
       "--preset", "paper"]
SWEEPS = ["--tolerance", "0", "--max-sweeps", "400"]


class Load:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.run(["simulate", "circles", "--points", "8", "-o", "data.h5ad"])

    def run(self, arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, (arguments, done.stderr)

    def start(self, arguments):
        return subprocess.Popen([self.program, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL,
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


def signals(load, times):
    moments = random.Random(1)
    load.run([*FIT, *SWEEPS, "-o", "alone"])
    arguments = [*FIT, *SWEEPS, "--checkpoint-every", "0", "-o", "out"]
    sent, early = {}, 0
    for _ in range(times):
        resumed = (load.folder / "out" / "checkpoint.bin").exists()
        running = load.start([*arguments, "--resume"] if resumed else [*arguments, "--overwrite"])
        try:
            running.wait(timeout=moments.uniform(0.02, 0.25))
        except subprocess.TimeoutExpired:
            number = moments.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
            running.send_signal(number)
            code = running.wait()
            sent[number.name] = sent.get(number.name, 0) + 1
            assert code in (0, 128 + number, -number), code
        if (load.folder / "out" / "result.h5ad").exists():
            early += 1  # it was done before it could be stopped: begin again
            assert load.numbers("out") == load.numbers("alone")
            (load.folder / "out" / "result.h5ad").unlink()
    load.run([*arguments, "--resume"] if (load.folder / "out" / "checkpoint.bin").exists() else [*arguments, "--overwrite"])
    assert load.numbers("out") == load.numbers("alone")
    left = sorted(path.name for path in (load.folder / "out").iterdir())
    assert left == ["result.h5ad", "summary.json"], left
    return f"{sum(sent.values())} stops {sent}, {early + 1} fits ended: the same numbers, nothing left behind"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("what", choices=["row", "beside", "signals"])
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pnmf-load-") as folder:
        load = Load(options.program.resolve(), pathlib.Path(folder))
        print({"row": row, "beside": beside, "signals": signals}[options.what](load, options.times))


if __name__ == "__main__":
    sys.exit(main())
