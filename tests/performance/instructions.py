"""Instructions of one small fit, counted by callgrind, against committed figures: instructions.py PROGRAM

Two fits that differ in the number of sweeps alone give the instructions of a sweep, and of all the rest (start-up,
reading, persistence, start, scores). Counts do not depend on how busy the machine is, so a change of more than a tenth
is one of the program (or of a library). A smaller count asks for a new figure too, so that it is not lost again.
Figures are of the optimised build of the tests, one thread; a processor without figures is left out.
"""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

FEW, MANY, TOLERANCE = 5, 25, 0.10
FIGURES = pathlib.Path(__file__).with_name("instructions.json")
SKIPPED = 77


def count(program, data, folder, sweeps):
    fit = [program, "fit", data, "--preset", "paper", "--rank", 4, "--max-scales", 12, "--start", "broadcast", "--max-sweeps", sweeps, "--tolerance", 0,
           "--threads", 1, "--clusters", 4, "--no-report", "--overwrite", "-o", folder / "run"]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *fit]
    # The oldest kernel of the processor's family: the same on all machines, and known to valgrind.
    kernel = {"aarch64": "ARMV8"}.get(platform.machine(), "")
    environment = {**os.environ, **({"OPENBLAS_CORETYPE": kernel} if kernel else {})}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stderr}")
    return int(found[1])


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("valgrind"):
        print("not run: valgrind is not there")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "circles.csv"
        subprocess.run([program, "simulate", "circles", "-o", data], check=True, capture_output=True)
        few, many = count(program, data, folder, FEW), count(program, data, folder, MANY)
    sweep = (many - few) / (MANY - FEW)
    measured = {"sweep": round(sweep), "rest": round(few - FEW * sweep)}
    print(f"{platform.machine()}: {json.dumps(measured)}")
    figures = json.loads(FIGURES.read_text()).get(platform.machine())
    if figures is None:
        print(f"not compared: {FIGURES.name} has no figures for this processor")
        sys.exit(SKIPPED)
    for what, figure in figures.items():
        change = measured[what] / figure - 1
        print(f"{what}: {measured[what]:,} instructions, {change:+.1%} of the figure {figure:,}")
        if abs(change) > TOLERANCE:
            sys.exit(f"{what}: {change:+.1%} is more than {TOLERANCE:.0%}: find out why, then correct {FIGURES.name}")


if __name__ == "__main__":
    main()
