#!/usr/bin/env python3
"""Runs a check of the report page with npm's packages, installed into a folder of the build.

    run.py built|browser|computes --web SOURCES --work FOLDER --program PNMF

built    builds the page anew and compares it, byte by byte, with the one the sources carry.
browser  makes reports with the program and drives them in Chromium: web/tests/*.test.mjs.
computes compares the page that computes, where `make page` has built it, with the program: web/tests/*.page.mjs.

Exits with 77, and says why, when Node, the registry or Chromium is not there.
"""

import argparse
import fcntl
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys

OLDEST_NODE = 18
UNREACHABLE = r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|CERT|network|E50[0-9]"
CHROMIUM = ["chromium", "chromium-browser", "google-chrome"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def node_version():
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        skip("Node and npm are not installed")
    text = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    major = int(re.match(r"v(\d+)", text)[1])
    if major < OLDEST_NODE:
        skip(f"Node {text.strip()} is older than {OLDEST_NODE}")


def install(web, work):
    """Copies the sources and installs the packages of the lock file, once for each state of it."""
    work.mkdir(parents=True, exist_ok=True)
    with open(work / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = work / "installed.json"
        for name in ["package.json", "package-lock.json", ".npmrc", "tsconfig.json", "build.mjs"]:
            shutil.copy(web / name, work / name)
        for name in ["src", "tests"]:
            shutil.copytree(web / name, work / name, dirs_exist_ok=True)
        if stamp.exists() and filecmp.cmp(stamp, work / "package-lock.json", shallow=False):
            return
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, capture_output=True, text=True)
        if done.returncode != 0:
            if re.search(UNREACHABLE, done.stderr):
                skip(f"the packages cannot be fetched: {done.stderr.strip().splitlines()[0]}")
            sys.exit(f"npm ci\n{done.stdout}{done.stderr}")
        shutil.copy(work / "package-lock.json", stamp)


def built(options):
    install(options.web, options.work)
    subprocess.run(["npx", "--no-install", "tsc", "--noEmit"], cwd=options.work, check=True)
    page = options.work / "report.html"
    subprocess.run(["node", "build.mjs", str(page)], cwd=options.work, check=True)
    if page.read_bytes() != (options.web / "dist" / "report.html").read_bytes():
        sys.exit("web/dist/report.html is not what web/src gives: run `npm ci && npm run build` in web/ and commit it")
    print("the committed page is what its sources give, byte for byte")


def browser(options, kind="test"):
    chromium = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if chromium is None:
        skip("Chromium is not installed")
    install(options.web, options.work)
    tests = sorted(str(path) for path in (options.work / "tests").glob(f"*.{kind}.mjs"))
    command = ["node", "--test", "--test-reporter=spec", *tests]
    project = options.web.parent
    environment = {
        "PNMF_PROGRAM": str(options.program),
        "PNMF_CHROMIUM": chromium,
        "PNMF_PAGE": str(options.web / "dist" / "pnmf.html"),
        "PNMF_DATA": str(project.parent / "shared" / "data"),
        "PNMF_CORPUS": str(project / "tests" / "fuzz" / "corpus"),
    }
    sys.exit(subprocess.run(command, cwd=options.work, env={**os.environ, **environment}).returncode)


def computes(options):
    if not (options.web / "dist" / "pnmf.html").exists():
        skip("web/dist/pnmf.html is not built: `make page` does it where Debian's emscripten is")
    browser(options, "page")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=["built", "browser", "computes"])
    for name in ["web", "work", "program"]:
        parser.add_argument(f"--{name}", type=lambda text: pathlib.Path(text).resolve(), required=True)
    options = parser.parse_args()
    node_version()
    {"built": built, "browser": browser, "computes": computes}[options.check](options)


if __name__ == "__main__":
    main()
