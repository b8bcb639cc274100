#!/usr/bin/env python3
"""Compiles every public header alone and reports what it costs; exits 1 when one does not compile or costs too much.

    headers_alone.py --include DIR … --system DIR … --compiler CXX [--jobs N]

Cost is processor time, which other programs on the machine disturb little. Each header includes Eigen or fmt or both, which
are not ours to make quicker, so the bound is a multiple of what these cost in the same run, and generous: it finds a header
that pulls in JSON, HDF5 or the library's inside, never a busy machine.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

NOT_OURS = ["Eigen/Core", "fmt/format.h", "algorithm", "filesystem", "functional", "memory", "optional", "string", "variant", "vector"]
AT_MOST = 2.0  # times NOT_OURS


def processor_seconds(command):
    """The exit status, the processor seconds and the messages of a command."""
    with tempfile.TemporaryFile("w+") as messages:
        process = subprocess.Popen(command, stdout=messages, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        return process.returncode, usage.ru_utime + usage.ru_stime, messages.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", action="append", required=True, help="a folder of ours that holds pnmf/")
    parser.add_argument("--system", action="append", default=[], help="a folder of headers that are not ours")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()

    flags = [options.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    for folder in options.include:
        flags += ["-I", folder]
    for folder in options.system:
        flags += ["-isystem", folder]
    ours = sorted(str(path.relative_to(folder)) for folder in map(pathlib.Path, options.include) for path in folder.glob("pnmf/**/*.hpp"))
    if not ours:
        sys.exit("no headers were found")

    with tempfile.TemporaryDirectory() as folder:

        def compile_alone(name, headers):
            source = pathlib.Path(folder) / (name.replace("/", "_") + ".cpp")
            source.write_text("".join(f"#include <{header}>\n" for header in headers))
            return name, *processor_seconds([*flags, str(source)])

        # What is not ours is measured at the beginning, in the middle and at the end, and the dearest counts.
        jobs = [(name, [name]) for name in ours]
        for place in [0, len(jobs) // 2, len(jobs)]:
            jobs.insert(place, (f"(not ours {place})", NOT_OURS))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda job: compile_alone(*job), jobs))

    unit = max(seconds for name, _, seconds, _ in results if name.startswith("("))
    results = [result for result in results if not result[0].startswith("(")]
    print(f"{len(results)} headers; Eigen, fmt and the standard library's: {unit:.2f} s of processor time; the dearest:")
    for name, _, seconds, _ in sorted(results, key=lambda result: -result[2])[:10]:
        print(f"  {seconds:.2f} s, {seconds / unit:.2f} of that: {name}")
    broken = [f"{name} does not compile alone:\n{messages}" for name, status, _, messages in results if status != 0]
    # The header of all headers may cost what it likes: nobody must use it.
    broken += [
        f"{name} costs {seconds / unit:.1f} times what Eigen, fmt and the standard library cost, more than {AT_MOST}"
        for name, _, seconds, _ in results
        if seconds > AT_MOST * unit and name != "pnmf/pnmf.hpp"
    ]
    print("\n".join(broken))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
