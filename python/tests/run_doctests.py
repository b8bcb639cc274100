"""Runs the examples in the docstrings of every module of the package; exits 1 when one prints something else."""

import doctest
import importlib
import pkgutil
import sys
import warnings

import pnmf

warnings.simplefilter("ignore")
failed = tried = 0
for info in [pnmf, *pkgutil.walk_packages(pnmf.__path__, "pnmf.")]:
    name = "pnmf" if info is pnmf else info.name
    if name.endswith("._core"):
        continue
    outcome = doctest.testmod(importlib.import_module(name))
    failed += outcome.failed
    tried += outcome.attempted
print(f"{tried} examples, {failed} failed")
sys.exit(failed > 0 or tried < 20)
