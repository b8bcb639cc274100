#!/usr/bin/env python3
"""Compiles every public header alone and reports what it costs; exits 1 when one does not compile or costs too much.

    headers_alone.py --include DIR … --system DIR … --compiler CXX [--jobs N]

A header that includes Eigen gets Eigen's headers compiled already, which is most of what compiling it takes; what they cost
is added to what is measured. Others are compiled as they are.

Cost is processor time, which other programs on the machine disturb little. Each header includes Eigen or fmt or both, which
are not ours to make quicker, so the bound is a multiple of what these cost in the same run, and generous: it finds a header
that pulls in JSON, HDF5 or the library's inside, never a busy machine.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
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


def included_by(name, folders, known):
    """The headers that are not ours which a header of ours includes, itself or through others of ours; `known` keeps the answers."""
    if name not in known:
        known[name] = set()
        path = next(pathlib.Path(folder) / name for folder in folders if (pathlib.Path(folder) / name).exists())
        for other in re.findall(r"^ *# *include <([^>]*)>", path.read_text(), re.M):
            known[name] |= included_by(other, folders, known) if other.startswith("pnmf/") else {other}
    return known[name]


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

        def compile_alone(name, headers, ready=()):
            source = pathlib.Path(folder) / (name.replace("/", "_") + ".cpp")
            source.write_text("".join(f"#include <{header}>\n" for header in headers))
            return name, *processor_seconds([*flags, *ready, str(source)])

        eigen = pathlib.Path(folder) / "eigen.hpp"
        eigen.write_text("#include <Eigen/Core>\n")
        status, _, messages = processor_seconds([flag for flag in flags if flag != "-fsyntax-only"] + ["-x", "c++-header", str(eigen)])
        if status != 0:
            sys.exit(f"Eigen's headers do not compile:\n{messages}")
        ready = ["-Winvalid-pch", "-include", str(eigen)]
        eigen_seconds = compile_alone("(eigen)", ["Eigen/Core"])[2] - compile_alone("(nothing)", [], ready)[2]
        known = {}

        def compile_ours(name):
            if "Eigen/Core" not in included_by(name, options.include, known):
                return compile_alone(name, [name])
            _, status, seconds, messages = compile_alone(name, [name], ready)
            return name, status, seconds + eigen_seconds, messages

        # What is not ours is measured at the beginning, in the middle and at the end, and the dearest counts.
        jobs = [(compile_ours, (name,)) for name in ours]
        for place in [0, len(jobs) // 2, len(jobs)]:
            jobs.insert(place, (compile_alone, (f"(not ours {place})", NOT_OURS)))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda job: job[0](*job[1]), jobs))

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
