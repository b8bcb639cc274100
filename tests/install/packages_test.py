"""scripts/install-packages with stand-ins for the managers of other systems: what it asks them for."""

import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1))


class Packages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.here = pathlib.Path(folder.name)
        for command in ("bash", "awk", "dirname", "id", "tr", "env", "cat"):
            (self.here / command).symlink_to(shutil.which(command))
        self.write("sudo", 'exec "$@"')

    def write(self, command, body):
        path = self.here / command
        path.write_text(f"#!{shutil.which('bash')}\n{body}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def asked(self, *words, status=0):
        done = subprocess.run([SOURCE / "scripts" / "install-packages", *words], env={"PATH": str(self.here), "ASKED": str(self.here / "asked")}, capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stderr)
        self.said = done.stderr
        asked = self.here / "asked"
        return asked.read_text().split() if asked.exists() else []

    def test_fedora_is_asked_for_what_is_missing_under_its_names(self):
        self.write("rpm", '[ "${@: -1}" = cmake ]')
        self.write("dnf", 'echo "$@" >"$ASKED"')
        asked = self.asked("build")
        self.assertEqual(asked[:3], ["install", "-y", "-q"])
        self.assertLessEqual({"gcc-c++", "eigen3-devel", "hdf5-devel", "fast_float-devel"}, set(asked))
        self.assertNotIn("cmake", asked, "it is installed")
        self.assertFalse([name for name in asked if name.endswith("-dev")], "none under Debian's name")

    def test_homebrew_and_conda_have_names_of_their_own(self):
        self.write("brew", '[ "$1" != list ] && echo "$@" >"$ASKED"')
        self.assertLessEqual({"eigen@3", "spectra", "fast_float", "openblas"}, set(self.asked("build")))
        (self.here / "brew").unlink()
        self.write("conda", 'if [ "$1" = list ]; then echo "[]"; else echo "$@" >"$ASKED"; fi')
        self.assertLessEqual({"-c", "conda-forge", "spectra-cpp", "eigen=3.4", "nlohmann_json"}, set(self.asked("build")))

    def test_nothing_is_asked_for_where_all_is_there(self):
        self.write("rpm", "exit 0")
        self.write("dnf", 'echo "$@" >"$ASKED"')
        self.assertEqual(self.asked("build", "python"), [])

    def test_without_a_manager_the_packages_are_named(self):
        self.asked("build", status=1)
        self.assertIn("neither apt, dnf, brew nor conda", self.said)

    def test_every_package_of_a_build_has_a_row(self):
        def rows(name):
            return [line.split() for line in (SOURCE / name).read_text().splitlines() if line and not line.startswith("#")]

        others = {row[0]: row for row in rows("packages-other.txt")}
        self.assertEqual({len(row) for row in others.values()}, {4})
        needed = {row[1] for row in rows("packages.txt") if row[0] in ("build", "python")}
        self.assertLessEqual(needed, set(others))


if __name__ == "__main__":
    unittest.main()
