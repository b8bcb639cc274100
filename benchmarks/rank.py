#!/usr/bin/python3
"""The rank curve of a set by `pnmf rank` and by cNMF's method: rank.py PROGRAM FOLDER [--ranks 5:30] [--restarts 10]

FOLDER holds counts as the program reads them. Both read the same .h5ad, prepare it in the same way and use all cores;
contestants/cnmf.py says what is done there. Prints wall time, processor time and peak memory, the ratios, and both curves.
Processor time is the one to compare where the machine is busy with other work.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

CONTESTANT = pathlib.Path(__file__).resolve().parent / "contestants" / "cnmf.py"


def timed(command):
    """(wall seconds, processor seconds, peak memory in MB) of a command that must succeed, and what it printed."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as out:
        child = subprocess.Popen([str(word) for word in command], stdout=out, stderr=said)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if status:
            said.seek(0)
            raise RuntimeError(f"{command[0]} ended with {child.returncode}: {said.read().decode()[-500:]}")
        out.seek(0)
        printed = out.read()
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, printed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--ranks", default="5:30")
    parser.add_argument("--restarts", type=int, default=10)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        path, theirs_at = folder / "cells.h5ad", folder / "cnmf.json"
        subprocess.run([options.program, "convert", options.data, path], check=True, stderr=subprocess.DEVNULL)
        ours = timed([options.program, "rank", path, "--ranks", options.ranks, "--restarts", options.restarts, "--json"])
        theirs = timed([sys.executable, "-B", CONTESTANT, path, theirs_at, options.ranks, options.restarts, cores])
        curve, other = json.loads(ours[3]), json.loads(theirs_at.read_text())
    print(f"{curve['cells']:,} cells x {curve['features']:,} genes, ranks {options.ranks}, {options.restarts} restarts, {cores} cores\n")
    print("| who | wall s | CPU s | peak MB of a process |\n| --- | --- | --- | --- |")
    for who, (wall, processor, peak, _) in [("`pnmf rank`", ours), ("cNMF's method, scikit-learn", theirs)]:
        print(f"| {who} | {wall:.0f} | {processor:.0f} | {peak:.0f} |")
    print(f"\nratio: {theirs[0] / ours[0]:.1f} in wall time, {theirs[1] / ours[1]:.1f} in processor time")
    print(f"rank {curve['by_error']} by error, {curve['by_stability']} by stability (pnmf)\n")
    print("| rank | pnmf: stability | error of the consensus | error on held-out entries | cNMF: stability | error of the consensus | iterations |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for mine, its in zip(curve["ranks"], other):
        assert mine["rank"] == its["rank"]
        print(f"| {mine['rank']} | {mine['stability']:.3f} | {mine['consensus_error']:.4f} | {mine['error']:.4f} ± {mine['difference_error']:.4f} "
              f"| {its['stability']:.3f} | {its['error']:.4f} | {its['iterations']:.0f} |")


if __name__ == "__main__":
    main()
