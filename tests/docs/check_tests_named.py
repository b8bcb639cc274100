#!/usr/bin/env python3
"""Checks that every test a page names exists.

    check_tests_named.py PAGE TESTS

A name is `program.Suite.Test` in backquotes; it must be a TEST, TEST_F, TEST_P or TYPED_TEST under TESTS/program.
"""

import pathlib
import re
import sys


def tests_under(folder):
    """All 'folder.Suite.Test' of the sources."""
    found = set()
    for path in folder.rglob("*_test.cpp"):
        for suite, name in re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)", path.read_text(), re.MULTILINE):
            found.add(f"{path.relative_to(folder).parts[0]}.{suite}.{name}")
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
