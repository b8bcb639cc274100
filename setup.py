"""Builds the Python package: CMake builds the module pnmf._core, setuptools packs it with the Python files."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    """PNMF_CORE names a module that is built already; else CMake builds one, with PNMF_CMAKE_ARGS."""

    def build_extension(self, ext):
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        built = os.environ.get("PNMF_CORE")
        if built is None:
            folder = pathlib.Path(self.build_temp).resolve() / "cmake"
            configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DPNMF_BUILD_PYTHON=ON"]
            configure += ["-DPNMF_BUILD_PROGRAM=OFF", f"-DPNMF_PYTHON={sys.executable}"]
            # Ninja where it is: a system that builds the project has it, and perhaps no make.
            configure += ["-G", "Ninja"] if shutil.which("ninja") and "CMAKE_GENERATOR" not in os.environ else []
            configure += os.environ.get("PNMF_CMAKE_ARGS", "").split()
            subprocess.run(configure, check=True)
            # A number: make without one starts every compilation at once, more than memory holds.
            jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(len(os.sched_getaffinity(0)))
            subprocess.run(["cmake", "--build", folder, "--target", "pnmf_python", "--parallel", jobs], check=True)
            built = next((folder / "python" / "pnmf").glob("_core.*"))
        self.copy_file(str(built), str(target))


version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]
setup(version=version, ext_modules=[Extension("pnmf._core", [])], cmdclass={"build_ext": CMakeBuild})
