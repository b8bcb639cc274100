"""Reading a MatrixMarket file: pnmf against SciPy's mmread, on one machine in one run.

    /usr/bin/python3 benchmarks/contestants/read_matrix_market.py BENCH_READ FILE.mtx.gz [REPEATS]

BENCH_READ is the program bench_read. Both readers must agree on shape and on a sum that depends on every value and its
place (exact for counts) before anything is timed; rounds alternate. pnmf's time includes sorting into compressed
columns; SciPy's is given without and with that step. Prints a table.
"""

import gzip
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy
import scipy.io

program, source = sys.argv[1:3]
repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 9


def run_ours(path, count=1):
    return json.loads(subprocess.run([program, path, str(count)], check=True, capture_output=True, text=True).stdout)


def verify(path):
    ours = run_ours(path)
    matrix = scipy.io.mmread(path)
    total = float(np.sum(matrix.data.astype(float) * (matrix.row % 97 + 1.0) * (matrix.col % 89 + 1.0)))
    assert (ours["features"], ours["cells"]) == matrix.shape, ours
    assert ours["checksum"] == total, (ours["checksum"], total)
    return matrix


def compare(path):
    """Seconds on the clock, and seconds of CPU, which a busy machine does not change."""
    ours, theirs, sorted_, ours_cpu, theirs_cpu = [], [], [], [], []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ours += run_ours(path)["seconds"]
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        # The whole program: start, reading on all threads, the checksum.
        ours_cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        begin, begin_cpu = time.perf_counter(), time.process_time()
        matrix = scipy.io.mmread(path)
        theirs.append(time.perf_counter() - begin)
        theirs_cpu.append(time.process_time() - begin_cpu)
        matrix.tocsc()
        sorted_.append(time.perf_counter() - begin)
    return ours, theirs, sorted_, ours_cpu, theirs_cpu


def show(times):
    return f"{1000 * statistics.median(times):.0f} ({1000 * min(times):.0f} to {1000 * max(times):.0f})"


with tempfile.TemporaryDirectory() as folder:
    zipped = os.path.join(folder, "matrix.mtx.gz")
    plain = os.path.join(folder, "matrix.mtx")
    shutil.copy(source, zipped)
    with gzip.open(source) as compressed, open(plain, "wb") as out:
        shutil.copyfileobj(compressed, out)
    matrix = verify(zipped)
    verify(plain)
    print(f"{matrix.shape[0]} x {matrix.shape[1]}, {matrix.nnz} entries; SciPy {scipy.__version__}; {repeats} rounds\n")
    print("| file | pnmf, ms: median (range) | mmread, ms | mmread and tocsc, ms | mmread / pnmf | "
          "CPU: pnmf, ms | CPU: mmread, ms | CPU: mmread / pnmf |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, path in ((".mtx.gz", zipped), (".mtx", plain)):
        ours, theirs, sorted_, ours_cpu, theirs_cpu = compare(path)
        ratio = statistics.median(theirs) / statistics.median(ours)
        ratio_cpu = statistics.median(theirs_cpu) / statistics.median(ours_cpu)
        print(f"| {name} | {show(ours)} | {show(theirs)} | {show(sorted_)} | {ratio:.1f} | {show(ours_cpu)} | "
              f"{show(theirs_cpu)} | {ratio_cpu:.1f} |", flush=True)
