"""The command `pnmf` of a wheel: becomes the program that the package carries. Imports nothing else, so it starts at once."""

from __future__ import annotations

import os
import pathlib
import sys


def main() -> None:
    """Runs the program with the arguments of this process, and in its place."""
    program = pathlib.Path(__file__).resolve().parent / "pnmf" / "_bin" / "pnmf"
    if not program.exists():
        sys.exit(f"pnmf: {program} is missing: this package was built without the program (PNMF_PROGRAM in setup.py)")
    os.execv(program, ["pnmf", *sys.argv[1:]])
