"""Running the program, and keeping what was found so that an interrupted run goes on."""

import hashlib
import json
import pathlib
import subprocess
import tempfile

import h5py
import numpy as np


class Failed(RuntimeError):
    """The program ended with an error."""


class Program:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.identity = hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]

    def run(self, *words):
        """What it prints on stdout."""
        command = [str(word) for word in (self.path, *words)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"{' '.join(command[1:])}\n{done.stderr.strip()[-500:]}")
        return done.stdout

    def fit(self, folder, *words, verb=("fit",)):
        """A result written into the folder. One thread: the sets are what runs side by side."""
        page = ["--no-report"] if verb == ("fit",) else []
        self.run(*verb, *words, *page, "--threads", 1, "-o", folder)
        return Result(folder)

    def score(self, result, *words):
        return json.loads(self.run("score", result.folder, *words, "--json"))


class Result:
    """What `fit` or `baseline` wrote."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.summary = json.loads((self.folder / "summary.json").read_text())

    def array(self, name):
        with h5py.File(self.folder / "result.h5ad") as file:
            return file["uns/pnmf/" + name][()]

    def column(self, name):
        """A categorical column of `obs` as numbers."""
        with h5py.File(self.folder / "result.h5ad") as file:
            return np.asarray(file[f"obs/{name}/codes"][()], dtype=int)


class Kept:
    """Outcomes as JSON files in a folder, named by everything they depend on."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, key):
        return self.folder / (hashlib.sha256(repr(key).encode()).hexdigest()[:24] + ".json")

    def find(self, key):
        path = self.path(key)
        return json.loads(path.read_text()) if path.exists() else None

    def keep(self, key, outcome):
        with tempfile.NamedTemporaryFile("w", dir=self.folder, delete=False) as file:
            json.dump(outcome, file)
        pathlib.Path(file.name).rename(self.path(key))
