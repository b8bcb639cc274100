#!/usr/bin/env python3
"""Checks that every test a page names exists.

    check_tests_named.py PAGE TESTS

A name is `program.Suite.Test` in backquotes: a test program, and a TEST, TEST_F, TEST_P or TYPED_TEST in its folder.
"""

import pathlib
import re
import sys


def tests_under(folder):
    """All 'program.Suite.Test' that the sources could define, whatever the program of a folder each source is in."""
    found = set()
    for listing in folder.rglob("CMakeLists.txt"):
        programs = re.findall(r"^pnmf_test\(\s*(\w+)", listing.read_text(), re.MULTILINE)
        for path in listing.parent.glob("*_test.cpp"):
            tests = re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", path.read_text(), re.MULTILINE)
            found |= {f"{program}.{suite}.{name}" for program in programs for suite, name in tests}
    return found


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    named = re.findall(r"`(\w+\.\w+\.\w+)`", page.read_text())
    missing = sorted(set(named) - tests_under(folder))
    if not named:
        sys.exit(f"{page.name} names no test")
    if missing:
        sys.exit(f"{page.name} names tests that do not exist:\n" + "\n".join(missing))
    print(f"{page.name}: all {len(named)} tests it names exist")


if __name__ == "__main__":
    main()
