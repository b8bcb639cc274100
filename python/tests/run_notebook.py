"""Runs a notebook from its beginning in an empty folder; fails where a cell fails.

    run_notebook.py NOTEBOOK [EXECUTED]: what it gave is kept as EXECUTED.
"""

import os
import sys
import tempfile
import warnings

import nbformat
from nbclient import NotebookClient

warnings.simplefilter("ignore")
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
notebook = nbformat.read(sys.argv[1], as_version=4)
with tempfile.TemporaryDirectory() as folder:
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
pictures = sum("image/png" in output.get("data", {}) for cell in notebook.cells for output in cell.get("outputs", []))
if len(sys.argv) > 2:
    nbformat.write(notebook, sys.argv[2])
print(f"{len(notebook.cells)} cells, {pictures} pictures")
sys.exit(pictures < 4)
