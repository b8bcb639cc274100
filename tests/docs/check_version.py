#!/usr/bin/env python3
"""Checks that every file that names the version names that of CMakeLists.txt: check_version.py ROOT"""

import pathlib
import re
import sys

# A file, and where its version stands. debian/changelog may have a Debian revision.
PLACES = {
    "CITATION.cff": r"^version: (\S+)$",
    "CHANGELOG.md": r"^## \[(\d+\.\d+\.\d+)\]",
    "debian/changelog": r"\Apnmf \(([\d.]+)-\d+\)",
    "r/pnmf/DESCRIPTION": r"^Version: (\S+)$",
}


def wrong_versions(root):
    version = re.search(r"VERSION (\d+\.\d+\.\d+)", (root / "CMakeLists.txt").read_text())[1]
    for name, pattern in PLACES.items():
        found = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        if found is None or found[1] != version:
            yield f"{name}: {found[1] if found else 'no version'}, where CMakeLists.txt has {version}"
    library = "libpnmf" + ".".join(version.split(".")[:2])
    if f"Package: {library}\n" not in (root / "debian" / "control").read_text():
        yield f"debian/control: no package {library}"


if __name__ == "__main__":
    wrong = list(wrong_versions(pathlib.Path(sys.argv[1])))
    if wrong:
        sys.exit("\n".join(wrong))
    print("one version everywhere")
