#!/usr/bin/env python3
"""Runs the code blocks of a Markdown page and compares what they print with what the page says they print.

    run_blocks.py PAGE --program PNMF --source ROOT --prefix INSTALLED --compiler CXX [--python FOLDER] [--data SET]

SET is there under its own name for the blocks; where it is missing the page is not run, and the exit code is 77.

The word after a fence's language says how the block is run:

    sh test        bash, in one new folder for the whole page, `pnmf` in the PATH; a failing command fails the page
    sh demo        the line `make demo`: scripts/demo with the program of this build
    sh ci          commands that continuous integration runs itself, or that fetch the project
    cmake test     kept as CMakeLists.txt for the C++ block that follows
    cpp test       kept as main.cpp, built with that CMakeLists.txt against the installed package, run
    python test    Debian's Python with the package of this build, in that folder
    text output    what the block before it printed on stdout; a line of `…` stands for any lines

Any other block is an error: what a page shows is run.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HANDLED = {"sh test", "sh demo", "sh ci", "cmake test", "cpp test", "python test", "text output"}


class Failure(Exception):
    pass


def blocks_of(text):
    """(line number, info string, body) of each fenced block."""
    found, start, info, body = [], None, "", []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"```(.*)$", line)
        if start is None and fence:
            start, info, body = number, fence[1].strip(), []
        elif start is not None and line == "```":
            found.append((start, info, "\n".join(body) + "\n"))
            start = None
        elif start is not None:
            body.append(line)
    if start is not None:
        raise Failure(f"line {start}: a block that does not end")
    return found


def matches(expected, printed):
    """Whether the text is as expected, where a line of `…` stands for any lines and `…` in a line for any text in it."""
    parts = [r"(?:.*\n)*" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in expected.splitlines()]
    return re.fullmatch("".join(parts), printed) is not None


def run(command, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Page:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        path = f"{options.program.parent}:{os.environ['PATH']}"
        self.environment = {**os.environ, "PATH": path, "LC_ALL": "C.UTF-8"}

    def shell(self, body):
        return run(["bash", "-euo", "pipefail", "-c", body], self.folder, self.environment)

    def demo(self, body):
        if "make demo" not in body.splitlines():
            raise Failure("a block marked `sh demo` has the line `make demo`")
        return run([self.options.source / "scripts" / "demo", self.options.program, "demo"], self.folder, self.environment)

    def cplusplus(self, body):
        project = self.folder / "project"
        project.mkdir(exist_ok=True)
        (project / "CMakeLists.txt").write_text(self.cmake)
        (project / "main.cpp").write_text(body)
        configure = ["cmake", "-G", "Ninja", "-S", project, "-B", project / "build"]
        configure += [f"-DCMAKE_PREFIX_PATH={self.options.prefix}", f"-DCMAKE_CXX_COMPILER={self.options.compiler}"]
        run(configure, project, self.environment)
        run(["cmake", "--build", project / "build"], project, self.environment)
        name = re.search(r"add_executable\((\w+)", self.cmake)[1]
        return run([project / "build" / name], self.folder, self.environment)

    def python(self, body):
        environment = {**self.environment, "PYTHONPATH": str(self.options.python), "MPLBACKEND": "Agg"}
        return run([sys.executable, "-B", "-c", body], self.folder, environment)

    def block(self, info, body, printed):
        """What the block prints; None for a block that prints nothing that could be compared."""
        if info == "sh test":
            return self.shell(body)
        if info == "sh demo":
            return self.demo(body)
        if info == "cpp test":
            return self.cplusplus(body)
        if info == "python test":
            return self.python(body)
        if info == "cmake test":
            self.cmake = body
        if info == "text output":
            if printed is None:
                raise Failure("output of a block that is not run")
            if not matches(body, printed):
                raise Failure(f"the page says\n{body}\nit prints\n{printed}")
        return None


def run_page(options):
    """The number of blocks that were run; Failure names the line of the page."""
    with tempfile.TemporaryDirectory() as folder:
        page = Page(options, pathlib.Path(folder))
        if options.data:
            (page.folder / options.data.name).symlink_to(options.data)
        printed, count = None, 0
        for line, info, body in blocks_of(options.page.read_text()):
            try:
                if info not in HANDLED:
                    raise Failure(f"a block marked '{info}', which no test runs")
                printed = page.block(info, body, printed)
                count += 1
            except Failure as failure:
                raise Failure(f"{options.page.name}:{line}: {failure}") from None
        return count


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path)
    for name in ["program", "source", "prefix"]:
        parser.add_argument(f"--{name}", type=lambda p: pathlib.Path(p).resolve(), required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--python", type=lambda p: pathlib.Path(p).resolve(), help="folder that holds the package")
    parser.add_argument("--data", type=lambda p: pathlib.Path(p).resolve(), help="a data set")
    options = parser.parse_args()
    if options.data and not options.data.exists():
        print(f"{options.data} is not there: {options.page.name} is not run")
        sys.exit(77)
    try:
        print(f"{options.page.name}: {run_page(options)} blocks as they say")
    except Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
