"""Builds the Python package: CMake builds the module pnmf._core and the program, setuptools packs them with the Python files."""

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
    """PNMF_CORE and PNMF_PROGRAM name a module and a program that are built already; else CMake builds both, with PNMF_CMAKE_ARGS."""

    def build_extension(self, ext):
        target = pathlib.Path(self.get_ext_fullpath(ext.name)).resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        built, program = os.environ.get("PNMF_CORE"), os.environ.get("PNMF_PROGRAM")
        if built is None:
            folder = pathlib.Path(self.build_temp).resolve() / "cmake"
            configure = ["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DPNMF_BUILD_PYTHON=ON"]
            configure += ["-DPNMF_BUILD_PROGRAM=ON", f"-DPNMF_PYTHON={sys.executable}"]
            # Ninja where it is: a system that builds the project has it, and perhaps no make.
            configure += ["-G", "Ninja"] if shutil.which("ninja") and "CMAKE_GENERATOR" not in os.environ else []
            configure += os.environ.get("PNMF_CMAKE_ARGS", "").split()
            subprocess.run(configure, check=True)
            # A number: make without one starts every compilation at once, more than memory holds.
            here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()  # macOS has no affinity
            jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(here)
            subprocess.run(["cmake", "--build", folder, "--target", "pnmf_python", "pnmf_program", "--parallel", jobs], check=True)
            built, program = next((folder / "python" / "pnmf").glob("_core.*")), folder / "pnmf"
        self.copy_file(str(built), str(target))
        if program is not None:
            (target.parent / "_bin").mkdir(exist_ok=True)
            self.copy_file(str(program), str(target.parent / "_bin" / "pnmf"))


version = re.search(r"VERSION (\d+\.\d+\.\d+)", (ROOT / "CMakeLists.txt").read_text())[1]
setup(version=version, ext_modules=[Extension("pnmf._core", [])], cmdclass={"build_ext": CMakeBuild})
