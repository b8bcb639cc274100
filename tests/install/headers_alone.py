#!/usr/bin/env python3
"""Compiles every public header alone and reports what it brings along; exits 1 when one does not compile or brings too much.

    headers_alone.py --include DIR … --system DIR … --compiler CXX [--jobs N]

What a header costs its user is the text that the compiler has to read. Eigen, fmt and a part of the standard library belong
to the interface; what a public header includes besides them and our own is counted in bytes of files. The bound lets small
headers of the standard library pass, and finds a header that pulls in JSON, HDF5 or a parser of command lines. Bytes are the
same on a busy machine.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

NOT_OURS = ["Eigen/Core", "fmt/format.h", "algorithm", "filesystem", "functional", "memory", "optional", "string", "variant", "vector"]
AT_MOST = 0.05  # of the bytes of NOT_OURS


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", action="append", required=True, help="a folder of ours that holds pnmf/")
    parser.add_argument("--system", action="append", default=[], help="a folder of headers that are not ours")
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()

    flags = [options.compiler, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    for folder in options.include:
        flags += ["-I", folder]
    for folder in options.system:
        flags += ["-isystem", folder]
    ours = sorted(str(path.relative_to(folder)) for folder in map(pathlib.Path, options.include) for path in folder.glob("pnmf/**/*.hpp"))
    if not ours:
        sys.exit("no headers were found")

    with tempfile.TemporaryDirectory() as folder:

        def run(*arguments):
            return subprocess.run([*flags, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        def compile_alone(name, headers, *ready):
            """The messages of the compiler, empty where it succeeds, and the sizes of the files that were included."""
            source = pathlib.Path(folder) / (name.replace("/", "_") + ".cpp")
            source.write_text("".join(f"#include <{header}>\n" for header in headers))
            files = source.with_suffix(".d")
            done = run(*ready, "-fsyntax-only", "-MD", "-MF", str(files), str(source))
            if done.returncode != 0:
                return done.stdout or "no message", {}
            included = {pathlib.Path(file).resolve() for file in files.read_text().replace("\\\n", " ").split()[1:]}
            return "", {file: file.stat().st_size for file in included}

        # Eigen's headers, compiled once for all that include them.
        eigen = pathlib.Path(folder) / "eigen.hpp"
        eigen.write_text("#include <Eigen/Core>\n")
        done = run("-x", "c++-header", str(eigen))
        messages, not_ours = compile_alone("not-ours", NOT_OURS)
        if done.returncode != 0 or messages:
            sys.exit(f"Eigen's headers do not compile:\n{done.stdout}{messages}")

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(lambda name: compile_alone(name, [name], "-include", str(eigen)), ours))
        temporary = pathlib.Path(folder).resolve()

    roots = [temporary, *(pathlib.Path(include).resolve() / "pnmf" for include in options.include)]
    most = AT_MOST * sum(not_ours.values())
    wrong = []
    dearest = []
    for name, (messages, included) in zip(ours, results):
        if messages:
            wrong.append(f"{name} does not compile alone:\n{messages}")
        more = {file: size for file, size in included.items() if file not in not_ours and not any(root in file.parents for root in roots)}
        dearest.append((sum(more.values()), name))
        if sum(more.values()) > most:
            largest = sorted(more, key=more.get)[-5:]
            wrong.append(f"{name} includes {sum(more.values())} bytes more than {most:.0f}, the largest files: {', '.join(map(str, largest))}")
    print(f"{len(ours)} headers; besides Eigen, fmt and the standard library's, at most {most:.0f} bytes each; the dearest:")
    for size, name in sorted(dearest, reverse=True)[:5]:
        print(f"  {size}: {name}")
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
