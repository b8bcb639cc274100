"""PNMF_HEADERS: the finders of Spectra and fast_float look into archives that the user names."""

import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

CMAKE = sys.argv.pop(2)
SOURCE = pathlib.Path(sys.argv.pop(1))

PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(finds LANGUAGES NONE)
list(APPEND CMAKE_MODULE_PATH "{SOURCE}/cmake")
include(NamedHeaders)
find_package(Spectra REQUIRED)
find_package(FastFloat REQUIRED)
message(STATUS "found ${{Spectra_INCLUDE_DIR}} and ${{FastFloat_INCLUDE_DIR}}")
"""


class Headers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        (self.here / "project").mkdir()
        (self.here / "project" / "CMakeLists.txt").write_text(PROJECT)

    def header(self, path):
        path = self.here / path
        path.parent.mkdir(parents=True)
        path.write_text("#pragma once\n")
        return path

    def configure(self, headers):
        return subprocess.run([CMAKE, "-S", self.here / "project", "-B", self.here / "build", f"-DPNMF_HEADERS={headers}"], capture_output=True, text=True)

    def test_both_are_found_in_the_archives_of_their_releases(self):
        self.header("spectra-9/include/Spectra/SymEigsSolver.h")
        with tarfile.open(self.here / "spectra.tar.gz", "w:gz") as archive:
            archive.add(self.here / "spectra-9", "spectra-9")
        header = self.header("other/fast_float/fast_float.h")
        with zipfile.ZipFile(self.here / "fast_float.zip", "w") as archive:
            archive.write(header, "include/fast_float/fast_float.h")
        done = self.configure(f"{self.here}/spectra.tar.gz;{self.here}/fast_float.zip")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [line for line in done.stdout.splitlines() if "-- found" in line][0]
        self.assertEqual(found.count(f"{self.here}/build/headers/"), 2, found)
        self.assertIn("spectra-9/include and", found)

    def test_an_archive_that_is_not_there_is_named(self):
        done = self.configure("nowhere.tar.gz")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("there is no", done.stderr)
        self.assertIn("nowhere.tar.gz", done.stderr)


if __name__ == "__main__":
    unittest.main()
