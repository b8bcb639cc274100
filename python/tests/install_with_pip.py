"""`pip install .` offline into a new environment; the installed package fits, away from the sources.

    install_with_pip.py FOLDER MODULE: the environment is made in FOLDER; MODULE, built already, is taken as _core, and
    PNMF_PROGRAM as the command.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import venv

folder, module = map(pathlib.Path, sys.argv[1:3])
source = os.environ["PNMF_SOURCE"]
shutil.rmtree(folder, ignore_errors=True)
venv.create(folder / "environment", system_site_packages=True, with_pip=False)
python = folder / "environment" / "bin" / "python3"
clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
# Sources are copied, so that nothing is built beside them.
copy = folder / "source"
shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".git", "node_modules", "demo", "__pycache__"))


def run(*command, **environment):
    done = subprocess.run([str(part) for part in command], cwd=folder, env={**clean, **environment}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


run(python, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--no-deps", copy, PNMF_CORE=str(module.resolve()))
shutil.rmtree(copy)
used = "import pnmf, sys; X, _ = pnmf.simulate.circles(); print(pnmf.__file__, pnmf.PersistentNMF(rank=2, max_scales=3).fit(X).embeddings_.shape)"
printed = run(python, "-W", "ignore", "-c", used).split(maxsplit=1)
if not printed[0].startswith(str(folder.resolve())) or printed[1].strip() != "(3, 80, 2)":
    sys.exit(f"not what was installed: {printed}")
held = pathlib.Path(printed[0]).parent
missing = [name for name in ["py.typed", "_core.pyi", "pl/__init__.py"] if not (held / name).exists()]
if missing:
    sys.exit(f"left out of the package: {missing}")
command = run(folder / "environment" / "bin" / "pnmf", "--version").split()
if command[:2] != ["pnmf", run(python, "-c", "import pnmf; print(pnmf.__version__)").strip()]:
    sys.exit(f"the command of the package says {command}")
print(run(python, "-m", "pip", "show", "pnmf").splitlines()[:2])
